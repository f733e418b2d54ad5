"""PodGroups that wait for quota: their pods are held until the group's workload is admitted.

A pod is held by its scheduling gate or, without one, by Reprieve's scheduler, until this controller gives it
quota by name. A pod cannot be held again. So an eviction deletes the pods that got quota, and their
controller creates new ones. Pods that run without quota, wherever they come from, are deleted as soon as it
is refused.
"""

import asyncio
from collections.abc import Collection, Mapping

import msgspec

from reprieve.admission import WorkloadPriorities
from reprieve.controllers.quota.group_shape import (
    additions,
    asks_for_others,
    is_living,
    quota_of,
    runs,
    to_be_given,
)
from reprieve.controllers.quota.ranks import selectors
from reprieve.jobs import controller_reference, group_workload, prebuilt_workload
from reprieve.kube import KUEUE_WORKLOADS, POD_GROUPS, PODS, ApiError, Client
from reprieve.objects import (
    Document,
    ObjectMeta,
    Pod,
    PodGroup,
    ResourceFlavor,
    Workload,
    find_condition,
    well_known,
)
from reprieve.quota import is_true


async def reconcile_group(
    client: Client,
    group: PodGroup,
    pods: Collection[Pod],
    workload: Workload | None,
    flavors: Mapping[str, ResourceFlavor],
    priorities: WorkloadPriorities,
    schedulers: Collection[str] = (),
) -> None:
    """Bring the pods of one group in line with its workload; create it when there are enough pods.

    `schedulers`: those that place no pod of a group in a queue before it has quota.
    """
    living = [pod for pod in pods if is_living(pod)]
    if workload is None:
        enough = any(runs(pod, schedulers) for pod in living) or (living and len(living) >= group.min_count)
        if enough and not prebuilt_workload(group.metadata):
            await _create_workload(client, group, living, priorities)
        return
    if is_anothers(group.metadata.uid, workload):
        await remove_running(client, living, schedulers)  # they get none of that quota
        return
    if not workload.metadata.owner_references:
        owner = {**msgspec.to_builtins(group), "apiVersion": await _api_version(client), "kind": "PodGroup"}
        await own(client, controller_reference(owner), workload.metadata)
    await obey(client, workload, living, flavors, schedulers)
    if waits(workload) and living and asks_for_others(group.min_count, living, workload):
        await queue_again(client, workload)  # pods came or went while it waited


async def obey(
    client: Client,
    workload: Workload,
    living: list[Pod],
    flavors: Mapping[str, ResourceFlavor],
    schedulers: Collection[str],
) -> None:
    """Give quota to the pods of a workload that may run; remove those that run although it may not."""
    if workload.may_run:
        given = to_be_given(workload, living, flavors)
        places = _places(workload, living, given)
        await asyncio.gather(
            *(_give(client, pod, workload, name, flavors, places.get(pod.key, {})) for pod, name in given)
        )
    elif is_true(workload, well_known.EVICTED) or _was_refused(workload):
        await remove_running(client, living, schedulers)


async def remove_running(client: Client, living: list[Pod], schedulers: Collection[str]) -> None:
    await asyncio.gather(*(remove(client, pod) for pod in living if runs(pod, schedulers)))


async def queue_again(client: Client, workload: Workload) -> None:
    """Its owner asks for something else by now: a new workload takes its place."""
    metadata = workload.metadata
    await client.delete(KUEUE_WORKLOADS, metadata.name, metadata.namespace, uid=metadata.uid)


def _was_refused(workload: Workload) -> bool:
    found = find_condition(workload.status.conditions, well_known.QUOTA_RESERVED)
    return found is not None and found.status == "False"


def waits(workload: Workload) -> bool:
    """It holds no quota and never did: one that was evicted waits for its pods to be made anew."""
    known = {each.type for each in workload.status.conditions if each.status == "True"}
    return known.isdisjoint((well_known.QUOTA_RESERVED, well_known.EVICTED, well_known.FINISHED))


async def _create_workload(
    client: Client, group: PodGroup, pods: list[Pod], priorities: WorkloadPriorities
) -> None:
    made = group_workload(group, pods, await _api_version(client))
    priorities.fill_in(made)
    await create(client, made)


