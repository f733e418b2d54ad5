"""A PodGroup and its workload: what the pods ask for, which of them have quota, and whether any runs. Pure.

Quota is given to each pod by name (`well_known.QUOTA_GIVEN_ANNOTATION`): to as many as the workload was
admitted with, and only to pods like those that it asked for. Reprieve's scheduler places no other.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import msgspec

from reprieve.controllers.quota.job_shape import is_ready
from reprieve.controllers.quota.lifecycle import FINISHED, RUNNING, STOPPED, Owner
from reprieve.jobs import asked_by, group_pod_sets, shape, shape_of
from reprieve.objects import (
    Document,
    Pod,
    PodSpec,
    ResourceFlavor,
    Workload,
    counted,
    well_known,
)
from reprieve.quota import injected


def is_gated(pod: Pod) -> bool:
    return any(gate.name == well_known.ADMISSION_GATE for gate in pod.spec.scheduling_gates)


def quota_of(pod: Pod) -> str:
    """The UID of the workload whose quota it may use; empty for none."""
    return pod.metadata.annotations.get(well_known.QUOTA_GIVEN_ANNOTATION, "")


def is_living(pod: Pod) -> bool:
    return pod.status.phase not in well_known.TERMINAL_PHASES and pod.metadata.deletion_timestamp is None


def runs(pod: Pod, schedulers: Collection[str]) -> bool:
    """Whether a pod that has not ended is on a node, or may be at any moment: it has quota, or neither a gate
    nor one of our schedulers holds it."""
    if pod.spec.node_name:
        return True
    return not is_gated(pod) and (bool(quota_of(pod)) or pod.spec.scheduler_name not in schedulers)


def group_owner(pods: Collection[Pod], schedulers: Collection[str] = (), least: int = 1) -> Owner:
    """The state of a group of `least` pods: it runs while any of them does. `schedulers`: who holds them.

    A pod that is on its way out says nothing about how the group ended, whatever its phase.
    """
    going = [pod for pod in pods if pod.status.phase not in well_known.TERMINAL_PHASES]
    staying = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    if not going and staying and len(staying) >= least:
        failed = sum(pod.status.phase == "Failed" for pod in staying)
        reason = "Failed" if failed else "Succeeded"
        told = f"{len(staying) - failed} of {counted(len(staying), 'pod')} succeeded"
        return Owner(FINISHED, reason, told)
    state = RUNNING if any(runs(pod, schedulers) for pod in going) else STOPPED
    return Owner(state, ready=_are_ready(pods, least))


def _are_ready(pods: Iterable[Pod], wanted: int) -> bool:
    return sum(is_ready(pod) for pod in pods if pod.metadata.deletion_timestamp is None) >= wanted


def crew_owner(workload: Workload, pods: Collection[Pod], schedulers: Collection[str], made: bool) -> Owner:
    """The same for pods that ask by their labels. `made`: by a job that makes them anew, and never ends."""
    wanted = sum(each.count for each in workload.spec.pod_sets)
    if made:
        going = [pod for pod in pods if pod.status.phase not in well_known.TERMINAL_PHASES]
        state = RUNNING if any(runs(pod, schedulers) for pod in going) else STOPPED
        return Owner(state, ready=_are_ready(going, wanted))
    found = group_owner(pods, schedulers, wanted)
    done = Counter(
        pod.metadata.labels.get(well_known.POD_SET_LABEL, "main")
        for pod in pods
        if pod.status.phase == "Succeeded" and pod.metadata.deletion_timestamp is None
    )
    return msgspec.structs.replace(found, done=dict(done))


def asks_for_others(least: int, pods: Iterable[Pod], workload: Workload) -> bool:
    """Whether the group has other pods by now than its workload asks for."""
    wanted = {shape(each["template"]["spec"]): each["count"] for each in group_pod_sets(least, pods)}
    held = {shape_of(each.template.spec): each.count for each in workload.spec.pod_sets}
    return wanted != held


def to_be_given(
    workload: Workload, pods: Iterable[Pod], flavors: Mapping[str, ResourceFlavor]
) -> list[tuple[Pod, str]]:
    """The living pods that are to get quota now, each with its pod set, of an admitted workload."""
    listed = sorted(pods, key=lambda pod: pod.name)
    names = _names_by_shape(workload, flavors)
    admission = workload.status.admission
    wanted = {each.name: each.count for each in workload.spec.pod_sets}
    left = {
        each.name: wanted.get(each.name, 0) if each.count is None else each.count
        for each in (admission.pod_set_assignments if admission is not None else ())
    }
    alike = {each.name: shape_of(each.template.spec) for each in workload.spec.pod_sets}
    found = []
    for pod in sorted(listed, key=lambda pod: quota_of(pod) != workload.metadata.uid):
        name = _chosen(pod, names, left, alike)
        if name:
            left[name] -= 1
            if quota_of(pod) != workload.metadata.uid:
                found.append((pod, name))
    return [(pod, name) for pod, name in found if is_gated(pod) or _suits(pod, workload, name, flavors)]


def _chosen(pod: Pod, names: Mapping[str, str], left: Mapping[str, int], alike: Mapping[str, str]) -> str:
    """The pod set that a pod belongs to, by its label or its shape; empty if there is none left for it.

    A job may use one template for two pod sets: any of them will do.
    """
    named = pod.metadata.labels.get(well_known.POD_SET_LABEL, "")
    name = named if named in alike else names.get(shape_of(pod.spec), "")
    if left.get(name, 0) > 0 or not name:
        return name
    return next((other for other in alike if alike[other] == alike[name] and left.get(other, 0) > 0), "")


def _names_by_shape(workload: Workload, flavors: Mapping[str, ResourceFlavor]) -> dict[str, str]:
    """The pod set that a pod of this shape belongs to, before and after the flavor's labels were put in."""
    names: dict[str, str] = {}
    for each in workload.spec.pod_sets:
        names.setdefault(shape(asked_by(each.template.spec)), each.name)
    for each in workload.spec.pod_sets:  # what pods asked for themselves comes before what was put in
        changed = additions(each.template.spec, workload, each.name, flavors)
        names.setdefault(shape({**asked_by(each.template.spec), **changed}), each.name)
    return names


def additions(
    spec: PodSpec, workload: Workload, pod_set: str, flavors: Mapping[str, ResourceFlavor]
) -> Document:
    """Fields of a pod's spec that its flavor changes, with their new values."""
    labels, tolerations = injected(workload, pod_set, flavors)
    encoded, changes = msgspec.to_builtins(spec), Document()
    if labels:
        changes["nodeSelector"] = {**encoded.get("nodeSelector", {}), **labels}
    if tolerations:
        changes["tolerations"] = [*encoded.get("tolerations", []), *msgspec.to_builtins(tolerations)]
    return changes


def _suits(pod: Pod, workload: Workload, pod_set: str, flavors: Mapping[str, ResourceFlavor]) -> bool:
    """A pod without its gate cannot be sent to the nodes of a flavor any more: it must want them itself."""
    labels, _ = injected(workload, pod_set, flavors)
    return all(pod.spec.node_selector.get(name) == value for name, value in labels.items())
