"""Quota without a place: a workload that is admitted although no node could ever hold one of its pods.

Quota counts amounts, not nodes: sixteen GPUs are sixteen GPUs, on however many nodes. Only what cannot change
by itself is looked at: labels, taints and the size of each node, not what runs there.
"""

from collections.abc import Collection, Mapping

from reprieve.objects import (
    Node,
    PodSpec,
    ResourceFlavor,
    Toleration,
    Workload,
    amount,
    node_selector_matches,
    pod_requests,
    tolerates,
)
from reprieve.quota import sentences


def no_place(workload: Workload, nodes: Collection[Node], flavors: Mapping[str, ResourceFlavor]) -> str:
    """Why no node could hold a pod of a workload with quota; empty if each could, or no node is known."""
    admission = workload.status.admission
    assigned = {each.name: each for each in (admission.pod_set_assignments if admission else ())}
    for pod_set in workload.spec.pod_sets if nodes else ():
        if pod_set.name not in assigned:
            continue
        names = sorted(set(assigned[pod_set.name].flavors.values()))
        given = [flavors[name] for name in names if name in flavors]
        spec = pod_set.template.spec
        labels = {**spec.node_selector, **{k: v for each in given for k, v in each.spec.node_labels.items()}}
        tolerations = (*spec.tolerations, *(t for each in given for t in each.spec.tolerations))
        requests = pod_requests(spec)
        if not any(_could_hold(node, spec, labels, tolerations, requests) for node in nodes):
            return sentences.no_node_could_hold(pod_set.name, len(nodes))
    return ""


def _could_hold(
    node: Node,
    spec: PodSpec,
    labels: Mapping[str, str],
    tolerations: Collection[Toleration],
    requests: Mapping[str, int],
) -> bool:
    has = node.status.allocatable
    if any(amount(name, has.get(name, 0)) < wanted for name, wanted in requests.items() if wanted):
        return False
    if any(node.metadata.labels.get(name) != value for name, value in labels.items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    if required is not None and not node_selector_matches(required, node.metadata.labels, node.name):
        return False
    hard = (taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute"))
    return all(tolerates(tolerations, taint) for taint in hard)
