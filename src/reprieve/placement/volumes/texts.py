"""What kube-scheduler says about volumes on a node."""

FAR = "node(s) didn't match PersistentVolume's node affinity"
NOTHING = "node(s) didn't find available persistent volumes to bind"
FULL = "node(s) did not have enough free storage"
LOST = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
ZONE = "node(s) had no available volume zone"
TOO_MANY = "node(s) exceed max volume count"
NOT_INSTALLED = "{} CSI driver is not installed on the node"
DISK = "node(s) had no available disk"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)
