"""Shared by the tests of the server's pure parts: resources by name."""

from reprieve.server.registry import ResourceInfo
from reprieve.server.resources import builtin_resources

_ALL = {(r.plural, r.group, r.version): r for r in builtin_resources()}


def resource(plural: str, group: str = "", version: str = "v1") -> ResourceInfo:
    return _ALL[plural, group, version]


PODS = resource("pods")
NODES = resource("nodes")
JOBS = resource("jobs", "batch")
DEPLOYMENTS = resource("deployments", "apps")
POD_GROUPS = resource("podgroups", "scheduling.k8s.io", "v1beta1")
CLUSTER_QUEUES = resource("clusterqueues", "kueue.x-k8s.io", "v1beta2")