async def _api_version(client: Client) -> str:
    return (await client.served(POD_GROUPS) or POD_GROUPS).api_version


async def own(client: Client, reference: Document, workload: ObjectMeta) -> None:
    """A workload that existed before its owner (a copy from a manager) gets it as its owner."""
    patch = {
        "ownerReferences": [reference],
        "labels": {well_known.JOB_UID_LABEL: reference["uid"]},
        "resourceVersion": workload.resource_version,  # one alone can own it
    }
    await client.patch(KUEUE_WORKLOADS, workload.name, {"metadata": patch}, workload.namespace)


def is_kept(workload: Document) -> bool:
    """Whether it is being deleted and waits for Kueue, which made it: only its controllers, whose place this
    one takes, remove their finalizer."""
    meta = workload["metadata"]
    return bool(meta.get("deletionTimestamp")) and well_known.RESOURCE_IN_USE in (
        meta.get("finalizers") or ()
    )


async def let_go(client: Client, workload: Document) -> None:
    """Remove that finalizer; those of others stay."""
    meta = workload["metadata"]
    kept = [each for each in meta["finalizers"] if each != well_known.RESOURCE_IN_USE]
    changed = {"resourceVersion": meta["resourceVersion"], "finalizers": kept or None}
    await client.patch(KUEUE_WORKLOADS, meta["name"], {"metadata": changed}, meta["namespace"])


def is_anothers(owner: str, workload: Workload) -> bool:
    """Whether the workload that an owner names was made for another one: its quota is not this owner's."""
    owners = workload.metadata.owner_references
    return bool(owners) and all(each.uid != owner for each in owners)


async def create(client: Client, workload: Document) -> None:
    try:
        await client.create(KUEUE_WORKLOADS, workload)
    except ApiError as error:
        if not error.already_exists:
            raise


def _places(workload: Workload, living: list[Pod], given: list[tuple[Pod, str]]) -> dict[str, dict[str, str]]:
    """The labels of the domain of each pod that gets quota now, where the workload has domains."""
    coming = {pod.key for pod, _ in given}
    placed = [pod for pod in living if pod.key not in coming and quota_of(pod) == workload.metadata.uid]
    found: dict[str, dict[str, str]] = {}
    for pod_set in workload.spec.pod_sets:
        own = [pod for pod, name in given if name == pod_set.name]
        found |= selectors(workload, pod_set.name, placed, own)
    return found


async def _give(
    client: Client,
    pod: Pod,
    workload: Workload,
    pod_set: str,
    flavors: Mapping[str, ResourceFlavor],
    place: Mapping[str, str],
) -> None:
    """Give a pod quota and lift its gate, in one write; only a pod with gates takes the flavor's labels."""
    annotations = {well_known.QUOTA_GIVEN_ANNOTATION: workload.metadata.uid}
    if place:
        annotations[well_known.WORKLOAD_ANNOTATION] = workload.name  # it counts with its workload
    labels = {well_known.POD_SET_LABEL: pod_set}
    patch: Document = {"metadata": {"uid": pod.metadata.uid, "annotations": annotations, "labels": labels}}
    if pod.spec.scheduling_gates:
        kept = [gate.name for gate in pod.spec.scheduling_gates if gate.name != well_known.ADMISSION_GATE]
        gates = [{"name": name} for name in kept]
        changes = additions(pod.spec, workload, pod_set, flavors)
        if place:
            changes["nodeSelector"] = {**changes.get("nodeSelector", pod.spec.node_selector), **place}
        patch["spec"] = {"schedulingGates": gates or None, **changes}
    await client.patch(PODS, pod.name, patch, pod.namespace)


async def remove(client: Client, pod: Pod) -> None:
    try:
        await client.delete(PODS, pod.name, pod.namespace, uid=pod.metadata.uid)
    except ApiError as error:
        if not (error.not_found or error.conflict):
            raise


def waits_for_quota(group: PodGroup) -> bool:
    return well_known.QUEUE_LABEL in group.metadata.labels
