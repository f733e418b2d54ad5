"""Conditions and events for people."""

from collections.abc import Iterable, Mapping, Sequence

from reprieve.objects import (
    Pod,
    PodGroup,
    Reference,
    find_condition,
    scheduling,
    well_known,
)
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Emit, Evicted, SetGroupCondition, SetPodCondition


def not_scheduled(pod: Pod, reason: str, message: str) -> SetPodCondition | None:
    """The condition, unless the pod has it already."""
    now = find_condition(pod.status.conditions, well_known.POD_SCHEDULED)
    if now is not None and (now.status, now.reason, now.message) == ("False", reason, message):
        return None
    return SetPodCondition(Reference.to(pod), reason, message)


def first_reason(pod: Pod, reason: str, message: str) -> SetPodCondition | None:
    """The condition of a pod that has not been told yet why it waits."""
    known = find_condition(pod.status.conditions, well_known.POD_SCHEDULED)
    return SetPodCondition(Reference.to(pod), reason, message) if known is None else None


_SAID_ONLY_IF_TRUE = (well_known.PODS_NOT_MATCHING_PRIORITY, well_known.NOT_MATCHING_TEMPLATE)


def group_condition(
    group: PodGroup, type: str, status: str, reason: str, message: str
) -> SetGroupCondition | None:
    """The condition, unless the group has it already. A group that was scheduled stays `True` (`lapsed`)."""
    now = find_condition(group.status.conditions, type)
    if now is not None:
        if (now.status, now.reason, now.message) == (status, reason, message):
            return None
        if type == well_known.POD_GROUP_SCHEDULED and now.status == "True":
            return None
    elif type in _SAID_ONLY_IF_TRUE and status == "False":
        return None
    return SetGroupCondition(Reference.to(group), type, status, reason, message, group.metadata.generation)


def matching(group: PodGroup, divergence: str) -> SetGroupCondition | None:
    """Whether the group's pods match it, unless its condition says so already."""
    truth, reason = ("True", "PriorityMismatch") if divergence else ("False", "PrioritiesMatch")
    return group_condition(group, well_known.PODS_NOT_MATCHING_PRIORITY, truth, reason, divergence)


def like_template(group: PodGroup, contradiction: str) -> SetGroupCondition | None:
    """Whether the group says the same as the template of its Workload, unless its condition says so."""
    truth, reason = ("True", "Contradiction") if contradiction else ("False", "Matches")
    return group_condition(group, well_known.NOT_MATCHING_TEMPLATE, truth, reason, contradiction)


def diverging(workload: scheduling.Workload, group: Reference, text: str) -> Emit:
    """KEP-5710's draft has a condition for it; a Workload has no status, so an event says it there."""
    note = sentences.about_group(group.key, text)
    return Emit(
        Reference.to(workload), well_known.PODS_NOT_MATCHING_PRIORITY, note, "Scheduling", warning=True
    )


def old_link(pod: Reference) -> Emit:
    return Emit(pod, "WorkloadRefNotRead", sentences.OLD_LINK, "Scheduling", warning=True)


def lapsed(group: PodGroup) -> SetGroupCondition:
    """A group that was scheduled and has lost every pod is not: its condition is about its present pods."""
    text, generation = sentences.GROUP_LAPSED, group.metadata.generation
    return SetGroupCondition(
        Reference.to(group), well_known.POD_GROUP_SCHEDULED, "False", "Unscheduled", text, generation
    )


def failed(unit: Reference, message: str) -> Emit:
    return Emit(unit, "FailedScheduling", message, "Scheduling", warning=True)


def scheduled(pod: Reference, node: str) -> Emit:
    return Emit(pod, "Scheduled", sentences.assigned(pod.key, node), "Binding")


def queue_ignored(unit: Reference) -> Emit:
    return Emit(unit, "QueueIgnored", sentences.QUEUE_IGNORED, "Scheduling", warning=True)


def annotation_ignored(pod: Reference, notes: Mapping[str, str]) -> Emit:
    name = well_known.MIN_RUNTIME_ANNOTATION
    note = sentences.annotation_ignored(name, notes[name])
    return Emit(pod, "AnnotationIgnored", note, "Scheduling", warning=True)


def preempting(preemptor: Reference, victims: Sequence[Evicted]) -> Emit:
    note = sentences.preempting([victim.pod.key for victim in victims])
    return Emit(preemptor, "Preempting", note, "Preempting")


def preempted(victim: Evicted, preemptor: Reference) -> Emit:
    word = "podgroup" if preemptor.kind == "PodGroup" else "pod"
    note = sentences.preempted_by(word, preemptor.key, preemptor.uid, victim.node, victim.reason)
    return Emit(victim.pod, well_known.PREEMPTED_EVENT, note, "Preempting", related=preemptor)


def released(pod: Evicted, group: Reference) -> Emit:
    note = sentences.released_from(pod.node, pod.reason)
    return Emit(pod.pod, "Released", note, "Releasing", related=group)


def releasing(group: Reference, text: str) -> Emit:
    return Emit(group, "GangReleased", sentences.releasing(text), "Releasing", warning=True)


def withdrawn(preemptor: Reference, message: str) -> Emit:
    return Emit(preemptor, "PreemptionFailed", message, "Preempting", warning=True)


def mismatch(
    strangers: Iterable[str], unequal: Iterable[str], scheduler: str, priority: int, *, ruled: bool
) -> str:
    """Which pods do not fit their group, and in what. `ruled`: the group's priority counts for all."""
    return sentences.group_mismatch(scheduler, list(strangers), priority, list(unequal), ruled=ruled)
