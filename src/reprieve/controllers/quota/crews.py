"""Pods that ask for quota by their labels: one by one, as a group, or for the job whose templates made them.

They are held and given quota as the pods of a PodGroup are (`groups`). A bare group asks when as many of its
pods exist as its annotation says, and its workload goes with the last of them. The pods of a StatefulSet or
of a replica of a LeaderWorkerSet need not exist: what they will ask for is in the templates.
"""

from collections.abc import Collection, Mapping

from reprieve.admission import WorkloadPriorities
from reprieve.controllers.quota.group_shape import asks_for_others, is_living, runs
from reprieve.controllers.quota.groups import create, obey, queue_again, remove_running, waits
from reprieve.controllers.quota.job_shape import same_demand
from reprieve.controllers.quota.owners import Asker
from reprieve.jobs import (
    JobKinds,
    group_total,
    job_workloads,
    pod_reference,
    pod_sets,
    pods_workload,
    was_changed,
)
from reprieve.kube import KUEUE_WORKLOADS, Client
from reprieve.objects import Document, Pod, ResourceFlavor, Workload


async def reconcile_crew(
    client: Client,
    crew: Asker,
    raw: Document | None,
    workload: Workload | None,
    flavors: Mapping[str, ResourceFlavor],
    priorities: WorkloadPriorities,
    kinds: JobKinds,
    schedulers: Collection[str] = (),
) -> None:
    """Bring pods in line with their workload; create it when they ask for it."""
    living = [pod for pod in crew.pods.values() if is_living(pod)]
    wanted = _wanted(crew, kinds)
    if workload is None or raw is None:
        if crew.job is not None:
            made = (
                wanted if was_changed(crew.job) else None
            )  # once its templates hold the pods that they make
        else:
            come = len(living) >= group_total(living) or any(runs(pod, schedulers) for pod in living)
            made = pods_workload(living) if living and come else None
        if made is not None:
            priorities.fill_in(made)
            await create(client, made)
        return
    if crew.job is None:
        if _belongs_to_a_job(raw):
            await remove_running(client, living, schedulers)  # its quota is not for pods that name it
            return
        await _own(client, raw, living)
    elif not any(each.get("uid") == crew.job["metadata"]["uid"] for each in _references(raw)):
        return  # of one that had the same name: it is deleted with that one
    await obey(client, workload, living, flavors, schedulers)
    if crew.job is not None:
        changed = wanted is None or (
            waits(workload) and not same_demand(wanted["spec"]["podSets"], raw, pod_sets(crew.job, kinds))
        )
        if changed:
            await queue_again(client, workload)  # scaled to nothing, or changed while it waited
    elif waits(workload) and living and asks_for_others(group_total(living), living, workload):
        await queue_again(client, workload)


def _wanted(crew: Asker, kinds: JobKinds) -> Document | None:
    """The workload with which a job asks for the pods that it makes; None if it makes none."""
    asking = job_workloads(crew.job, kinds) if crew.job is not None else []
    return next((each.workload for each in asking if each.replica == crew.replica), None)


async def _own(client: Client, raw: Document, living: list[Pod]) -> None:
    """Pods that came later own the workload, too: it goes with the last of them."""
    known = {each.get("uid") for each in _references(raw)}
    new = [pod_reference(pod) for pod in living if pod.metadata.uid not in known]
    if not new:
        return
    metadata = raw["metadata"]
    patch = {"ownerReferences": [*_references(raw), *new], "resourceVersion": metadata["resourceVersion"]}
    await client.patch(KUEUE_WORKLOADS, metadata["name"], {"metadata": patch}, metadata["namespace"])


def _belongs_to_a_job(raw: Document) -> bool:
    owners = _references(raw)
    return bool(owners) and all(each.get("kind") != "Pod" for each in owners)


def _references(raw: Document) -> list[Document]:
    return raw["metadata"].get("ownerReferences") or []
