"""Raw documents in controllers: their versions and our own latest writes."""

from datetime import UTC, datetime

from reprieve.objects import Document


def utc_now() -> datetime:
    return datetime.now(UTC)


def revision_of(document: Document) -> int:
    """Resource versions of one collection grow; the API guarantees it since 1.35."""
    return int(document["metadata"].get("resourceVersion") or 0)


class OwnWrites:
    """What we wrote and the watch has not shown yet, by key: the next decision must not act on the past."""

    def __init__(self) -> None:
        self._answers: dict[str, Document] = {}

    def note(self, key: str, answer: Document) -> None:
        self._answers[key] = answer

    def forget(self, key: str) -> None:
        self._answers.pop(key, None)

    def clear(self) -> None:
        self._answers.clear()

    def newest(self, key: str, seen: Document | None) -> Document | None:
        """What the watch has seen, or our own write if that is newer."""
        answer = self._answers.get(key)
        if answer is None:
            return seen
        if seen is None or revision_of(seen) < revision_of(answer):
            return answer
        del self._answers[key]
        return seen
