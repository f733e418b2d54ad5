"""What is known: objects, events and records of controllers, with the look-ups that explanations need."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reprieve.objects import Document, Reference, Source, document_of
from reprieve.records import Run


class Evidence:
    """Everything the reader may see. `not_shown` lists what was left out."""

    def __init__(
        self,
        objects: Iterable[Document],
        events: Iterable[Document] = (),
        decisions: Iterable[Mapping[str, Any]] = (),
        not_shown: Iterable[str] = (),
        partial: bool = False,
        runs: Iterable[Run] = (),
    ) -> None:
        self.objects = list(objects)
        self.events = list(events)
        self.decisions = list(decisions)
        """Newest first, as a controller serves them."""
        self.not_shown = list(not_shown)
        self.partial = partial
        """Objects are missing that a plan would need: what looks free may not be."""
        self.runs = list(runs)
        """What has ended and for how long it ran, as controllers noted it."""

    def with_objects(self, objects: Iterable[Document | Source]) -> "Evidence":
        """The same with other objects."""
        documents = map(document_of, objects)
        return Evidence(documents, self.events, self.decisions, self.not_shown, self.partial, self.runs)

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
    return Reference.read(document).key


def event_time(event: Document) -> str:
    series = event.get("series") or {}
    return str(series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or "")


def event_text(event: Document) -> str:
    return str(event.get("message") or event.get("note") or "")


def referenced(reference: Mapping[str, Any] | None) -> Reference | None:
    """The object that an event refers to, if it names one."""
    return Reference.read(reference) if reference and reference.get("name") else None
