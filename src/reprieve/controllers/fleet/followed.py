"""Objects of several kinds in one cluster. A kind is watched from the first time that somebody asks for it:
a fleet that carries only Jobs holds no watch on RayJobs, and a server need not serve what nobody sends there.

Asking never waits. Until the answer is known a kind is neither there nor missing; a kind that is missing is
looked for again after a while, since a CustomResourceDefinition may come later.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from reprieve.fleet import POD, POD_GROUP, typed
from reprieve.jobs import JobKinds
from reprieve.kube import POD_GROUPS, PODS, ApiError, Change, Client, Informer, Resource, TransportError
from reprieve.objects import Document

Key = tuple[str, str]
Options = Callable[[Key], dict[str, str]]

LOOK_AGAIN: Final = 60.0
START_TIMEOUT: Final = 30.0


def resource_of(key: Key, kinds: JobKinds) -> Resource:
    """Where the objects of a kind live."""
    if key == POD:
        return PODS.raw()
    if key == POD_GROUP:
        return POD_GROUPS.raw()
    kind = kinds.find(typed(key))
    assert kind is not None, "only known kinds are carried"
    return Resource(kind.group, kind.versions[0], kind.kind, kind.plural)


class Followed:
    """`async with Followed(...) as followed`: on leaving, every watch ends."""

    def __init__(
        self,
        client: Client,
        kinds: JobKinds,
        changed: Callable[[Key, Change], None],
        options: Options,
        settled: Callable[[], None],
    ) -> None:
        """`options`: which objects of a kind are of interest. Calls `settled` when it is known of a kind
        whether it is there."""
        self._client = client
        self._kinds = kinds
        self._changed = changed
        self._options = options
        self._settled = settled
        self._informers: dict[Key, Informer] = {}
        self._resources: dict[Key, Resource] = {}
        self._missing: dict[Key, tuple[str, float]] = {}
        self._tasks: dict[Key, asyncio.Task[None]] = {}

    async def __aenter__(self) -> "Followed":
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await asyncio.gather(*(informer.stop() for informer in self._informers.values()))

    def ask(self, key: Key) -> str | None:
        """Empty: the kind is here. Else why it is not; None: not known yet."""
        if key in self._informers:
            return ""
        now = asyncio.get_running_loop().time()
        problem, again = self._missing.get(key, (None, 0.0))
        if now >= again and key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._look(key), name=f"fleet-look-{key[1]}")
        return problem

    async def follow(self, key: Key) -> str:
        """The same, waiting for the answer."""
        answer = self.ask(key)
        if key in self._tasks:
            await asyncio.shield(self._tasks[key])
            answer = self.ask(key)
        return answer or ""

    async def _look(self, key: Key) -> None:
        problem = ""
        try:
            async with asyncio.timeout(START_TIMEOUT):
                problem = await self._start(key)
        except (ApiError, TransportError, TimeoutError) as error:
            problem = f"{key[1]} cannot be read there: {str(error) or type(error).__name__}"
        finally:
            self._tasks.pop(key, None)
        if problem:
            self._missing[key] = (problem, asyncio.get_running_loop().time() + LOOK_AGAIN)
        self._settled()

    async def _start(self, key: Key) -> str:
        wanted = resource_of(key, self._kinds)
        served = await self._client.served(wanted)
        if served is None:
            return f"{key[1]} ({key[0]}) is not served there"
        # An informer would retry a refusal for ever; it must be seen, and shown.
        await self._client.request("GET", served.path(), query={"limit": "1"})
        informer = Informer(
            self._client, served.raw(), lambda change: self._changed(key, change), **self._options(key)
        )
        informer.start()
        try:
            await informer.synced()
        except BaseException:
            with suppress(ApiError, TransportError):
                await informer.stop()
            raise
        self._informers[key], self._resources[key] = informer, served
        return ""

    # Reads

    def resource(self, key: Key) -> Resource:
        """As it is served here, or as it is known."""
        return self._resources.get(key) or resource_of(key, self._kinds)

    def get(self, key: Key, name: str, namespace: str) -> Document | None:
        informer = self._informers.get(key)
        found: Document | None = informer.get(name, namespace) if informer is not None else None
        return found

    def all(self, key: Key) -> Iterator[Document]:
        return iter(self._informers.get(key) or ())
