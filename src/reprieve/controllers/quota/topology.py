"""Pods of workloads with a topology, live: they are told their node, and end where it is none any more.

Kueue's way: the pods come with a scheduling gate, each gets the labels of its domain as a node selector, and
the gate is lifted in the same write. A pod that was told a node which the workload has lost since, and that
runs nowhere, is deleted: its controller makes another one, and that is told the new node.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping

from reprieve.controllers.quota.group_shape import is_living
from reprieve.controllers.quota.ranks import selectors, strays
from reprieve.kube import PODS, ApiError, Client
from reprieve.objects import Pod, Workload, well_known

log = logging.getLogger(__name__)


def waits_for_domain(pod: Pod) -> bool:
    return any(gate.name == well_known.TOPOLOGY_GATE for gate in pod.spec.scheduling_gates)


async def tell_domains(client: Client, workload: Workload, pods: Iterable[Pod]) -> None:
    """Lift the gates of an admitted workload's pods, each with the labels of its own domain.

    Pods for a node that failed stay gated: another one is being looked for.
    """
    if not workload.may_run:
        return
    living = [pod for pod in pods if is_living(pod)]
    failed = {node.name for node in workload.status.unhealthy_nodes}
    writes = []
    for pod_set in workload.spec.pod_sets:
        own = [pod for pod in living if pod.metadata.labels.get(well_known.POD_SET_LABEL) == pod_set.name]
        lost = strays(workload, pod_set.name, own)
        writes += [_end(client, pod) for pod in lost]
        own = [pod for pod in own if pod not in lost]
        waiting = [pod for pod in own if waits_for_domain(pod)]
        placed = [pod for pod in own if not waits_for_domain(pod)]
        found = {
            key: selector
            for key, selector in selectors(workload, pod_set.name, placed, waiting).items()
            if not failed & set(selector.values())
        }
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


async def _end(client: Client, pod: Pod) -> None:
    log.info("%s was told a node that its workload no longer has, and is made again", pod.key)
    try:
        await client.delete(PODS, pod.name, pod.namespace, uid=pod.metadata.uid)
    except ApiError as error:
        if not (error.not_found or error.conflict):
            raise
