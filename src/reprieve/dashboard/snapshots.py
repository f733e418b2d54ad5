"""The state on its way to the pages: whole for one that has none, else what is new since the one it has.

A storm changes hundreds of nodes a second, of thousands. A page that gets those only reads a tenth, and this
process writes a tenth. All pages share what was made, written and compressed once.
"""

import asyncio
import secrets
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import msgspec

View = dict[str, Any]

Version = tuple[int, ...]
"""What a state was made of: revisions of the inventory, of the decisions, of the contact, and the day. None
goes back."""

NODES = "nodes"
NODES_AT_ONCE = 500
"""Written in one turn."""
MOST_MADE = 60


class Body(NamedTuple):
    plain: bytes
    squeezed: bytes


class Written(NamedTuple):
    view: Any
    text: bytes
    since: Version
    """When it became what it is."""


class Snapshots:
    """`version`: of what there is now. `parts`: the state, one part after the other."""

    def __init__(self, version: Callable[[], Version], parts: Callable[[], AsyncIterator[View]]) -> None:
        self._present = version
        self._parts = parts
        self._process = secrets.token_hex(4)
        """Another process counts anew: what its pages have is nothing to build on."""
        self._making = asyncio.Lock()
        self._version: Version | None = None
        self._made: dict[str, Version] = {}
        """The last states by name: a page that has an older one gets the whole."""
        self._told: Version = ()
        self._sections: dict[str, Written] = {}
        self._nodes: dict[str, Written] = {}
        self._same_nodes_since: Version = ()
        self._bodies: dict[Version | None, Body] = {}
        """By what the page has."""

    def tell(self) -> str:
        """The present version's name, for pages that then ask for a state which is not older."""
        self._told = self._present()
        return self._name(self._told)

    async def body(self, has: str = "") -> Body:
        """The whole state as it is now; or, for a page that has one, what is new in the last one told."""
        since = self._made.get(has)
        async with self._making:
            if self._version is None or not self._is_good(since):
                await self._make()
            assert self._version is not None
            if since not in self._bodies:
                plain = b"".join(self._text(since))
                self._bodies[since] = Body(plain, await asyncio.to_thread(zlib.compress, plain, 1))
            return self._bodies[since]

    def _is_good(self, since: Version | None) -> bool:
        assert self._version is not None
        if self._version == self._present():
            return True
        return since is not None and since < self._version and self._version >= self._told

    def _name(self, version: Version) -> str:
        return ".".join((self._process, *map(str, version)))

    async def _make(self) -> None:
        """Part by part: the controller shares this process, and has its turn in between."""
        version = self._present()
        self._bodies.clear()
        async for part in self._parts():
            for name, view in part.items():
                if name == NODES:
                    await self._take_nodes(view, version)
                else:
                    self._take(name, view, version)
            await asyncio.sleep(0)
        self._version = version
        self._made[self._name(version)] = version
        if len(self._made) > MOST_MADE:
            del self._made[next(iter(self._made))]

    def _take(self, name: str, view: Any, version: Version) -> None:
        text, old = msgspec.json.encode(view), self._sections.get(name)
        if old is None or old.text != text:
            self._sections[name] = Written(None, text, version)

    async def _take_nodes(self, views: list[View], version: Version) -> None:
        """A node's view is another one as soon as anything about it has changed."""
        taken: dict[str, Written] = {}
        for number, view in enumerate(views):
            if number % NODES_AT_ONCE == 0:
                await asyncio.sleep(0)
            name = view["name"]
            known = self._nodes.get(name)
            taken[name] = (
                known
                if known is not None and known.view is view
                else Written(view, msgspec.json.encode(view), version)
            )
        if taken.keys() != self._nodes.keys():
            self._same_nodes_since = version
        self._nodes = taken

    def _text(self, since: Version | None) -> Iterator[bytes]:
        """A page that has no state, or one with other nodes, gets `nodes`; the others `changedNodes`."""
        assert self._version is not None
        yield b'{"version":%s' % msgspec.json.encode(self._name(self._version))
        if since is not None:
            yield b',"since":%s' % msgspec.json.encode(self._name(since))
        whole = since is None or since < self._same_nodes_since
        new = [
            each.text for each in self._nodes.values() if whole or (since is not None and each.since > since)
        ]
        yield b',"%s":[%s]' % (b"nodes" if whole else b"changedNodes", b",".join(new))
        for name, section in self._sections.items():
            if since is None or section.since > since:
                yield b",%s:%s" % (msgspec.json.encode(name), section.text)
        yield b"}"
