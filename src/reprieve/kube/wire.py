"""Bytes to objects: list pages, watch lines, bookmarks.

`objects.json_decoder` makes the typed views. An object that is wrong altogether raises `InvalidObject`, and
the reader decides what to do without it.
"""

from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from typing import Any

import msgspec

from reprieve.kube.resources import Resource
from reprieve.objects import json_decoder, well_known

Decode = Callable[[bytes | msgspec.Raw], Any]


class ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str | None = None
    continue_: str | None = msgspec.field(name="continue", default=None)


class ListPage(msgspec.Struct, frozen=True):
    metadata: ListMeta = ListMeta()
    items: list[msgspec.Raw] | None = None


class WatchEvent(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw = msgspec.Raw()


class BookmarkMeta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class Bookmark(msgspec.Struct, frozen=True):
    metadata: BookmarkMeta = BookmarkMeta()

    @property
    def ends_initial_events(self) -> bool:
        return (self.metadata.annotations or {}).get(well_known.INITIAL_EVENTS_END) == "true"


@lru_cache(maxsize=64)
def decoder_of(resource: Resource) -> Decode:
    if resource.view is dict:
        raw: Decode = msgspec.json.Decoder(dict[str, Any]).decode
        return raw
    return json_decoder(resource.view, resource.api_version, resource.kind)


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Whole lines out of chunks cut anywhere; an unfinished last line is dropped, it will be sent again."""
    rest = b""
    async for chunk in chunks:
        rest += chunk
        if b"\n" in chunk:
            *whole, rest = rest.split(b"\n")
            for line in whole:
                if line.strip():
                    yield line


def key_of(object: Any) -> tuple[str, str]:
    """(namespace, name)."""
    if isinstance(object, dict):
        metadata = object.get("metadata") or {}
        return metadata.get("namespace", ""), metadata.get("name", "")
    return object.metadata.namespace, object.metadata.name


def uid_of(object: Any) -> str:
    if isinstance(object, dict):
        uid: str = (object.get("metadata") or {}).get("uid", "")
        return uid
    typed: str = object.metadata.uid
    return typed


def revision_of(object: Any) -> str:
    if isinstance(object, dict):
        revision: str = (object.get("metadata") or {}).get("resourceVersion", "")
        return revision
    typed: str = object.metadata.resource_version
    return typed
