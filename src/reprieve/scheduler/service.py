"""The scheduler as it runs: informers feed the shell, a Lease says who leads, the rest waits and watches.

A replica that does not lead still follows every change, so that it can take over at once.
"""

import asyncio
import gc
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from reprieve.config import Configuration
from reprieve.kube import (
    BUDGETS,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    Change,
    Client,
    Election,
    EventRecorder,
    Informer,
    LeaderElector,
)
from reprieve.kube.resources import Resource
from reprieve.records import DecisionLog
from reprieve.scheduler.core import Core
from reprieve.scheduler.live import LiveActions
from reprieve.scheduler.metrics import Metrics
from reprieve.scheduler.shell import Shell

log = logging.getLogger(__name__)

KINDS = (PRIORITY_CLASSES, NAMESPACES, NODES, POD_GROUPS, BUDGETS, PODS)
"""In the order in which they are read: what pods refer to comes before them."""

PATIENCE = 30.0
"""How long a kind that was not served may stay unnoticed after it came."""


@dataclass
class SchedulerService:
    client: Client
    config: Configuration
    scheduler_name: str = "reprieve"
    election: Election | None = None
    records: DecisionLog = field(default_factory=DecisionLog)
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.events = EventRecorder(self.client, f"{self.scheduler_name}-scheduler")
        self.core = Core(self.config, self.scheduler_name)
        self.shell = Shell(
            self.core,
            LiveActions(self.client, self.events),
            records=self.records,
            metrics=self.metrics,
            asynchronous=self.config.gate("SchedulerAsyncPreemption"),
        )
        self.metrics.watch(self.core)
        self.informers: list[Informer] = []
        self.elector = LeaderElector(self.client, self.election) if self.election else None
        self.scheduling = False

    def problem(self) -> str:
        """Why it is not ready; empty when it is."""
        missing = [each.resource.plural for each in self.informers if not each.has_synced]
        if len(self.informers) < 2 or missing:
            return f"not yet read: {', '.join(missing) or 'everything'}"
        return ""

    async def run(self) -> None:
        """Until cancelled, or until the lease is lost: then the process should start afresh."""
        async with AsyncExitStack() as stack:
            background = await stack.enter_async_context(asyncio.TaskGroup())
            recorder = background.create_task(self.events.run(), name="events")
            stack.callback(recorder.cancel)
            for resource in KINDS:
                await self._follow(stack, background, resource)
            gc.freeze()
            if self.elector is None:
                await self._schedule()
            else:
                await self.elector.run(self._schedule)

    async def _follow(self, stack: AsyncExitStack, background: asyncio.TaskGroup, resource: Resource) -> None:
        served = await self.client.served(resource)
        if served is None:
            log.warning("%s is not served here (see `reprieve manifests crds`)", resource.kind)
            stack.callback(background.create_task(self._await_kind(resource)).cancel)
            return
        await stack.enter_async_context(self._informer(served))

    def _informer(self, resource: Resource) -> Informer:
        informer = Informer(self.client, resource, self._observe)
        self.informers.append(informer)
        return informer

    async def _await_kind(self, resource: Resource) -> None:
        """A kind may be installed later; from then on it is followed like the others."""
        while (served := await self.client.served(resource)) is None:
            await asyncio.sleep(PATIENCE)
        async with self._informer(served):
            await asyncio.Event().wait()

    def _observe(self, change: Change) -> None:
        self.shell.observe(change)

    async def _schedule(self) -> None:
        self.scheduling = True
        self.metrics.leading.labels(self.scheduler_name).set(1)
        log.info("scheduling as %s", self.scheduler_name)
        try:
            await self.shell.run()
        finally:
            self.scheduling = False
            self.metrics.leading.labels(self.scheduler_name).set(0)
