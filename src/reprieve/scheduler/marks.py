"""The mark on a pod that is about to be evicted: a condition for people and an annotation for programs.

Both go to the API server in one patch of the pod's status, whose endpoint takes annotations as well, so a
crash leaves both or neither. Recovery reads the annotation: editing the sentence breaks nothing. Marks of
older versions, which wrote the sentence alone, are still understood; only `_SENTENCE` reads it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from reprieve.objects import Pod, Reference, ReprieveError, find_condition, well_known
from reprieve.scheduler import sentences

RELEASED = "IncompleteGang"
"""Reason of the condition of a released pod (`incomplete.py`)."""

_SENTENCE = re.compile(
    r"^(?P<scheduler>\S+): (?:preempting to accommodate a higher priority|releasing the pods of) "
    r"(?P<kind>pod|podgroup) (?P<key>[^\s(:]+)"
)
_KINDS = {"pod": "Pod", "podgroup": "PodGroup"}
_WORDS = {kind: word for word, kind in _KINDS.items()}


class Mark(NamedTuple):
    """What is written on the pod."""

    reason: str
    message: str
    annotation: str


class Origin(NamedTuple):
    """What is read back: which scheduler marked the pod, and for which unit."""

    scheduler: str
    unit: Reference
    """The preemptor, or the gang that is released; without its UID, like all units of the scheduler."""


class _Data(msgspec.Struct, frozen=True, omit_defaults=True):
    scheduler: str
    unit: str = msgspec.field(name="for")
    uid: str = ""


def preemption(scheduler: str, preemptor: Reference, priority: int, why: str) -> Mark:
    text = sentences.preempting_for(scheduler, _WORDS[preemptor.kind], preemptor.key, priority, why)
    return Mark(well_known.PREEMPTION_BY_SCHEDULER, text, _annotation(scheduler, preemptor))


def release(scheduler: str, group: Reference, why: str) -> Mark:
    text = sentences.releasing_pods_of(scheduler, group.key, why)
    return Mark(RELEASED, text, _annotation(scheduler, group))


def read(pod: Pod, reason: str = well_known.PREEMPTION_BY_SCHEDULER) -> Origin | None:
    """The origin of the pod's mark, if it has one for this reason that a scheduler of this project wrote."""
    condition = find_condition(pod.status.conditions, well_known.DISRUPTION_TARGET)
    if condition is None or (condition.status, condition.reason) != ("True", reason):
        return None
    return origin(pod.metadata.annotations, condition.message)


def origin(annotations: Mapping[str, str], message: str) -> Origin | None:
    """Of a mark with this message on a pod with these annotations; kube-scheduler's own marks have none."""
    try:
        data = msgspec.json.decode(annotations.get(well_known.EVICTED_FOR_ANNOTATION, ""), type=_Data)
        return Origin(data.scheduler, Reference.parse(data.unit, _WORDS))
    except (msgspec.MsgspecError, RecursionError, ReprieveError):
        pass  # an older mark, or somebody has edited the annotation: the sentence is what there is
    found = _SENTENCE.match(message)
    return found and Origin(found["scheduler"], Reference.of(_KINDS[found["kind"]], found["key"]))


def _annotation(scheduler: str, unit: Reference) -> str:
    return msgspec.json.encode(_Data(scheduler, str(unit), unit.uid)).decode()
