"""The two values storage deals in: a stored object and something that happened to one."""

from sys import intern
from typing import Any, Final

import msgspec

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"

encode = msgspec.json.Encoder().encode
decode_any = msgspec.json.Decoder().decode


class _Meta(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Labelled(msgspec.Struct, gc=False):
    metadata: _Meta


def interned(labels: dict[str, str] | None) -> dict[str, str] | None:
    """The same labels; strings that many objects share are kept once."""
    return {intern(key): intern(value) for key, value in labels.items()} if labels else None


_decode_labels = msgspec.json.Decoder(_Labelled).decode


class Record(msgspec.Struct, gc=False, eq=False, frozen=True):
    """An object as it was at one revision. The bytes are encoded once and served as they are.

    The document starts with `apiVersion` and `kind` (see `Store.put`), so that another version of the same
    resource can be served by replacing a prefix.
    """

    storage_key: str
    """Storage key of the resource, for instance `jobs.batch`."""
    namespace: str
    name: str
    revision: int
    raw: bytes
    labels: dict[str, str] | None

    @property
    def object(self) -> dict[str, Any]:
        """A fresh document, the caller's to change."""
        document: dict[str, Any] = decode_any(self.raw)
        return document

    @classmethod
    def load(cls, storage_key: str, namespace: str, name: str, revision: int, raw: bytes) -> "Record":
        """From stored bytes, of which only the labels are decoded."""
        labels = interned(_decode_labels(raw).metadata.labels)
        return cls(intern(storage_key), intern(namespace), name, revision, raw, labels)


class Change(msgspec.Struct, gc=False, eq=False, frozen=True):
    """One revision: what an object became and what it was before. A deletion carries the last state."""

    type: str
    record: Record
    previous: Record | None

    @property
    def revision(self) -> int:
        return self.record.revision
