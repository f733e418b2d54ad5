"""Which kinds of jobs a cluster has: those that are served are followed, others cost a question in a while.

A kind that is installed later is followed from then on, and one that is removed is forgotten with its jobs.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from reprieve.controllers.quota.jobs import resource_of
from reprieve.controllers.quota.owners import Owners
from reprieve.jobs import RUNTIMES, JobKind
from reprieve.kube import ApiError, Change, Client, Informer, Resource, TransportError
from reprieve.objects import well_known

log = logging.getLogger(__name__)

LOOK_AGAIN = 15.0
"""Seconds between two looks at what the server has."""
_BUILT_IN = ("", "apps", "batch")


class _Wanted(NamedTuple):
    resource: Resource
    handler: Callable[[Change], None]
    kind: JobKind | None = None
    """None for what jobs refer to."""


class JobInformers:
    def __init__(self, client: Client, owners: Owners, all_jobs: bool) -> None:
        self._client = client
        self._owners = owners
        self._labels = {} if all_jobs else {"labels": well_known.QUEUE_LABEL}
        self._running: dict[str, Informer] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}
        self._wanted = [
            _Wanted(resource_of(kind), owners.follow(kind), kind)
            for kind in owners.kinds
            if kind.asks != "none"
        ]
        self._wanted += [
            _Wanted(
                Resource(group, "v1alpha1", kind, f"{kind.lower()}s", not kind.startswith("Cluster")),
                owners.runtime_changed,
            )
            for group, kind in sorted(RUNTIMES)
        ]

    async def start(self) -> None:
        """Follow what is served now. Kinds that every cluster has are read before this returns."""
        await self._look()
        for informer in list(self._running.values()):
            if informer.resource.group in _BUILT_IN:
                await informer.synced()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_AGAIN)
            try:
                await self._look()
            except (ApiError, TransportError) as error:
                log.info("the kinds of jobs are looked for again in %.0f s: %s", LOOK_AGAIN, error)

    async def stop(self) -> None:
        for reading in self._reading.values():
            reading.cancel()
        for informer in self._running.values():
            await informer.stop()

    async def _look(self) -> None:
        groups = await self._client.served_groups()
        for wanted in self._wanted:
            resource = wanted.resource
            key, built_in = f"{resource.plural}.{resource.group}", resource.group in _BUILT_IN
            if key in self._running and built_in:
                continue  # that is not taken away
            there = built_in or resource.group in groups
            found = await self._client.served(resource) if there else None
            if found is not None and key not in self._running:
                self._follow(key, wanted, found)
            elif found is None and key in self._running:
                await self._forget(key, wanted)

    def _follow(self, key: str, wanted: _Wanted, found: Resource) -> None:
        options = self._labels if wanted.kind is not None else {}
        informer = Informer(self._client, found.raw(), wanted.handler, **options)
        self._running[key] = informer
        informer.start()
        if wanted.kind is not None:
            self._owners.unread.add(key)
            self._reading[key] = asyncio.create_task(self._read(key, informer))

    async def _read(self, key: str, informer: Informer) -> None:
        """A kind that cannot be read (a missing right) keeps no other from being admitted."""
        await informer.synced()
        self._owners.was_read(key)

    async def _forget(self, key: str, wanted: _Wanted) -> None:
        log.warning("%s is not served here any more", wanted.resource.kind)
        await self._running.pop(key).stop()
        if reading := self._reading.pop(key, None):
            reading.cancel()
        self._owners.unread.discard(key)
        if wanted.kind is not None:
            self._owners.forget(wanted.kind)
