"""One worker cluster: connected or not, and what it holds of ours.

Runs for ever: connect, list and watch the copies and what runs for them, check every few seconds that the
server still answers. `connected` is true exactly while the copies in sight were listed over the connection
that is open now; when the server stops answering they are forgotten, and after a growing pause everything is
read anew.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any, Final

from reprieve.controllers import OwnWrites
from reprieve.controllers.fleet.access import InsecureKubeConfig
from reprieve.controllers.fleet.followed import Followed
from reprieve.controllers.fleet.shapes import tie_selector
from reprieve.fleet import Owner, key_of, owner_of_copy
from reprieve.jobs import JobKinds, prebuilt_workload
from reprieve.kube import (
    KUEUE_WORKLOADS,
    ApiError,
    Backoff,
    Change,
    Client,
    ConfigError,
    Informer,
    Resource,
    TransportError,
)
from reprieve.objects import Document, split_key, well_known

log = logging.getLogger(__name__)

CONNECT_TIMEOUT: Final = 30.0
HEARTBEAT: Final = 5.0

JOB: Final = ("batch", "Job")
"""Every server has it, and most fleets carry nothing else."""

Key = tuple[str, str]
Open = Callable[[], Awaitable[Client]]
Touched = Callable[[str], None]


class NotConnected(Exception):
    """The worker is out of reach; the call was not made."""


class Connection:
    def __init__(
        self,
        cluster: str,
        open_client: Open,
        *,
        origin: str,
        touched: Touched,
        changed: Callable[["Connection"], None],
        now: Callable[[], datetime],
        call_timeout: float,
        kinds: JobKinds | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        """Calls `touched` with the key of a workload that changed, `changed` when the connection does."""
        self.cluster = cluster
        self.disconnected_since: datetime | None = now()
        self.problem = "not connected yet"
        self.reason = "ClientConnectionFailed"
        self._open = open_client
        self.origin = origin
        self._touched = touched
        self._changed = changed
        self._now = now
        self._timeout = call_timeout
        self._backoff = backoff or Backoff(base=1.0, cap=30.0)
        self._client: Client | None = None
        self._copies: Informer | None = None
        self._followed: Followed | None = None
        self._kinds = kinds or JobKinds()
        self._written = OwnWrites()
        self._sent: set[str] = set()
        """Keys of copies for which something was made over this connection."""
        self.calls = 0

    @property
    def connected(self) -> bool:
        return self._client is not None

    async def run(self) -> None:
        while True:
            try:
                async with self._session() as client:
                    await self._heartbeat(client)
            except (ApiError, TransportError, ConfigError, TimeoutError, OSError) as error:
                self.reason = _reason(error)
                self._lose(str(error) or type(error).__name__)
            except Exception as error:
                # Whatever a worker or its kubeconfig does to us: the other workers, and the next try, go on.
                log.exception("the connection to worker %s broke", self.cluster)
                self.reason = "ClientConnectionFailed"
                self._lose(f"an unexpected {type(error).__name__}; the manager's log has the details")
            await asyncio.sleep(self._backoff.next())

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Client]:
        labels = f"{well_known.ORIGIN_LABEL}={self.origin}"
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                client = await stack.enter_async_context(await self._open())
                # The informers would retry for ever; a refusal must be seen, and shown.
                await client.request("GET", KUEUE_WORKLOADS.path(), query={"limit": "1"})
                copies = Informer(client, KUEUE_WORKLOADS.raw(), self._copy_changed, labels=labels)
                followed = Followed(
                    client, self._kinds, self._object_changed, lambda _: {"labels": labels}, self._settled
                )
                await stack.enter_async_context(copies)
                await stack.enter_async_context(followed)
                await followed.follow(JOB)
            self._written.clear()
            self._sent.clear()
            self._client, self._copies, self._followed = client, copies, followed
            self.disconnected_since, self.problem = None, ""
            self._backoff.clear()
            self._changed(self)
            try:
                yield client
            finally:
                self._client = self._copies = self._followed = None

    async def _heartbeat(self, client: Client) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            async with asyncio.timeout(self._timeout):
                await client.request("GET", "/readyz")

    def _lose(self, problem: str) -> None:
        news = self.disconnected_since is None or problem != self.problem
        self.problem = problem
        self.disconnected_since = self.disconnected_since or self._now()
        if news:
            log.warning("worker %s is out of reach: %s", self.cluster, problem)
            self._changed(self)

    def _copy_changed(self, change: Change) -> None:
        key = key_of(change.new)
        if change.type == "DELETED":
            self._written.forget(key)
        self._touched(key)

    def _settled(self) -> None:
        """It is known of one more kind whether the worker has it."""
        if self.connected:
            self._changed(self)

    def _object_changed(self, _: Key, change: Change) -> None:
        metadata = change.new["metadata"]
        if name := prebuilt_workload(metadata):
            self._touched(f"{metadata['namespace']}/{name}")

    # Reads

    def copy(self, key: str) -> Document | None:
        """The copy as last seen, by the watch or in the answer to our own last write, whichever is newer."""
        if self._copies is None:
            return None
        namespace, name = split_key(key)
        return self._written.newest(key, self._copies.get(name, namespace))

    def lacks(self, owner: Owner) -> str | None:
        """Why what the workload stands for cannot be made here; None: not known yet."""
        if self._followed is None:
            return None
        found = [self._followed.ask(key) for key in owner.travels_as(self._kinds)]
        problem = next(filter(None, found), "")
        return f"{self.cluster}: {problem}" if problem else None if None in found else ""

    def object(self, key: Key, name: str, namespace: str) -> Document | None:
        """What runs here for a workload, as last seen."""
        return self._followed.get(key, name, namespace) if self._followed is not None else None

    def tied(self, key: Key, workload: str, namespace: str) -> list[Document]:
        """All objects of a kind that run here for a workload."""
        return [
            each
            for each in (self._followed.all(key) if self._followed is not None else ())
            if each["metadata"]["namespace"] == namespace and prebuilt_workload(each["metadata"]) == workload
        ]

    def resource(self, key: Key) -> Resource:
        if self._followed is None:
            raise NotConnected(f"{self.cluster} is not connected: {self.problem}")
        return self._followed.resource(key)

    def copy_keys(self) -> list[str]:
        copies = self._copies or ()
        return [key_of(copy) for copy in copies]

    # Calls

    async def call(self, make: Callable[[Client], Awaitable[Any]]) -> Any:
        """One bounded call. A late answer is no answer: the gates' leases count on it."""
        client = self._client
        if client is None:
            raise NotConnected(f"{self.cluster} is not connected: {self.problem}")
        self.calls += 1
        async with asyncio.timeout(self._timeout):
            return await make(client)

    async def write_copy(self, key: str, make: Callable[[Client], Awaitable[Document]]) -> None:
        """A write whose answer is at once what `copy` returns: the next step must not act on the past."""
        try:
            self._written.note(key, await self.call(make))
        except ApiError as error:
            if error.not_found:
                self._written.forget(key)
            raise

    async def create(self, key: Key, document: Document) -> None:
        """Make what runs for a copy. What is there already must be ours: the watch may lag behind."""
        resource, metadata = self.resource(key), document["metadata"]
        self._sent.add(f"{metadata['namespace']}/{prebuilt_workload(metadata)}")
        try:
            await self.call(lambda client: client.create(resource, document))
        except ApiError as error:
            if not error.already_exists:
                raise
            found = await self.call(
                lambda client: client.get(resource.raw(), metadata["name"], metadata["namespace"])
            )
            if prebuilt_workload(found["metadata"]) != prebuilt_workload(metadata):
                what = f"{resource.kind} {metadata['name']} in {self.cluster}"
                raise ApiError(409, "AlreadyExists", f"{what} is somebody else's: delete it") from error

    async def delete(self, key: Key, name: str, namespace: str) -> None:
        resource = self.resource(key)
        await self.call(lambda client: _delete(client, resource, name, namespace))

    async def remove(self, key: str) -> None:
        """Withdraw the copy: first what runs for it, pods before their group, then the copy itself."""
        namespace, name = split_key(key)
        copy = self.copy(key)
        owner = owner_of_copy(copy) if copy is not None else None

        async def make(client: Client) -> None:
            for kind in reversed(owner.travels_as(self._kinds) if owner is not None else ()):
                for each in await self._running(client, kind, key):
                    await _delete(client, self.resource(kind), each["metadata"]["name"], namespace)
            await _delete(client, KUEUE_WORKLOADS, name, namespace)

        await self.call(make)
        self._written.forget(key)
        self._sent.discard(key)

    async def _running(self, client: Client, kind: Key, key: str) -> list[Document]:
        """What runs for a copy: as the watch shows it, unless that may not show what was just sent."""
        namespace, name = split_key(key)
        if key not in self._sent and self._followed is not None and self._followed.ask(kind) == "":
            return self.tied(kind, name, namespace)
        labels = tie_selector(name, self.origin)
        try:
            listed = await client.listing(self.resource(kind).raw(), namespace, labels=labels)
            return [each for each in listed.items if prebuilt_workload(each["metadata"]) == name]
        except ApiError as error:
            if error.not_found:
                return []
            raise


async def _delete(client: Client, resource: Resource, name: str, namespace: str) -> None:
    """Delete the object and what depends on it; one that is gone already is fine."""
    try:
        await client.delete(resource, name, namespace, propagation="Background")
    except ApiError as error:
        if not error.not_found:
            raise


def _reason(error: Exception) -> str:
    if isinstance(error, InsecureKubeConfig):
        return "InsecureKubeConfig"
    return "BadKubeConfig" if isinstance(error, ConfigError) else "ClientConnectionFailed"
