"""What nodes say that devices keep a pod from, word for word as kube-scheduler does."""

CANNOT_ALLOCATE = "cannot allocate all claims"
INVALID_POOLS = "invalid resource pools were encountered"
UNAVAILABLE = "resourceclaim not available on the node"
