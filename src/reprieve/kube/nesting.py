"""Lists and events of which one object is nested so deeply that no decoder reads it.

API servers take ten thousand levels, in whatever a tenant may write freely: parameters for a driver, fields
that a definition does not know. A decoder gives up long before, on the whole page or line, and whoever
follows the collection would be blind because of one object. So the text is taken apart here, without
recursion: objects that can be read are, one that cannot be is left out or only named.
"""

import logging
import re

import msgspec

from reprieve.kube.wire import ListPage, WatchEvent

log = logging.getLogger(__name__)

TOO_DEEP = "it is nested too deeply"
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{\]}]')
_ITEM_LEVEL, _OBJECT_LEVEL, _METADATA_LEVEL = 2, 1, 2
"""Below the outermost value: where the items of a list stand, the object of an event, what is in metadata."""


class Named(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class _Identified(msgspec.Struct, frozen=True):
    metadata: Named = Named()


def read_page(body: bytes) -> ListPage:
    try:
        return msgspec.json.decode(body, type=ListPage)
    except RecursionError:
        spans = _containers(body, _ITEM_LEVEL)
        page = msgspec.json.decode(_without(body, spans), type=ListPage)
        return ListPage(page.metadata, [item for span in spans if (item := _readable(body, span))])


def read_event(line: bytes) -> WatchEvent:
    """The event; the object of one that is too deep raises `RecursionError` when it is decoded."""
    try:
        return msgspec.json.decode(line, type=WatchEvent)
    except RecursionError:
        spans = _containers(line, _OBJECT_LEVEL)
        event = msgspec.json.decode(_without(line, spans), type=WatchEvent)
        return WatchEvent(event.type, msgspec.Raw(line[slice(*spans[0])]))


def name_in(raw: bytes | msgspec.Raw) -> Named:
    """Whose object it is, whatever else is wrong with it; no name where not even that can be read."""
    data = bytes(raw)
    try:
        return msgspec.json.decode(
            _without(data, _containers(data, _METADATA_LEVEL)), type=_Identified
        ).metadata
    except msgspec.MsgspecError:
        return Named()


def _readable(body: bytes, span: tuple[int, int]) -> msgspec.Raw | None:
    raw = msgspec.Raw(body[slice(*span)])
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except RecursionError:
        log.error("ignoring %s, which cannot be read: %s", name_in(raw), TOO_DEEP)
        return None
    return raw


def _containers(data: bytes, level: int) -> list[tuple[int, int]]:
    """Where the objects and lists stand that are so many levels below the outermost one."""
    spans, depth, begin = [], 0, 0
    for token in _TOKENS.finditer(data):
        first = data[token.start()]
        if first in b"[{":
            if depth == level:
                begin = token.start()
            depth += 1
        elif first in b"]}":
            depth -= 1
            if depth == level:
                spans.append((begin, token.end()))
    return spans


def _without(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    """The same text with something flat in these places."""
    kept, end = [], 0
    for begin, after in spans:
        kept += [data[end:begin], b"null"]
        end = after
    return b"".join([*kept, data[end:]])
