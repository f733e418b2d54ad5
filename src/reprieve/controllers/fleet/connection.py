"""One worker cluster: connected or not, and what it holds of ours.

Runs for ever: connect, list and watch the copies and their jobs, check every few seconds that the server
still answers. `connected` is true exactly while the copies in sight were listed over the connection that is
open now; when the server stops answering they are forgotten, and after a growing pause everything is read
anew.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any, Final

from reprieve.controllers import OwnWrites
from reprieve.controllers.fleet.access import InsecureKubeConfig
from reprieve.fleet import key_of
from reprieve.kube import (
    JOBS,
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
        backoff: Backoff | None = None,
    ) -> None:
        """Calls `touched` with the key of a workload that changed, `changed` when the connection does."""
        self.cluster = cluster
        self.disconnected_since: datetime | None = now()
        self.problem = "not connected yet"
        self.reason = "ClientConnectionFailed"
        self._open = open_client
        self._origin = origin
        self._touched = touched
        self._changed = changed
        self._now = now
        self._timeout = call_timeout
        self._backoff = backoff or Backoff(base=1.0, cap=30.0)
        self._client: Client | None = None
        self._copies: Informer | None = None
        self._jobs: Informer | None = None
        self._written = OwnWrites()
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
        labels = f"{well_known.ORIGIN_LABEL}={self._origin}"
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                client = await stack.enter_async_context(await self._open())
                # The informers would retry for ever; a refusal must be seen, and shown.
                await client.request("GET", KUEUE_WORKLOADS.path(), query={"limit": "1"})
                copies = Informer(client, KUEUE_WORKLOADS.raw(), self._copy_changed, labels=labels)
                jobs = Informer(client, JOBS.raw(), self._job_changed, labels=labels)
                await stack.enter_async_context(copies)
                await stack.enter_async_context(jobs)
            self._written.clear()
            self._client, self._copies, self._jobs = client, copies, jobs
            self.disconnected_since, self.problem = None, ""
            self._backoff.clear()
            self._changed(self)
            try:
                yield client
            finally:
                self._client = self._copies = self._jobs = None

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

    def _job_changed(self, change: Change) -> None:
        metadata = change.new["metadata"]
        name = (metadata.get("labels") or {}).get(well_known.PREBUILT_WORKLOAD_LABEL)
        if name:
            self._touched(f"{metadata['namespace']}/{name}")

    # Reads

    def copy(self, key: str) -> Document | None:
        """The copy as last seen, by the watch or in the answer to our own last write, whichever is newer."""
        if self._copies is None:
            return None
        namespace, name = split_key(key)
        return self._written.newest(key, self._copies.get(name, namespace))

    def job(self, job: Document) -> Document | None:
        """The job of the same name here, as last seen."""
        metadata = job["metadata"]
        if self._jobs is None:
            return None
        found: Document | None = self._jobs.get(metadata["name"], metadata["namespace"])
        return found

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

    async def remove(self, key: str) -> None:
        """Withdraw the copy: first the jobs that were made for it, then the copy itself."""
        namespace, name = split_key(key)
        jobs = [
            job["metadata"]["name"]
            for job in self._jobs or ()
            if job["metadata"]["namespace"] == namespace
            and (job["metadata"].get("labels") or {}).get(well_known.PREBUILT_WORKLOAD_LABEL) == name
        ]

        async def make(client: Client) -> None:
            for job in jobs:
                await _delete(client, JOBS, job, namespace)
            await _delete(client, KUEUE_WORKLOADS, name, namespace)

        await self.call(make)
        self._written.forget(key)


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
