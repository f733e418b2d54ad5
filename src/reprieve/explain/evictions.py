"""Who preempted whom, by the best source there is: a decision record, then a condition, then an event.

A record has everything. A condition on a victim names its preemptor as long as the victim exists. An event
names both, the node and the reason, for as long as the API server keeps events.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reprieve.explain.answer import Eviction
from reprieve.explain.evidence import Evidence, event_text, event_time, key_of, referenced
from reprieve.explain.reading import preemptor_uid, read_preemption
from reprieve.explain.sentences import answers
from reprieve.objects import Document, Reference, condition_of, well_known
from reprieve.quota import DUE_TO
from reprieve.scheduler import marks


def evictions_of_pod(key: str, pod: Document | None, evidence: Evidence) -> list[Eviction]:
    """The preemptions of this pod, newest first."""
    return (
        [eviction for eviction in _from_records(evidence) if eviction.victim == key]
        or ([eviction] if pod is not None and (eviction := _from_condition(pod)) else [])
        or [eviction for eviction in _from_events(evidence) if eviction.victim == key]
    )


def evictions_named(pattern: re.Pattern[str], evidence: Evidence) -> list[Eviction]:
    """The preemptions of pods whose keys match."""
    return _each_victim_once(each for each in _from_all(evidence) if pattern.fullmatch(each.victim))


def evictions_of_group(unit: str, pods: Iterable[Document], evidence: Evidence) -> list[Eviction]:
    """The preemptions of this group's pods. No event names a group: without records, only its pods count."""
    recorded = [
        _from_record(decision, victim)
        for decision in evidence.decisions
        for victim in decision.get("victims", ())
        if victim.get("unit") == unit
    ]
    return recorded or [eviction for pod in pods if (eviction := _from_condition(pod))]


def evictions_by(unit: str, evidence: Evidence) -> list[Eviction]:
    """The victims of this unit."""
    return _each_victim_once(eviction for eviction in _from_all(evidence) if eviction.by == unit)


def evictions_on(node: str, evidence: Evidence) -> list[Eviction]:
    """The victims on this node."""
    return _each_victim_once(eviction for eviction in _from_all(evidence) if eviction.node == node)


def evictions_of_workload(key: str, workload: Document | None, evidence: Evidence) -> list[Eviction]:
    """The preemptions of this workload, newest first."""
    recorded = [eviction for eviction in _from_records(evidence) if eviction.victim == key]
    preempted = condition_of(workload, well_known.PREEMPTED)
    if recorded or preempted.get("status") != "True":
        return recorded
    message, reason = (str(preempted.get(field, "")) for field in ("message", "reason"))
    return [
        Eviction(
            by=_workload_with(preemptor_uid(message), evidence),
            victim=key,
            time=str(preempted.get("lastTransitionTime", "")),
            reason=_in_full(reason) if reason in DUE_TO else answers.reason_and_message(reason, message),
            source="condition",
        )
    ]


def in_words(alternative: Mapping[str, Any]) -> str:
    """An alternative of a plan or a decision, as a sentence."""
    return answers.alternative(alternative.get("title", ""), alternative.get("victims") or ())


def _from_all(evidence: Evidence) -> Iterator[Eviction]:
    yield from _from_records(evidence)
    yield from _from_events(evidence)
    for pod in evidence.of_kind("Pod"):
        if eviction := _from_condition(pod):
            yield eviction


def _each_victim_once(evictions: Iterable[Eviction]) -> list[Eviction]:
    """A victim's best source counts; several evictions from that source are all kept."""
    best: dict[str, str] = {}
    return [
        eviction
        for eviction in evictions
        if best.setdefault(eviction.victim, eviction.source) == eviction.source
    ]


def _from_records(evidence: Evidence) -> Iterator[Eviction]:
    for decision in evidence.decisions:
        if decision.get("outcome") != "waits":
            for victim in decision.get("victims", ()):
                yield _from_record(decision, victim)


def _from_record(decision: Mapping[str, Any], victim: Mapping[str, Any]) -> Eviction:
    return Eviction(
        by=decision["for"],
        victim=victim.get("pod") or victim.get("workload") or "",
        time=str(decision.get("time", "")),
        node=victim.get("node", ""),
        reason=_in_full(victim.get("reason", "")),
        cost=dict(decision.get("cost") or {}),
        alternatives=[in_words(other) for other in decision.get("alternatives") or ()],
        source="record",
    )


def _in_full(reason: str) -> str:
    """A quota preemption's reason is one word in a record."""
    return answers.evicted_due_to(DUE_TO[reason]) if reason in DUE_TO else reason


def _from_condition(pod: Document) -> Eviction | None:
    mark = condition_of(pod, well_known.DISRUPTION_TARGET)
    if mark.get("status") != "True" or mark.get("reason") != well_known.PREEMPTION_BY_SCHEDULER:
        return None
    message = str(mark.get("message", ""))
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    origin = marks.origin(annotations, message)
    return Eviction(
        by=str(origin.unit) if origin else "",
        victim=key_of(pod),
        time=str(mark.get("lastTransitionTime", "")),
        node=str((pod.get("spec") or {}).get("nodeName", "")),
        reason=message,
        source="condition",
    )


def _from_events(evidence: Evidence) -> Iterator[Eviction]:
    for event in evidence.events_of(well_known.PREEMPTED_EVENT):
        victim = referenced(event.get("involvedObject") or event.get("regarding"))
        if victim is None or victim.kind != "Pod":
            continue
        node, why = read_preemption(event_text(event))
        yield Eviction(
            by=str(referenced(event.get("related")) or ""),
            victim=victim.key,
            time=event_time(event),
            node=node,
            reason=why,
            source="event",
        )


def _workload_with(uid: str, evidence: Evidence) -> str:
    """The workload with this uid, if it may be seen."""
    for workload in evidence.of_kind("Workload") if uid else ():
        if (workload.get("metadata") or {}).get("uid") == uid:
            return str(Reference.read(workload))
    return ""
