"""PodGroups that wait for quota: their pods are held by a scheduling gate until the group's workload is
admitted.

A pod cannot be given its gate back. So an eviction deletes the pods that were released, and their controller
creates new ones, gated again.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Final

from reprieve.controllers.quota.job_shape import injected, owned_workload, workload_name
from reprieve.controllers.quota.lifecycle import FINISHED, RUNNING, STOPPED, Owner
from reprieve.controllers.quota.priorities import Priorities
from reprieve.kube import KUEUE_WORKLOADS, POD_GROUPS, PODS, ApiError, Client
from reprieve.objects import Document, Pod, PodGroup, ResourceFlavor, Workload, encode, well_known
from reprieve.quota import is_true

_SHAPE: Final = (
    "containers",
    "initContainers",
    "nodeSelector",
    "affinity",
    "tolerations",
    "overhead",
    "resources",
)


def is_held(pod: Pod) -> bool:
    return any(gate.name == well_known.ADMISSION_GATE for gate in pod.spec.scheduling_gates)


def group_owner(pods: Iterable[Pod]) -> Owner:
    """The state of a group: it runs while any of its pods is neither gated nor finished."""
    listed = list(pods)
    if listed and all(pod.status.phase in well_known.TERMINAL_PHASES for pod in listed):
        failed = sum(pod.status.phase == "Failed" for pod in listed)
        reason = "Failed" if failed else "Succeeded"
        return Owner(FINISHED, reason, f"{len(listed) - failed} of {len(listed)} pods succeeded")
    running = any(not is_held(pod) and pod.status.phase not in well_known.TERMINAL_PHASES for pod in listed)
    return Owner(RUNNING if running else STOPPED)


def shape_of(pod: Pod) -> str:
    """What makes two pods interchangeable for quota."""
    spec = encode(pod).get("spec", {})
    return json.dumps({field: spec.get(field) for field in _SHAPE}, sort_keys=True)


def group_pod_sets(group: PodGroup, pods: Iterable[Pod]) -> list[Document]:
    """One pod set per shape of pod, the most frequent first; the first is enlarged up to `minCount` pods."""
    shapes: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: pod.name):
        shapes.setdefault(shape_of(pod), []).append(pod)
    ordered = sorted(shapes.values(), key=lambda alike: (-len(alike), alike[0].name))
    missing = max(0, group.min_count - sum(len(alike) for alike in ordered))
    sets = []
    for number, alike in enumerate(ordered):
        spec = encode(alike[0]).get("spec", {})
        template = {"spec": {field: spec[field] for field in _SHAPE if field in spec}}
        count = len(alike) + (missing if number == 0 else 0)
        sets.append({"name": pod_set_name(number), "count": count, "template": template})
    return sets


def pod_set_name(number: int) -> str:
    return "main" if number == 0 else f"set-{number}"


async def reconcile_group(
    client: Client,
    group: PodGroup,
    pods: list[Pod],
    workload: Workload | None,
    may_run: bool,
    flavors: Mapping[str, ResourceFlavor],
    priorities: Priorities,
) -> None:
    """Bring the pods of one group in line with its workload; create it when there are enough pods."""
    living = [
        pod
        for pod in pods
        if pod.status.phase not in well_known.TERMINAL_PHASES and pod.metadata.deletion_timestamp is None
    ]
    if workload is None:
        if living and len(living) >= group.min_count:
            await _create_workload(client, group, living, priorities)
        return
    if may_run:
        held = [pod for pod in living if is_held(pod)]
        names = _set_names(workload, living)
        await asyncio.gather(
            *(
                _release(client, pod, *injected(workload, names.get(shape_of(pod), "main"), flavors))
                for pod in held
            )
        )
    elif is_true(workload, well_known.EVICTED):
        await asyncio.gather(*(_remove(client, pod) for pod in living if not is_held(pod)))


def _set_names(workload: Workload, pods: Iterable[Pod]) -> dict[str, str]:
    """Which podset a shape of pod belongs to: shapes were numbered by how many pods have them."""
    counts: dict[str, int] = {}
    for pod in pods:
        counts[shape_of(pod)] = counts.get(shape_of(pod), 0) + 1
    known = [pod_set.name for pod_set in workload.spec.pod_sets]
    ordered = sorted(counts, key=lambda shape: (-counts[shape], shape))
    return dict(zip(ordered, known, strict=False))


async def _create_workload(client: Client, group: PodGroup, pods: list[Pod], priorities: Priorities) -> None:
    metadata = group.metadata
    owner = {
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "labels": metadata.labels,
        }
    }
    pod_class = group.spec.priority_class_name or pods[0].spec.priority_class_name
    priority = priorities.resolve(metadata.labels, pod_class)
    served = await client.served(POD_GROUPS) or POD_GROUPS
    document = owned_workload("PodGroup", served.api_version, owner, group_pod_sets(group, pods), priority)
    try:
        await client.create(KUEUE_WORKLOADS, document)
    except ApiError as error:
        if not error.already_exists:
            raise


async def _release(client: Client, pod: Pod, labels: dict[str, str], tolerations: list[Document]) -> None:
    gates = [
        {"name": gate.name} for gate in pod.spec.scheduling_gates if gate.name != well_known.ADMISSION_GATE
    ]
    spec: Document = {"schedulingGates": gates or None}
    if labels:
        spec["nodeSelector"] = labels
    if tolerations:
        spec["tolerations"] = [*encode(pod).get("spec", {}).get("tolerations", []), *tolerations]
    await client.patch(PODS, pod.name, {"metadata": {"uid": pod.metadata.uid}, "spec": spec}, pod.namespace)


async def _remove(client: Client, pod: Pod) -> None:
    try:
        await client.delete(PODS, pod.name, pod.namespace, uid=pod.metadata.uid)
    except ApiError as error:
        if not (error.not_found or error.conflict):
            raise


def group_workload_key(group: PodGroup) -> str:
    document = {"metadata": {"name": group.name, "uid": group.metadata.uid, "labels": group.metadata.labels}}
    return f"{group.namespace}/{workload_name('PodGroup', document)}"


def waits_for_quota(group: PodGroup) -> bool:
    return well_known.QUEUE_LABEL in group.metadata.labels
