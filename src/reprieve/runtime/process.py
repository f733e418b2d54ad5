"""A process that runs controllers: one client, one lease, one HTTP server for all of them.

Each controller is a coroutine function that the caller registers under a name. It starts at once, to read and
to watch, and waits for `services.leading` before it writes. One that fails is started again, ever later, and
`/readyz` says so. When the lease is lost the process ends: all state that matters is in the API, and a fresh
start is the simplest way to be right.
"""

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client import CollectorRegistry

from reprieve.config import Configuration
from reprieve.kube import Client, Election, LeaderElector
from reprieve.objects import ReprieveError
from reprieve.records import DecisionLog
from reprieve.runtime import endpoints
from reprieve.runtime.leadership import Leadership
from reprieve.runtime.stalls import StallWatch
from reprieve.runtime.supervision import Registries, keep_running

if TYPE_CHECKING:
    from reprieve.runtime.tracing import Tracing

log = logging.getLogger(__name__)

Page = Callable[[web.Application, Client, DecisionLog, Configuration], None]
"""Adds routes to the HTTP server before it starts."""


@dataclass
class Services:
    """What a controller may use of its process."""

    records: DecisionLog
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    leading: asyncio.Event = field(default_factory=asyncio.Event)
    app: web.Application = field(default_factory=web.Application)
    probes: dict[str, endpoints.Probe] = field(default_factory=dict)
    """What must be ready: name to a function that says what is missing."""
    tracing: "Tracing | None" = None

    def problem(self) -> str:
        found = ((name, probe()) for name, probe in self.probes.items())
        return "; ".join(f"{name}: {problem}" for name, problem in found if problem)


Controller = Callable[[Client, Configuration, Services], Coroutine[None, None, None]]
"""Runs until it is cancelled; writes only while `services.leading` is set."""


class LeaseLost(Exception):
    """Another replica leads now."""


@dataclass(frozen=True)
class Process:
    client: Client
    config: Configuration
    controllers: Mapping[str, Controller]
    """By the name that the log and `/readyz` use."""
    host: str = "127.0.0.1"
    port: int | None = 8080
    """None: no HTTP server; 0: any free port."""
    leader_election: bool = True
    lease_client: Client | None = None
    """A connection of its own for the lease, so that no storm of other requests can delay its renewal."""
    page: Page | None = None
    """Adds the dashboard, which depends on more than this room."""
    listening: Callable[[int], None] | None = None
    """Told the port as soon as it is listened on."""

    async def run(self) -> None:
        """Run until cancelled; raises `LeaseLost` when this replica must not act any more."""
        section = self.config.records
        services = Services(DecisionLog(section.ring_size, section.path or None))
        self._trace(services)
        services.probes["API server"] = lambda: "; ".join(self.client.problems.values())
        elector = self._elector() if self.leader_election else None
        client = self.client if elector is None else self.client.fenced(elector.may_write)
        registries = Registries()
        services.registry.register(registries)
        runner = await self._serve(services)
        try:
            async with asyncio.TaskGroup() as group:
                stalls = StallWatch(services.registry)
                group.create_task(keep_running("stalls", stalls.run), name="stalls")
                for name in self.controllers:
                    kept = self._keep_running(name, client, services, registries)
                    group.create_task(kept, name=name)
                await self._lead(services, elector)
                raise LeaseLost("the lease was lost: ending, so that the other replica acts alone")
        finally:
            services.records.close()
            if services.tracing is not None:
                await asyncio.to_thread(services.tracing.close)
            if runner is not None:
                await runner.cleanup()

    def _trace(self, services: Services) -> None:
        """Only if it is wanted: it takes time and threads."""
        if self.config.tracing.endpoint:
            from reprieve.runtime.tracing import Tracing

            services.tracing = Tracing.of(self.config)
            services.records.follower = services.tracing.decided

    async def _keep_running(
        self, name: str, client: Client, services: Services, registries: Registries
    ) -> None:
        async def life() -> None:
            services.probes.pop(name, None)
            own = replace(services, registry=registries.fresh(name))
            await self.controllers[name](client, self.config, own)

        def report(problem: str) -> None:
            services.probes[name] = lambda: problem

        await keep_running(name, life, report)

    async def _lead(self, services: Services, elector: LeaderElector | None) -> None:
        """Returns when the lease is lost."""
        leadership = Leadership(self.config.scheduler.leader_election.name, services.registry)

        async def lead() -> None:
            services.leading.set()
            with leadership.held():
                await asyncio.Event().wait()

        if elector is None:
            await lead()
        else:
            services.probes["lease"] = lambda: elector.problem
            await elector.run(lead)

    def _elector(self) -> LeaderElector:
        section = self.config.scheduler.leader_election
        election = Election(
            section.name, section.namespace, f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4().hex[:8]}",
            section.lease_duration, section.renew_deadline, section.retry_period,
        )  # fmt: skip
        return LeaderElector(self.lease_client or self.client, election)

    async def _serve(self, services: Services) -> web.AppRunner | None:
        if self.port is None:
            return None
        endpoints.add_health(services.app, lambda: "", services.problem)
        endpoints.add_metrics(services.app, services.registry)
        endpoints.add_decisions(services.app, services.records)
        if self.page is not None:
            self.page(services.app, self.client, services.records, self.config)
        try:
            runner = await endpoints.serve(services.app, self.host, self.port)
        except OSError as error:
            raise ReprieveError(f"cannot listen on {self.host}:{self.port}: {error.strerror}") from error
        if self.listening is not None:
            self.listening(runner.addresses[0][1])
        log.info("listening on %s", ", ".join(f"http://{host}:{port}" for host, port, *_ in runner.addresses))
        return runner
