"""How far a job is, as its status tells: over, still there, pods that are done."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from reprieve.jobs import sentences
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import MOST, Place, at, entries, mapping, number
from reprieve.jobs.pod_sets import PodSet, name_of
from reprieve.jobs.rows import JobKind, StatusRule
from reprieve.objects import Document, InvalidObject, well_known

_INTERVAL = re.compile(r"(\d+)(?:-(\d+))?")
_SUCCEEDED = frozenset({"Complete", "Completed", "Succeeded", "Finished"})
_ENDED = _SUCCEEDED | {"Failed"}
"""Conditions with which kinds of jobs say that they are over."""


class Progress(NamedTuple):
    pods: int
    """That the status still counts."""
    stopped: bool
    """A job that is suspended has been seen to be so by its own controller."""
    done: dict[str, int]
    """By pod set, pods that are not started again."""
    ready: int | None
    """Pods that are ready or have succeeded; None where the status does not count them."""


def ending(document: Document, kinds: JobKinds | None = None) -> Document | None:
    """The condition with which a job says that it is over, or what its phase means; None while it is not."""
    root = Place("", document)
    conditions = mapping(root, "status").get("conditions") or ()
    for each in conditions:
        if each.get("type") in _ENDED and each.get("status") == "True":
            return dict(each)
    kind = (kinds or _TABLE).find(document)
    if kind is None or not kind.status.phase:
        return None
    phase, rule = at(root, kind.status.phase), kind.status
    if phase.value in (*rule.succeeded_phases, *rule.failed_phases):
        type_ = "Succeeded" if phase.value in rule.succeeded_phases else well_known.JOB_FAILED
        return {"type": type_, "status": "True", "message": sentences.phase_is(phase.path, phase.value)}
    return None


def has_failed(end: Document) -> bool:
    """Of a condition that `ending` found."""
    return end.get("type") == well_known.JOB_FAILED


def progress(document: Document, kind: JobKind, sets: Iterable[PodSet]) -> Progress:
    """What the status says; numbers that make no sense count as none."""
    root, rule = Place("", document), kind.status
    counted = sum(_number(root, path) for path in rule.pods)
    done: dict[str, int] = {}
    parts = {name_of(part, rule.name).lower(): part for part in _parts(root, rule.pod_sets)}
    counted += sum(_number(part, "active") for part in parts.values())
    for each in sets:
        inner = each.factors[-1] if len(each.factors) > 1 else 1
        if each.name in parts:
            done[each.name] = min(each.count, _number(parts[each.name], "succeeded") * inner)
        elif rule.succeeded and each.rule.at_most:
            done[each.name] = _not_needed(root, each, _ended(root, each, rule))
    stopped = not rule.started or not at(root, rule.started).value or _says_suspended(root)
    ready = _number(root, rule.ready) + _number(root, rule.succeeded) if rule.ready else None
    return Progress(counted, stopped, {name: count for name, count in done.items() if count}, ready)


def pod_labels(document: Document, kind: JobKind) -> dict[str, str]:
    """Labels by which the pods of a job are known; without those whose value the job does not say yet."""
    found = {label: at(Place("", document), path).value for label, path in kind.pods_by.items()}
    return {label: value for label, value in found.items() if isinstance(value, str) and value}


def _parts(root: Place, path: str) -> list[Place]:
    try:
        return list(entries(root, path)) if path else []
    except InvalidObject:
        return []


def _number(root: Place, path: str) -> int:
    try:
        return number(root, path, 0)
    except InvalidObject:
        return 0


def _ended(root: Place, pod_set: PodSet, rule: StatusRule) -> int:
    """How many pods are not run again. Of pods with numbers also those that have failed for good count."""
    field, _, value = pod_set.rule.index_if.partition("=")
    told = [str(at(root, path).value or "") for path in rule.indexes]
    if not any(told) or at(at(root, pod_set.rule.at), field).value != value:
        return _number(root, rule.succeeded)
    total = _total(root, pod_set)
    found: set[int] = set()
    for text in told:
        for first, last in _INTERVAL.findall(text):
            found.update(range(int(first), min(int(last or first), total - 1) + 1))
    return len(found)


def _not_needed(root: Place, pod_set: PodSet, ended: int) -> int:
    """Fewer completions are left than pods may run at once."""
    return max(0, pod_set.count - max(0, _total(root, pod_set) - ended)) if ended else 0


def _total(root: Place, pod_set: PodSet) -> int:
    return number(at(root, pod_set.rule.at), pod_set.rule.at_most, MOST)


def _says_suspended(root: Place) -> bool:
    conditions = mapping(root, "status").get("conditions") or ()
    return any(
        each.get("type") == well_known.JOB_SUSPENDED and each.get("status") == "True" for each in conditions
    )


_TABLE = JobKinds()
