"""Pods between clusters: a PodGroup moves with its pods; what cannot be suspended moves as its pods alone.

The pods on the manager stay held and are never placed; those on the worker are their copies. Which pods there
are is the manager's business (its controllers make them), how they fare the worker's.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any

from reprieve.controllers.fleet.connection import Connection
from reprieve.controllers.fleet.manager_cluster import ManagerCluster
from reprieve.controllers.fleet.shapes import (
    is_over,
    pod_status_for_home,
    remote_group,
    remote_pod,
    runs_for,
    tie_selector,
)
from reprieve.fleet import POD, POD_GROUP, Owner
from reprieve.jobs import prebuilt_workload
from reprieve.objects import Document, from_template, split_key, well_known


async def sync_gang(
    manager: ManagerCluster, worker: Connection, key: str, owner: Owner, origin: str, final: bool
) -> None:
    """Bring the worker's pods in line with the manager's, and their statuses home.

    `final`: it is over, or was evicted. What ended is told; nothing is made or deleted any more, and of an
    eviction the manager's pods learn nothing: they are to run elsewhere.
    """
    namespace, workload = split_key(key)
    if final and not is_over(worker.copy(key)):
        return
    pods = manager.pods_of(key)
    if final:
        await _tell(manager, pods, await _fresh_pods(worker, workload, namespace))
        return
    there = {pod["metadata"]["name"]: pod for pod in worker.tied(POD, workload, namespace)}
    outdated = [name for name, pod in there.items() if name not in pods or not runs_for(pod, pods[name])]
    if owner.key == POD_GROUP and worker.object(POD_GROUP, owner.name, namespace) is None:
        group = manager.owned(owner, namespace)
        if group is None:
            return
        complete = await _complete(manager, group)
        await worker.create(POD_GROUP, remote_group(complete, workload, origin))
    await _together(
        *(
            worker.create(POD, remote_pod(pod, workload, origin))
            for name, pod in pods.items()
            if name not in there and not _has_ended(pod)
        ),
        *(worker.delete(POD, name, namespace) for name in outdated),
        _tell(manager, pods, there),
    )


async def _complete(manager: ManagerCluster, group: Document) -> Document:
    """The group with what its template gives: the Workload that has it stays on the manager."""
    typed = {**group, "apiVersion": f"{well_known.SCHEDULING_API}/v1beta1", "kind": "PodGroup"}
    reference = (group.get("spec") or {}).get("workloadRef") or {}
    workload = await manager.scheduling_workload(
        str(reference.get("workloadName") or ""), group["metadata"]["namespace"]
    )
    return from_template(typed, lambda *_: workload)[0]


async def _tell(manager: ManagerCluster, pods: dict[str, Document], remotes: dict[str, Document]) -> None:
    """Copy the statuses of the worker's pods to the manager's."""
    writes = []
    for name, pod in pods.items():
        remote = remotes.get(name)
        status = pod_status_for_home(pod, remote) if remote and runs_for(remote, pod) else None
        if status is not None:
            writes.append(manager.set_status(POD, name, pod["metadata"]["namespace"], status))
    await _together(*writes)


async def _fresh_pods(worker: Connection, workload: str, namespace: str) -> dict[str, Document]:
    resource = worker.resource(POD).raw()
    labels = tie_selector(workload, worker.origin)
    listed = await worker.call(lambda client: client.listing(resource, namespace, labels=labels))
    own = (pod for pod in listed.items if prebuilt_workload(pod["metadata"]) == workload)
    return {pod["metadata"]["name"]: pod for pod in own}


async def _together(*calls: Awaitable[Any]) -> None:
    """All of them, whatever becomes of some; then the first failure."""
    for result in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


def _has_ended(pod: Document) -> bool:
    return (pod.get("status") or {}).get("phase") in well_known.TERMINAL_PHASES
