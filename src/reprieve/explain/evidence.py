"""What is known: objects, events and decision records, with the look-ups that explanations need."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reprieve.explain.answer import Episode
from reprieve.objects.errors import ReprieveError
from reprieve.objects.meta import Document

PREEMPTED_CONDITION = "DisruptionTarget"
PREEMPTED_REASON = "PreemptionByScheduler"
CLUSTER_SCOPED = ("Node", "ClusterQueue", "Cohort")


class Target:
    """`KIND/NAMESPACE/NAME`, or `KIND/NAME` for kinds without a namespace (and for the namespace `default`)."""

    def __init__(self, text: str) -> None:
        kind, *rest = text.strip("/").split("/")
        kind = _KINDS.get(kind.lower(), "")
        if not kind or not 1 <= len(rest) <= 2 or not all(rest):
            raise ReprieveError(
                f"{text!r} names nothing to explain; write KIND/NAMESPACE/NAME, for instance Pod/ml/train-0, "
                f"with KIND one of {', '.join(sorted(set(_KINDS.values())))}"
            )
        self.kind = kind
        self.name = rest[-1]
        self.namespace = "" if kind in CLUSTER_SCOPED else (rest[0] if len(rest) == 2 else "default")
        self.key = f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        return f"{self.kind}/{self.key}"


_KINDS = {
    **dict.fromkeys(("pod", "pods", "po"), "Pod"),
    **dict.fromkeys(("podgroup", "podgroups", "pg"), "PodGroup"),
    **dict.fromkeys(("workload", "workloads", "wl"), "Workload"),
    **dict.fromkeys(("clusterqueue", "clusterqueues", "cq"), "ClusterQueue"),
    **dict.fromkeys(("localqueue", "localqueues", "lq", "queue"), "LocalQueue"),
    **dict.fromkeys(("node", "nodes", "no"), "Node"),
}


class Evidence:
    """Everything the asker may read. `not_shown` says what was left out."""

    def __init__(
        self,
        objects: Iterable[Document],
        events: Iterable[Document] = (),
        decisions: Iterable[Mapping[str, Any]] = (),
        not_shown: Iterable[str] = (),
    ) -> None:
        self.objects = list(objects)
        self.events = list(events)
        self.decisions = list(decisions)
        """Newest first, as a controller serves them."""
        self.not_shown = list(not_shown)

    def find(self, kind: str, key: str) -> Document | None:
        return next((o for o in self.of_kind(kind) if key_of(o) == key), None)

    def of_kind(self, kind: str) -> Iterator[Document]:
        wanted = "kueue.x-k8s.io/" if kind in ("Workload", "ClusterQueue", "LocalQueue") else ""
        for document in self.objects:
            if document.get("kind") == kind and str(document.get("apiVersion", "")).startswith(wanted):
                yield document

    def events_about(self, kind: str, key: str, reason: str) -> Iterator[Document]:
        """Newest first."""
        found = [e for e in self.events if e.get("reason") == reason and _about(e) == (kind, key)]
        yield from sorted(found, key=event_time, reverse=True)

    def evictions_of(self, key: str) -> Iterator[Episode]:
        """Who took this pod's or workload's place, as the records tell."""
        for decision in self.decisions:
            for victim in decision.get("victims", ()):
                if key in (victim.get("pod"), victim.get("workload")):
                    yield episode(decision, victim)

    def evictions_of_unit(self, unit: str) -> Iterator[Episode]:
        """Who took the place of this group's pods, as the records tell."""
        for decision in self.decisions:
            for victim in decision.get("victims", ()):
                if victim.get("unit") == unit:
                    yield episode(decision, victim)

    def evictions_for(self, unit: str) -> Iterator[Episode]:
        """Whom this unit preempted, as the records tell."""
        for decision in self.decisions:
            if decision.get("for") == unit and decision.get("outcome") != "waits":
                for victim in decision.get("victims", ()):
                    yield episode(decision, victim)


def episode(decision: Mapping[str, Any], victim: Mapping[str, Any]) -> Episode:
    return Episode(
        by=decision["for"],
        victim=victim.get("pod") or victim.get("workload") or "",
        time=str(decision.get("time", "")),
        node=victim.get("node", ""),
        reason=victim.get("reason", ""),
        cost=dict(decision.get("cost") or {}),
        alternatives=[in_words(other) for other in decision.get("alternatives") or ()],
        source="record",
    )


def in_words(alternative: Mapping[str, Any]) -> str:
    """One of the other ways that a plan or a decision carries."""
    victims = alternative.get("victims") or ()
    who = f"{', '.join(victims)} would make way" if victims else "nobody would have to go"
    return f"{alternative.get('title', 'otherwise')}: {who}"


def key_of(document: Document) -> str:
    metadata = document.get("metadata") or {}
    if document.get("kind") in CLUSTER_SCOPED:
        return str(metadata.get("name", ""))
    return f"{metadata.get('namespace') or 'default'}/{metadata.get('name', '')}"


def condition(document: Document | None, type: str) -> dict[str, Any]:
    """The condition of this type, or an empty one."""
    for entry in ((document or {}).get("status") or {}).get("conditions") or ():
        if entry.get("type") == type:
            return dict(entry)
    return {}


def event_time(event: Document) -> str:
    series = event.get("series") or {}
    return str(series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or "")


def event_text(event: Document) -> str:
    return str(event.get("message") or event.get("note") or "")


def _about(event: Document) -> tuple[str, str]:
    about = event.get("involvedObject") or event.get("regarding") or {}
    kind, name = str(about.get("kind", "")), str(about.get("name", ""))
    return kind, name if kind in CLUSTER_SCOPED else f"{about.get('namespace') or 'default'}/{name}"
