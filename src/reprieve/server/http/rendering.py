"""Records as bytes of an answer. Stored bytes are sent as they are; only other versions and forms cost."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from reprieve.objects import format_yaml
from reprieve.server.http.negotiation import JSON, YAML, Output
from reprieve.server.operations.groups import placed_pods
from reprieve.server.operations.reads import Page
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Record
from reprieve.server.tables import Placed, to_table

encode = msgspec.json.Encoder().encode


class Renderer:
    """How one request wants its objects."""

    def __init__(
        self,
        resource: ResourceInfo,
        output: Output,
        include_object: str,
        now: datetime,
        pods: Callable[[], Iterable[Record]] | None = None,
    ) -> None:
        """`pods`: those that a table of groups counts."""
        self._resource = resource
        self._pods = pods
        self._seen: list[Record] | None = None
        self._placed: Placed | None = None
        self._output = output
        self._include = include_object or "Metadata"
        self._now = now
        self._named_columns = False
        self.content_type = YAML if output.form == "yaml" else JSON
        self._stored = f'{{"apiVersion":"{resource.storage_api_version}",'.encode()
        self._served = f'{{"apiVersion":"{resource.api_version}",'.encode()

    def begin(self, records: Sequence[Record]) -> int:
        """How many bytes have to be read and written anew to render them.

        Asked in the loop, right before they are rendered in whatever thread: a table of groups counts the
        pods of this moment, once for all of them.
        """
        if self._output.form == "json" and not self._resource.converts:
            return 0
        self._placed = None
        self._seen = list(self._pods()) if self._pods is not None and self._output.form == "table" else None
        return sum(len(record.raw) for record in (*records, *(self._seen or ())))

    def raw(self, record: Record) -> bytes:
        """JSON of the object in the requested version."""
        if not self._resource.converts:
            return record.raw
        if self._resource.twin is not None or self._resource.downgrade is not None:
            return encode(self._resource.from_storage(record.object))
        return self._served + record.raw[len(self._stored) :]

    def object(self, record: Record) -> bytes:
        form = self._output.form
        if form == "json":
            return self.raw(record)
        document = msgspec.json.decode(self.raw(record))
        if form == "table":
            table = self._table([document])
            table["metadata"] = {"resourceVersion": document["metadata"].get("resourceVersion", "")}
            return encode(table)
        return self._other(document)

    def event_object(self, record: Record) -> bytes:
        """One object of a watch stream. Tables name their columns once, at the first event."""
        if self._output.form in ("json", "yaml"):
            return self.raw(record)
        if self._output.form != "table" or not self._named_columns:
            self._named_columns = True
            return self.object(record)
        table = msgspec.json.decode(self.object(record))
        table["columnDefinitions"] = None
        return encode(table)

    def page(self, page: Page) -> bytes:
        resource = self._resource
        meta: dict[str, Any] = {"resourceVersion": str(page.revision)}
        if page.continue_:
            meta["continue"] = page.continue_
            if page.remaining is not None:
                meta["remainingItemCount"] = page.remaining
        form = self._output.form
        if form == "json":
            head = encode({"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": meta})
            if not resource.converts:
                return b'%b,"items":[%b]}' % (head[:-1], b",".join([r.raw for r in page.records]))
            return b'%b,"items":[%b]}' % (head[:-1], b",".join([self.raw(r) for r in page.records]))
        documents = [msgspec.json.decode(self.raw(record)) for record in page.records]
        if form == "table":
            table = self._table(documents)
            table["metadata"] = meta
            return encode(table)
        if form == "partial":
            items = [_partial(d) for d in documents]
            return encode(
                {
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": meta,
                    "items": items,
                }
            )
        whole = {
            "apiVersion": resource.api_version,
            "kind": resource.list_kind,
            "metadata": meta,
            "items": documents,
        }
        return to_yaml(whole)

    def _other(self, document: dict[str, Any]) -> bytes:
        return encode(_partial(document)) if self._output.form == "partial" else to_yaml(document)

    def _table(self, documents: list[dict[str, Any]]) -> dict[str, Any]:
        if self._placed is None and self._seen is not None:
            self._placed = placed_pods(self._seen)
        table = to_table(self._resource, documents, self._include, self._now, self._placed)
        table["apiVersion"] = f"meta.k8s.io/{self._output.table_version}"
        return table


def _partial(document: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": document["metadata"]}


def to_yaml(document: Any) -> bytes:
    return format_yaml([document]).encode()


def success_status(code: int, **details: Any) -> bytes:
    status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = {key: value for key, value in details.items() if value}
    if code != 200:
        status["code"] = code
    return encode(status)
