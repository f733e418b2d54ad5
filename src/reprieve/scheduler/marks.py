"""The mark on a victim: its DisruptionTarget condition, written for people and read back after a restart.

The text begins as kube-scheduler's does; then it names the preemptor, so that whoever starts with nothing but the API objects
knows for whom a pod was to make way.
"""

import re
from typing import NamedTuple

from reprieve.objects import Pod, Reference, find_condition, well_known

_TEXT = re.compile(
    r"^(?P<scheduler>\S+): preempting to accommodate a higher priority (?P<kind>pod|podgroup) (?P<key>[^\s(]+)"
)
_KINDS = {"pod": "Pod", "podgroup": "PodGroup"}
_WORDS = {kind: word for word, kind in _KINDS.items()}


class Mark(NamedTuple):
    scheduler: str
    preemptor: Reference


def message(scheduler: str, preemptor: Reference, priority: int, why: str) -> str:
    """Who preempts, and why."""
    who = f"{_WORDS[preemptor.kind]} {preemptor.key} (priority {priority})"
    text = f"{scheduler}: preempting to accommodate a higher priority {who}"
    return f"{text}: {why}" if why else text


def read(pod: Pod) -> Mark | None:
    """The mark a scheduler of ours left on a pod; kube-scheduler's own marks name nobody and are not ours to finish."""
    condition = find_condition(pod.status.conditions, well_known.DISRUPTION_TARGET)
    if (
        condition is None
        or condition.status != "True"
        or condition.reason != well_known.PREEMPTION_BY_SCHEDULER
    ):
        return None
    found = _TEXT.match(condition.message)
    return found and Mark(found["scheduler"], _preemptor(found))


def preemptor_in(text: str) -> Reference | None:
    """The preemptor that a mark's message names; kube-scheduler's messages name none."""
    found = _TEXT.match(text)
    return found and _preemptor(found)


def _preemptor(found: re.Match[str]) -> Reference:
    return Reference.of(_KINDS[found["kind"]], found["key"])
