"""What is known: objects, events and decision records, with the look-ups that explanations need."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reprieve.objects import Document, ReprieveError

CLUSTER_SCOPED = ("Node", "ClusterQueue", "Cohort")


class Target:
    """`KIND/NAMESPACE/NAME`, or `KIND/NAME` for kinds without a namespace and for the namespace `default`."""

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
    """Everything the reader may see. `not_shown` lists what was left out."""

    def __init__(
        self,
        objects: Iterable[Document],
        events: Iterable[Document] = (),
        decisions: Iterable[Mapping[str, Any]] = (),
        not_shown: Iterable[str] = (),
        partial: bool = False,
    ) -> None:
        self.objects = list(objects)
        self.events = list(events)
        self.decisions = list(decisions)
        """Newest first, as a controller serves them."""
        self.not_shown = list(not_shown)
        self.partial = partial
        """Objects are missing that a plan would need: what looks free may not be."""

    def find(self, kind: str, key: str) -> Document | None:
        return next((o for o in self.of_kind(kind) if key_of(o) == key), None)

    def of_kind(self, kind: str) -> Iterator[Document]:
        wanted = "kueue.x-k8s.io/" if kind in ("Workload", "ClusterQueue", "LocalQueue") else ""
        for document in self.objects:
            if document.get("kind") == kind and str(document.get("apiVersion", "")).startswith(wanted):
                yield document

    def events_of(self, reason: str) -> list[Document]:
        """Newest first."""
        return sorted((e for e in self.events if e.get("reason") == reason), key=event_time, reverse=True)


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


def named(reference: Mapping[str, Any] | None) -> str:
    """An object reference as `KIND/NAMESPACE/NAME`; empty for none."""
    if not reference or not reference.get("name"):
        return ""
    kind, name = str(reference.get("kind", "")), str(reference["name"])
    return (
        f"{kind}/{name}"
        if kind in CLUSTER_SCOPED
        else f"{kind}/{reference.get('namespace') or 'default'}/{name}"
    )
