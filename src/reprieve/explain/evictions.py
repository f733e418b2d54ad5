"""Who took whose place, by the best witness there is: a decision record, then a condition, then an event.

A record knows everything. A condition on a victim names its preemptor as long as the victim exists. An event names both, the node and
the reason, for as long as the API server keeps events.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reprieve.explain.answer import Episode
from reprieve.explain.evidence import Evidence, condition, event_text, event_time, key_of, named
from reprieve.objects import Document
from reprieve.quota import DUE_TO
from reprieve.scheduler import CONDITION, REASON, preemptor_in

PREEMPTED = "Preempted"
_EVENT = re.compile(r"^Preempted by .*? on node (?P<node>[^\s:]+)(?:: (?P<why>.*))?$", re.DOTALL)
_WORKLOAD = re.compile(r"accommodate a workload \(UID: (?P<uid>[^,)]+)")


def evictions_of_pod(key: str, pod: Document | None, evidence: Evidence) -> list[Episode]:
    """Who took this pod's place, newest first."""
    return (
        [told for told in _recorded(evidence) if told.victim == key]
        or ([told] if pod is not None and (told := _marked(pod)) else [])
        or [told for told in _reported(evidence) if told.victim == key]
    )


def evictions_of_group(unit: str, pods: Iterable[Document], evidence: Evidence) -> list[Episode]:
    """Who took the places of this group's pods. Without records only pods that still exist can tell: no event names a group."""
    recorded = [
        _recorded_one(decision, victim)
        for decision in evidence.decisions
        for victim in decision.get("victims", ())
        if victim.get("unit") == unit
    ]
    return recorded or [told for pod in pods if (told := _marked(pod))]


def evictions_by(unit: str, evidence: Evidence) -> list[Episode]:
    """Whom this unit displaced."""
    return _each_victim_once(told for told in _everything(evidence) if told.by == unit)


def evictions_on(node: str, evidence: Evidence) -> list[Episode]:
    """Who had to leave this node."""
    return _each_victim_once(told for told in _everything(evidence) if told.node == node)


def evictions_of_workload(key: str, workload: Document | None, evidence: Evidence) -> list[Episode]:
    """Who got this workload's quota, newest first."""
    recorded = [told for told in _recorded(evidence) if told.victim == key]
    preempted = condition(workload, PREEMPTED)
    if recorded or preempted.get("status") != "True":
        return recorded
    message = str(preempted.get("message", ""))
    due_to = _in_full(str(preempted.get("reason", "")))
    return [
        Episode(
            by=_workload_with(_WORKLOAD.search(message), evidence),
            victim=key,
            time=str(preempted.get("lastTransitionTime", "")),
            reason=due_to if due_to.startswith("due to") else f"{due_to}: {message}".strip(": "),
            source="condition",
        )
    ]


def in_words(alternative: Mapping[str, Any]) -> str:
    """One of the other ways that a plan or a decision carries."""
    victims = alternative.get("victims") or ()
    who = f"{', '.join(victims)} would make way" if victims else "nobody would have to go"
    return f"{alternative.get('title', 'otherwise')}: {who}"


def _everything(evidence: Evidence) -> Iterator[Episode]:
    yield from _recorded(evidence)
    yield from _reported(evidence)
    for pod in evidence.of_kind("Pod"):
        if told := _marked(pod):
            yield told


def _each_victim_once(episodes: Iterable[Episode]) -> list[Episode]:
    """The first witness counts, unless a later one tells of another time by the same word."""
    best: dict[str, str] = {}
    return [told for told in episodes if best.setdefault(told.victim, told.source) == told.source]


def _recorded(evidence: Evidence) -> Iterator[Episode]:
    for decision in evidence.decisions:
        if decision.get("outcome") != "waits":
            for victim in decision.get("victims", ()):
                yield _recorded_one(decision, victim)


def _recorded_one(decision: Mapping[str, Any], victim: Mapping[str, Any]) -> Episode:
    return Episode(
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
    return f"due to {DUE_TO[reason]}" if reason in DUE_TO else reason


def _marked(pod: Document) -> Episode | None:
    mark = condition(pod, CONDITION)
    if mark.get("status") != "True" or mark.get("reason") != REASON:
        return None
    message = str(mark.get("message", ""))
    return Episode(
        by=preemptor_in(message) or "",
        victim=key_of(pod),
        time=str(mark.get("lastTransitionTime", "")),
        node=str((pod.get("spec") or {}).get("nodeName", "")),
        reason=message,
        source="condition",
    )


def _reported(evidence: Evidence) -> Iterator[Episode]:
    for event in evidence.events_of(PREEMPTED):
        kind, _, victim = named(event.get("involvedObject") or event.get("regarding")).partition("/")
        if kind != "Pod":
            continue
        text = event_text(event)
        told = _EVENT.match(text)
        yield Episode(
            by=named(event.get("related")),
            victim=victim,
            time=event_time(event),
            node=told["node"] if told else "",
            reason=(told["why"] or "") if told else text,
            source="event",
        )


def _workload_with(uid: re.Match[str] | None, evidence: Evidence) -> str:
    """The workload whose uid a message names, if it may be seen."""
    for workload in evidence.of_kind("Workload") if uid else ():
        if (workload.get("metadata") or {}).get("uid") == uid["uid"]:  # type: ignore[index]
            return f"Workload/{key_of(workload)}"
    return ""
