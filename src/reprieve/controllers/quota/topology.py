"""Pods of workloads with a topology, live: they are told their node, and lost nodes are noticed.

Kueue's way: the pods come with a scheduling gate, each gets the labels of its domain as a node selector, and
the gate is lifted in the same write.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping

from reprieve.controllers.quota.group_shape import is_living
from reprieve.controllers.quota.ranks import selectors
from reprieve.kube import PODS, ApiError, Client
from reprieve.objects import (
    Node,
    Pod,
    Taint,
    Toleration,
    UnhealthyNode,
    Workload,
    expanded,
    find_condition,
    tolerates,
    well_known,
)


def waits_for_domain(pod: Pod) -> bool:
    return any(gate.name == well_known.TOPOLOGY_GATE for gate in pod.spec.scheduling_gates)


async def tell_domains(client: Client, workload: Workload, pods: Iterable[Pod]) -> None:
    """Lift the gates of an admitted workload's pods, each with the labels of its own domain."""
    if not workload.may_run:
        return
    living = [pod for pod in pods if is_living(pod)]
    writes = []
    for pod_set in workload.spec.pod_sets:
        own = [pod for pod in living if pod.metadata.labels.get(well_known.POD_SET_LABEL) == pod_set.name]
        waiting = [pod for pod in own if waits_for_domain(pod)]
        placed = [pod for pod in own if not waits_for_domain(pod)]
        found = selectors(workload, pod_set.name, placed, waiting)
        writes += [_tell(client, pod, found[pod.key]) for pod in waiting if pod.key in found]
    await asyncio.gather(*writes)


async def _tell(client: Client, pod: Pod, selector: Mapping[str, str]) -> None:
    kept = [{"name": g.name} for g in pod.spec.scheduling_gates if g.name != well_known.TOPOLOGY_GATE]
    spec = {
        "schedulingGates": kept or None,
        "nodeSelector": {**pod.spec.node_selector, **selector},
    }
    patch = {"metadata": {"uid": pod.metadata.uid}, "spec": spec}
    try:
        await client.patch(PODS, pod.name, patch, pod.namespace)
    except ApiError as error:
        if not (error.not_found or error.conflict):
            raise


def failed_nodes(
    workload: Workload, nodes: Mapping[str, Node], pods: Collection[Pod]
) -> tuple[UnhealthyNode, ...]:
    """The nodes that an admitted workload was sent to and that cannot run its pods, by name.

    At once if the node is gone or says nothing of being ready; if it is not ready, or has a taint that the
    pods do not tolerate, once its pods end.
    """
    admission = workload.status.admission
    found: set[str] = set()
    for each in admission.pod_set_assignments if admission is not None else ():
        if each.topology_assignment is None:
            continue
        placement = expanded(each.topology_assignment)
        if not placement.by_host:
            continue
        spec = next((s.template.spec for s in workload.spec.pod_sets if s.name == each.name), None)
        for domain in placement.domains:
            node = nodes.get(domain.values[-1])
            ready = find_condition(node.status.conditions, "Ready") if node is not None else None
            if node is None or ready is None:
                found.add(domain.values[-1])
            elif ready.status != "True" or (spec and _untolerated(node.spec.taints, spec.tolerations)):
                here = [pod for pod in pods if pod.spec.node_name == node.name]
                if all(not is_living(pod) for pod in here):
                    found.add(domain.values[-1])
    return tuple(UnhealthyNode(name=name) for name in sorted(found))


def _untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> bool:
    hard = (taint for taint in taints if taint.effect in ("NoSchedule", "NoExecute"))
    return any(not tolerates(tolerations, taint) for taint in hard)
