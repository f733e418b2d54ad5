"""Pods that ask for quota by their labels: one by one, as a group, or for the job whose templates made them.

They are held and given quota as the pods of a PodGroup are (`groups`). A bare group asks when as many of its
pods exist as its annotation says, and its workload goes with the last of them. The pods of a StatefulSet or
of a replica of a LeaderWorkerSet need not exist: what they will ask for is in the templates.
"""

from collections.abc import Collection, Mapping

import msgspec

from reprieve.admission import WorkloadPriorities
from reprieve.controllers.quota.group_shape import asks_for_others, is_living, runs
from reprieve.controllers.quota.groups import create, obey, queue_again, remove_running, waits
from reprieve.controllers.quota.job_shape import (
    controller_reference,
    job_pod_sets,
    owned_workload,
    same_demand,
)
from reprieve.jobs import (
    JobKind,
    JobKinds,
    group_pod_sets,
    group_total,
    pod_sets,
    priority_class_of,
    replica_sets,
    restored,
    was_changed,
)
from reprieve.kube import KUEUE_WORKLOADS, Client
from reprieve.objects import Document, Pod, ResourceFlavor, Workload, split_key, well_known


class Crew(msgspec.Struct, frozen=True):
    """What stands behind one workload."""

    key: str
    pods: tuple[Pod, ...]
    maker: Document | None = None
    """The job whose templates make the pods."""


async def reconcile_crew(
    client: Client,
    crew: Crew,
    raw: Document | None,
    workload: Workload | None,
    flavors: Mapping[str, ResourceFlavor],
    priorities: WorkloadPriorities,
    kinds: JobKinds,
    schedulers: Collection[str] = (),
) -> None:
    """Bring pods in line with their workload; create it when they ask for it."""
    living = [pod for pod in crew.pods if is_living(pod)]
    wanted = _made(crew.maker, kinds) if crew.maker is not None else None
    if workload is None or raw is None:
        if wanted is not None and crew.maker is not None:
            await _create_for_maker(client, crew, wanted, priorities, kinds)
        elif living and (len(living) >= group_total(living) or any(runs(pod, schedulers) for pod in living)):
            await _create_for_pods(client, crew, living, priorities)
        return
    if crew.maker is None:
        if _belongs_to_a_job(raw):
            await remove_running(client, living, schedulers)  # its quota is not for pods that name it
            return
        await _own(client, raw, living)
    elif not any(each.get("uid") == crew.maker["metadata"]["uid"] for each in _references(raw)):
        return  # of one that had the same name: it is deleted with that one
    await obey(client, workload, living, flavors, schedulers)
    if wanted is not None:
        if not wanted or (waits(workload) and not same_demand(wanted, raw)):
            await queue_again(client, workload)  # scaled to nothing, or changed while it waited
    elif waits(workload) and living and asks_for_others(group_total(living), living, workload):
        await queue_again(client, workload)


def _made(maker: Document, kinds: JobKinds) -> list[Document]:
    """The pod sets of one workload, as the user wrote the templates."""
    kind = _kind(maker, kinds)
    plain = restored(maker, pod_sets(maker, kinds))
    return job_pod_sets(plain, kind, replica_sets(kind, pod_sets(plain, kinds)))


def _kind(maker: Document, kinds: JobKinds) -> JobKind:
    kind = kinds.find(maker)
    assert kind is not None
    return kind


async def _create_for_maker(
    client: Client, crew: Crew, wanted: list[Document], priorities: WorkloadPriorities, kinds: JobKinds
) -> None:
    """As soon as its templates hold the pods that they make."""
    maker = crew.maker
    assert maker is not None
    if not wanted or not was_changed(maker):
        return
    kind = _kind(maker, kinds)
    labels = maker["metadata"].get("labels") or {}
    priority = priorities.resolve(labels, priority_class_of(maker, kind, pod_sets(maker, kinds)))
    reference = controller_reference(maker["apiVersion"], kind.kind, maker)
    name = split_key(crew.key)[1]
    await create(client, owned_workload(name, maker, [reference], wanted, priority))


async def _create_for_pods(
    client: Client, crew: Crew, pods: list[Pod], priorities: WorkloadPriorities
) -> None:
    first = min(pods, key=lambda pod: pod.name)
    priority = priorities.resolve(first.metadata.labels, first.spec.priority_class_name)
    sets = group_pod_sets(group_total(pods), pods)
    references = [_reference(pod) for pod in pods]
    if well_known.POD_GROUP_NAME_LABEL not in first.metadata.labels:
        references[0] |= {"controller": True, "blockOwnerDeletion": True}
    owner = msgspec.to_builtins(first)
    await create(client, owned_workload(split_key(crew.key)[1], owner, references, sets, priority))


async def _own(client: Client, raw: Document, living: list[Pod]) -> None:
    """Pods that came later own the workload, too: it goes with the last of them."""
    known = {each.get("uid") for each in _references(raw)}
    new = [_reference(pod) for pod in living if pod.metadata.uid not in known]
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


def _reference(pod: Pod) -> Document:
    return {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.metadata.uid}
