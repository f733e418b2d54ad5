"""Raw documents to typed views.

State is taken as it is: spellings are normalised, types are checked and what every API server fills in is
filled in, but no rule of admission is applied here (see `reprieve.objects.admission`).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from reprieve.objects import well_known
from reprieve.objects.collector import collector_off
from reprieve.objects.defaults.views import AS_STORED
from reprieve.objects.documents import Source, read_documents, taken_apart
from reprieve.objects.errors import InvalidObject, UnreadableInput
from reprieve.objects.kinds import KINDS, TABLE, group_version, kind_key, refuse_unread_version
from reprieve.objects.kueue import ClusterQueue
from reprieve.objects.kueue import Workload as QuotaWorkload
from reprieve.objects.meta import Document, Object
from reprieve.objects.normalise import is_current, normalise
from reprieve.objects.scheduling import PodGroup, Workload
from reprieve.objects.selecting import SELECTING
from reprieve.objects.structure import misfits
from reprieve.objects.text import shown

__all__ = [
    "KINDS",
    "Source",
    "decode",
    "decode_all",
    "decode_list",
    "encode",
    "json_decoder",
    "read_documents",
]

T = TypeVar("T", bound=Object)
_VIEWS = {**KINDS, **SELECTING}


def decode(document: Document) -> Object:
    """The typed view of one raw object. Raises `InvalidObject` with the path and the value."""
    return decode_as(document, _view_of(document))


def decode_as(document: Document, view: type[T]) -> T:
    """The typed view, where the kind is already known (items of a typed list carry none)."""
    stored = AS_STORED.get(view, _unchanged)
    if is_current(document):
        try:
            return cast("T", stored(msgspec.convert(document, view)))
        except (msgspec.ValidationError, OverflowError, UnicodeError):
            pass  # perhaps only a null in an odd place
    current = normalise(document)
    try:
        return cast("T", stored(msgspec.convert(current, view)))
    except (msgspec.ValidationError, OverflowError, UnicodeError) as error:
        problems = misfits(current, view)
        if not problems:
            raise InvalidObject("", None, str(error)) from error
        first = problems[0]
        raise InvalidObject(first.path, first.value, first.message) from error


def _unchanged(view: T) -> T:
    return view


def decode_all(documents: Iterable[Document | Source], *, skipped: list[str] | None = None) -> list[Object]:
    """Typed views of all documents; lists are taken apart.

    A kind Reprieve does not know decides nothing and is left out; its name goes into `skipped`. Errors say
    where the object stands: in its file, or `objects:3` for the third one of a plain list.
    """
    views = []
    with collector_off():
        for number, each in enumerate(documents, 1):
            source = each if isinstance(each, Source) else Source("objects", str(number), each)
            for found in taken_apart(source.file, source.number, source.document):
                if isinstance(found, UnreadableInput):
                    raise found
                if kind_key(found.document) in _VIEWS or not found.document.get("kind"):
                    views.append(_decode_at(found))
                elif skipped is not None:
                    skipped.append(f"{found.document.get('apiVersion')} {found.document['kind']}")
    return views


def _decode_at(source: Source) -> Object:
    try:
        return decode(source.document)
    except InvalidObject as error:
        raise InvalidObject(error.path, error.value, error.message, source.where) from error


def decode_list(data: bytes, view: type[T]) -> list[T]:
    """Typed views of all items of a JSON list as an API server sends it, straight from the bytes.

    Nulls in odd places and old spellings are rare there; only then is the list decoded the long way.
    """
    with collector_off():
        try:
            if not _needs_rewriting(data, view) and b"/v1beta1" not in data[:200]:
                items = _list_decoder(view).decode(data).items
                return cast("list[T]", list(map(AS_STORED[view], items)) if view in AS_STORED else items)
        except (msgspec.DecodeError, RecursionError):
            pass  # the long way forgives a null, and finds out which field of which item it was
        return [decode_as(item, view) for item in _list_items(data, view)]


def json_decoder(view: type[T], api_version: str, kind: str) -> Callable[[bytes | msgspec.Raw], T]:
    """Decodes one object of a list or watch, straight from its JSON where that is in current spelling.

    What does not fit the view (an explicit null, an old spelling) is decoded the long way, like documents of
    an older version. Raises `InvalidObject` for what is wrong altogether.
    """
    typed = {"apiVersion": api_version, "kind": kind}
    known = TABLE.get(kind_key(typed))
    fast = msgspec.json.Decoder(view).decode
    stored, has_old_spellings = AS_STORED.get(view, _unchanged), view in _MARKERS

    def the_long_way(data: bytes | msgspec.Raw) -> T:
        return cast("T", decode({**typed, **msgspec.json.decode(data)}))

    def straight(data: bytes | msgspec.Raw) -> T:
        if has_old_spellings and _needs_rewriting(bytes(data), view):
            return the_long_way(data)
        try:
            found = fast(data)
        except msgspec.ValidationError:
            return the_long_way(data)
        return cast("T", stored(found))

    current = known is None or group_version(typed)[1] == known.versions[0]
    return straight if current else the_long_way


def _list_items(data: bytes, view: type[Object]) -> Iterator[Document]:
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidObject("", None, f"not a JSON list: {error}") from error
    items = raw.get("items") if isinstance(raw, dict) else None
    if not isinstance(items, list | None) or not isinstance(raw, dict):
        raise InvalidObject("items", items, f"expected a list, got {shown(items)}")
    for index, item in enumerate(items or ()):
        if not isinstance(item, dict):
            raise InvalidObject(f"items[{index}]", item, f"expected an object, got {shown(item)}")
        yield {"apiVersion": raw.get("apiVersion", ""), "kind": view.__name__, **item}


def encode(view: Object) -> Document:
    """The document a view stands for: only the fields the view has, defaults left out.

    Never write this to a server.
    """
    return cast("Document", msgspec.to_builtins(view))


def _view_of(document: Document) -> type[Object]:
    if not isinstance(document, dict):
        raise InvalidObject("", document, f"expected an object, got {shown(document)}")
    for field in ("apiVersion", "kind"):
        if not isinstance(document.get(field), str) or not document[field]:
            raise InvalidObject(field, document.get(field), "is required")
    key = kind_key(document)
    if key not in _VIEWS:
        raise InvalidObject(
            "kind", document["kind"], f"{document['apiVersion']} {document['kind']} is not known here"
        )
    refuse_unread_version(document)
    return _VIEWS[key]


def _needs_rewriting(data: bytes, view: type[Object]) -> bool:
    if any(marker in data for marker in _MARKERS.get(view, ())):
        return True
    return view is PodGroup and b'"disruptionMode"' in data and _MODE_IN_POLICY.search(data) is not None


_GROUP_MARKERS = (
    b'Mode":"',
    b"preemptionMode",
    b"podGroupTemplateRef",
    b"preemptionPriorityClassName",
    well_known.PREEMPTION_CLASS_ANNOTATION.encode(),
)
_MARKERS: dict[type[Object], tuple[bytes, ...]] = {
    PodGroup: _GROUP_MARKERS,
    Workload: (b"",),
    ClusterQueue: (b'"flavorFungibility"',),
    QuotaWorkload: (b'"state":"Open"', b'"state":"Closed"'),
}
"""What an old spelling looks like in JSON; of kinds that are few, all objects are read the long way. Kinds
that come by the thousand are not searched."""
_MODE_IN_POLICY = re.compile(
    rb'"schedulingPolicy":\{(?:[^{}]|\{[^{}]*\})*"disruptionMode"|"(?:gang|basic)":\{[^{}]*"disruptionMode"'
)
"""The disruption mode inside the policy; today it stands beside it."""


@cache
def _list_decoder(view: type[Object]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(
        msgspec.defstruct(f"{view.__name__}List", [("items", list[view], [])], gc=False)  # type: ignore[valid-type]
    )
