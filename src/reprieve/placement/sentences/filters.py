"""What nodes object to, and the message about all of them."""

from collections.abc import Mapping

# Kubernetes' own words: a node's objection.

CORDONED = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"
OUTSIDE = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
PORTS_TAKEN = "node(s) didn't have free ports for the requested pod ports"
TOO_MANY_PODS = "Too many pods"
SPREAD_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"
SPREAD_SKEW = "node(s) didn't match pod topology spread constraints"
AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
VETOED = "node(s) didn't satisfy existing pods anti-affinity rules"
CONFLICT = "pod affinity terms conflict"


def insufficient(resource: str) -> str:
    return f"Insufficient {resource}"


# Ours: kube-scheduler counts nominated pods as if they ran there and names what is then missing.

KEPT = "node(s) must leave room for nominated pods"


def attempt_fails(error: str) -> str:
    """`error`: what the filter says that cannot tell, in one of the sentences about volumes or devices."""
    return error


# Kubernetes' own words: all nodes together.

NO_NODES = "no nodes available to schedule pods"


def every_node_objects(nodes: int, reasons: Mapping[str, int]) -> str:
    """`reasons`: how many nodes object to what; sorted as text, as kube-scheduler does."""
    parts = sorted(f"{count} {reason}" for reason, count in reasons.items() if count)
    return f"0/{nodes} nodes are available: {', '.join(parts)}."


def refused_before_nodes(nodes: int, why: str) -> str:
    return f"0/{nodes} nodes are available: {why}."
