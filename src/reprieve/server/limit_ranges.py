"""The LimitRanges of each namespace that has any, as they are stored; what they mean is in `admission`."""

from reprieve.objects import Document, raw
from reprieve.server.storage import DELETED, Change, Record, Store

_RESOURCE = "limitranges"


class LimitRanges:
    def __init__(self, store: Store) -> None:
        self._limits: dict[str, dict[str, list[Document]]] = {}
        for record in store.collection(_RESOURCE).scan(None):
            self._note(record, gone=False)
        store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.storage_key == _RESOURCE:
                self._note(change.record, change.type == DELETED)

    def _note(self, record: Record, gone: bool) -> None:
        ranges = self._limits.setdefault(record.namespace, {})
        ranges.pop(record.name, None)
        if not gone:
            ranges[record.name] = raw.items(record.object, "spec", "limits")
        if not ranges:
            del self._limits[record.namespace]

    def apply_to(self, namespace: str) -> bool:
        return namespace in self._limits

    def of(self, document: Document) -> list[list[Document]]:
        """The limits that hold in the document's namespace, by LimitRange."""
        return [*self._limits.get(document["metadata"].get("namespace", ""), {}).values()]
