"""All objects of one resource: current ones by namespace and name, and the changes that led here.

Lists cost what they return: names are kept sorted by namespace, and sorting costs as much as there were
changes since the last list, not as there are objects. A past state is the current one with the later changes
undone, so paging through a list sees one consistent revision without keeping copies.
"""

from bisect import bisect_right
from collections.abc import Iterator

from reprieve.server.storage.records import DELETED, Change, Record


class Bucket:
    """The objects of one namespace (or all, for a cluster-scoped resource), in name order on demand."""

    __slots__ = ("_added", "_order", "_removed", "records")

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self._order: list[str] = []
        self._added: set[str] = set()
        self._removed: set[str] = set()

    def put(self, record: Record) -> None:
        name = record.name
        if name not in self.records:
            if name in self._removed:
                self._removed.discard(name)
            else:
                self._added.add(name)
        self.records[name] = record

    def remove(self, name: str) -> None:
        if self.records.pop(name, None) is not None:
            if name in self._added:
                self._added.discard(name)
            else:
                self._removed.add(name)

    def names(self) -> list[str]:
        """Sorted; two sorted runs merge in linear time."""
        if self._removed:
            self._order = [name for name in self._order if name not in self._removed]
            self._removed.clear()
        if self._added:
            self._order.extend(sorted(self._added))
            self._order.sort()
            self._added.clear()
        return self._order


Past = dict[tuple[str, str], Record | None]
"""What differed at an earlier revision: the record then, or None where there was none."""


class Collection:
    def __init__(self) -> None:
        self.buckets: dict[str, Bucket] = {}
        self.count = 0
        self.changes: list[Change] = []
        self._revisions: list[int] = []

    def get(self, namespace: str, name: str) -> Record | None:
        bucket = self.buckets.get(namespace)
        return bucket.records.get(name) if bucket is not None else None

    def apply(self, change: Change, remember: bool = True) -> None:
        record = change.record
        bucket = self.buckets.get(record.namespace)
        if bucket is None:
            bucket = self.buckets[record.namespace] = Bucket()
        before = len(bucket.records)
        if change.type == DELETED:
            bucket.remove(record.name)
            if not bucket.records:
                del self.buckets[record.namespace]
        else:
            bucket.put(record)
        self.count += len(bucket.records) - before
        if remember:
            self.changes.append(change)
            self._revisions.append(change.revision)

    def since(self, revision: int) -> list[Change]:
        """Changes after a revision, oldest first. The caller has checked that it is not compacted."""
        return self.changes[bisect_right(self._revisions, revision) :]

    def until(self, revision: int) -> list[Change]:
        """Changes up to a revision, oldest first."""
        return self.changes[: bisect_right(self._revisions, revision)]

    def forget(self, revision: int) -> None:
        """Drop the changes up to a revision."""
        cut = bisect_right(self._revisions, revision)
        del self.changes[:cut], self._revisions[:cut]

    def past(self, revision: int) -> Past:
        """What to undo to see the state at a revision."""
        undo: Past = {}
        for change in reversed(self.since(revision)):
            undo[change.record.namespace, change.record.name] = change.previous
        return undo

    def scan(
        self, namespace: str | None, after: tuple[str, str] = ("", ""), past: Past | None = None
    ) -> Iterator[Record]:
        """Records in (namespace, name) order, strictly after a key, as they were in the given past."""
        past = past or {}
        gone = sorted(key for key in past if self.get(*key) is None)
        for each in self._namespaces(namespace, gone):
            if each < after[0]:
                continue
            start = after[1] if each == after[0] else ""
            yield from self._scan_bucket(each, start, past, [name for ns, name in gone if ns == each])

    def _namespaces(self, namespace: str | None, gone: list[tuple[str, str]]) -> list[str]:
        if namespace is not None:
            return [namespace]
        return sorted({*self.buckets, *(ns for ns, _ in gone)})

    def _scan_bucket(self, namespace: str, after: str, past: Past, gone: list[str]) -> Iterator[Record]:
        bucket = self.buckets.get(namespace)
        names = bucket.names() if bucket is not None else []
        if gone:
            names = sorted([*names, *gone])
        start = bisect_right(names, after) if after else 0
        records = bucket.records if bucket is not None else {}
        if not past:
            for i in range(start, len(names)):
                yield records[names[i]]
            return
        for i in range(start, len(names)):
            name = names[i]
            record = past[namespace, name] if (namespace, name) in past else records.get(name)
            if record is not None:
                yield record
