"""kube-scheduler's four volume plugins over columns: may the pod's volumes be had on a node?

`state.VolumeState` is what a pod's filters keep. Behind it: `claims` (what rejects the pod before any node is
looked at), `restrictions` (VolumeRestrictions), `limits` (NodeVolumeLimits), `binding` with `pools` and
`provisioning` (VolumeBinding), and `zones` (VolumeZone).
"""
