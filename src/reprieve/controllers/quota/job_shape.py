"""Conversions between a job of any kind and its workload, with the node labels of flavors. Pure."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import to_builtins

from reprieve.controllers.quota.lifecycle import FINISHED, RUNNING, STOPPED, Owner
from reprieve.controllers.quota.ranks import placement_of
from reprieve.jobs import (
    Additions,
    JobKind,
    JobKinds,
    PodSet,
    Progress,
    ending,
    has_failed,
    pod_sets,
    progress,
    requested,
    requested_before,
    restored,
    started,
    suspended_by,
)
from reprieve.objects import (
    Document,
    InvalidObject,
    Pod,
    ResourceFlavor,
    Workload,
    find_condition,
    well_known,
)
from reprieve.quota import injected


def job_owner(
    job: Document,
    kinds: JobKinds,
    others: Iterable[Document],
    pods: Collection[Pod],
    workload: Workload | None = None,
) -> Owner:
    """The state of a job whose pods these are. Terminating ones still occupy their nodes, so their quota is
    not free yet. An elastic job that became smaller than its workload gives back what is gone."""
    end = ending(job, kinds)
    if end is not None:
        reason = "Failed" if has_failed(end) else "Succeeded"
        return Owner(FINISHED, reason, end.get("message") or f"{job.get('kind', 'Job')} {reason.lower()}")
    kind = kinds.find(job)
    assert kind is not None
    try:
        sets = pod_sets(job, kinds, others)
    except InvalidObject:
        sets = []
    seen = progress(job, kind, sets)
    if suspended_by(job, kinds) and not pods and not seen.pods and seen.stopped:
        return Owner(STOPPED)
    ready = _are_ready(seen, sets, pods)
    if workload is not None:
        names = _names_in(workload, sets)
        seen = seen._replace(done={names[name]: count for name, count in seen.done.items()})
    if workload is None or not is_elastic(job, kind):
        return Owner(RUNNING, done=seen.done, ready=ready)
    asked = {each.name: each.count for each in workload.spec.pod_sets}
    needed = {each.name: max(each.count - seen.done.get(each.name, 0), seen.pods) for each in sets}
    spare = {name: asked[name] - count for name, count in needed.items() if asked.get(name, 0) > count}
    return Owner(RUNNING, done={**seen.done, **spare}, ready=ready)


def _are_ready(seen: Progress, sets: Iterable[PodSet], pods: Iterable[Pod]) -> bool:
    """All pods that the job has at a time, as its status or the pods themselves say."""
    found = seen.ready
    if found is None:
        found = sum(is_ready(pod) for pod in pods) + sum(seen.done.values())
    return 0 < sum(each.count for each in sets) <= found


def is_ready(pod: Pod) -> bool:
    """Ready, or done."""
    condition = find_condition(pod.status.conditions, well_known.READY)
    return pod.status.phase == "Succeeded" or (condition is not None and condition.status == "True")


def is_elastic(job: Document, kind: JobKind) -> bool:
    """Whether a job may become smaller while it runs. To become larger it asks anew."""
    annotations = job["metadata"].get("annotations") or {}
    return bool(kind.shrinks) and annotations.get(well_known.ELASTIC_JOB_ANNOTATION) == "true"


def fits_into(wanted: list[Document], workload: Workload, stored: Document, done: Mapping[str, int]) -> bool:
    """Whether an elastic job needs no more than its workload holds and has not given back."""
    back = {each.name: each.count for each in workload.status.reclaimable_pods}
    held = {each.get("name", "main"): each for each in stored["spec"]["podSets"]}
    return wanted != [] and all(
        each["name"] in held
        and _demand(each)[1] == _demand(held[each["name"]])[1]
        and each["count"] - done.get(each["name"], 0)
        <= held[each["name"]].get("count", 1) - back.get(each["name"], 0)
        for each in wanted
        if each["count"]
    )


def still_asks(job: Document, kind: JobKind, sets: Collection[PodSet], workload: Document) -> bool:
    """Whether the workload requests what its job would run, as it is counted now or as it was before: an
    upgrade stops nothing that runs."""
    forms = (requested(job, kind, sets), requested_before(job, kind, sets))
    return any(same_demand(each, workload, sets) for each in forms)


def same_demand(wanted: list[Document], workload: Document, sets: Iterable[PodSet] = ()) -> bool:
    """Whether the workload requests these pods. Workloads of older versions lack the pod sets that have no
    pods; `sets` say which names they may have for the others, and that two of them are one today."""
    current = {name: each.name for each in sets for name in each.known_as}
    held: dict[str, tuple[int, list[object]]] = {}
    for each in workload["spec"]["podSets"]:
        name = each.get("name", "main")
        (count, resources), name = _demand(each), current.get(name, name)
        known, other = held.get(name, (0, resources))
        if count and known and other != resources:
            return False
        held[name] = known + count, resources if count else other
    return {each["name"]: _demand(each) for each in wanted if each["count"]} == {
        name: each for name, each in held.items() if each[0]
    }


def _names_in(workload: Workload, sets: Iterable[PodSet]) -> dict[str, str]:
    """Under which name the workload has each pod set: an older version may have made it."""
    there = {each.name for each in workload.spec.pod_sets}
    return {
        each.name: next((name for name in reversed(each.known_as) if name in there), each.name)
        for each in sets
    }


def with_assigned_counts(stored: Document, workload: Workload) -> Document:
    """The workload with the numbers of pods that it was admitted with, where it may be fewer."""
    admission = workload.status.admission
    if admission is None or not any(each.may_shrink for each in workload.spec.pod_sets):
        return stored
    counts = {each.name: each.count for each in admission.pod_set_assignments}
    sets = stored["spec"]["podSets"]
    given = [{**each, "count": counts.get(each.get("name", "main")) or each["count"]} for each in sets]
    return {**stored, "spec": {**stored["spec"], "podSets": given}}


def _demand(pod_set: Document) -> tuple[int, list[object]]:
    spec = (pod_set.get("template") or {}).get("spec") or {}
    resources = [container.get("resources") for container in spec.get("containers") or ()]
    return pod_set.get("count", 1), resources


def as_it_runs(
    job: Document,
    kinds: JobKinds,
    others: Iterable[Document],
    workload: Workload,
    flavors: Mapping[str, ResourceFlavor],
) -> Document:
    """The job started on the nodes of its flavors."""
    kind, others = kinds.find(job), list(others)
    assert kind is not None
    sets = pod_sets(job, kinds, others)
    plain = restored(job, sets)
    if plain is not job:
        sets = pod_sets(plain, kinds, others)
    names = _names_in(workload, sets)
    added = {each.name: _additions(workload, names[each.name], flavors) for each in sets}
    return started(plain, kind, sets, added, _assigned_count(workload))


def _additions(workload: Workload, pod_set: str, flavors: Mapping[str, ResourceFlavor]) -> Additions:
    labels, tolerated = injected(workload, pod_set, flavors)
    tolerations = to_builtins(tolerated)
    if placement_of(workload, pod_set) is None:
        return Additions(node_selector=labels, tolerations=tolerations)
    return Additions(
        node_selector=labels,
        tolerations=tolerations,
        gates=(well_known.TOPOLOGY_GATE,),
        annotations={well_known.WORKLOAD_ANNOTATION: workload.name},
        labels={well_known.POD_SET_LABEL: pod_set},
    )


def _assigned_count(workload: Workload) -> int | None:
    """Of a job that was admitted with fewer pods than it asked for."""
    admission = workload.status.admission
    if admission is None or not admission.pod_set_assignments or not workload.spec.pod_sets:
        return None
    count = admission.pod_set_assignments[0].count
    return count if workload.spec.pod_sets[0].may_shrink else None
