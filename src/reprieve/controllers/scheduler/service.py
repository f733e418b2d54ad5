"""The scheduler as a controller: informers feed the shell, which acts while this replica leads.

A replica that does not lead still follows every change, so that it can take over at once.
"""

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.controllers.scheduler.api_actions import ApiActions
from reprieve.controllers.scheduler.metrics import Metrics
from reprieve.controllers.scheduler.shell import Shell
from reprieve.kube import (
    BUDGETS,
    COMPOSITE_POD_GROUPS,
    DEVICE_KINDS,
    JOBS,
    KUEUE_WORKLOADS,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    SELECTING_KINDS,
    STORAGE_KINDS,
    WORKLOADS,
    ApiError,
    Backoff,
    Client,
    Clock,
    ConfigError,
    EventRecorder,
    Informer,
    Resource,
    TransportError,
)
from reprieve.objects import JobOwner, Reference, selecting, well_known
from reprieve.preemption import Plan, decide
from reprieve.records import DecisionLog
from reprieve.runtime import Services, keep_running
from reprieve.scheduler import Core

if TYPE_CHECKING:
    from reprieve.runtime import Tracing

log = logging.getLogger(__name__)

SPREAD_BY = tuple(replace(each, view=selecting.SELECTING[each.group, each.kind]) for each in SELECTING_KINDS)
"""Of Services and controllers their selectors, and nothing else."""
KINDS = (
    PRIORITY_CLASSES,
    NAMESPACES,
    NODES,
    *STORAGE_KINDS,
    *DEVICE_KINDS,
    COMPOSITE_POD_GROUPS,
    WORKLOADS,
    POD_GROUPS,
    BUDGETS,
    *SPREAD_BY,
    PODS,
)
"""In the order in which they are read: what pods refer to comes before the pods."""

QUOTA_KINDS = (KUEUE_WORKLOADS, replace(JOBS, view=JobOwner))
"""What says who got quota; followed only where Workloads are served."""

NEW_OBJECTS = 20_000
"""How many new objects start a garbage collection. Bursts of calls make many objects and hardly any reference
cycle: with Python's default of 700, collections took a twentieth of the scheduler's time."""

RETRY_SECONDS = 30.0
"""How often to check whether a kind that was not served is served now."""


async def run(client: Client, config: Configuration, services: Services) -> None:
    """Schedule until cancelled, from the moment this replica leads."""
    scheduler = LiveScheduler(client, config, services.records, services.registry, tracing=services.tracing)
    services.probes["scheduler"] = scheduler.problem
    async with scheduler.following():
        await services.leading.wait()
        await scheduler.schedule()


def in_time(cluster: Cluster, for_: Reference, config: Configuration, now: int | None) -> Plan:
    """A decision that ends within `preemption.timeBudget` by the clock, also on a slow machine.

    For a pod the alternatives are known anyway and go into the record; for a gang each of them is another
    search.
    """
    end = time.monotonic() + float(config.preemption.time_budget)
    alone = for_.kind == "Pod"
    return decide(cluster, for_, config, now, alternatives=alone, expired=lambda: time.monotonic() > end)


class LiveScheduler:
    def __init__(
        self,
        client: Client,
        config: Configuration,
        records: DecisionLog | None = None,
        registry: CollectorRegistry | None = None,
        *,
        clock: Clock = time.time,
        tracing: "Tracing | None" = None,
    ) -> None:
        self._clock = clock
        name = config.scheduler.scheduler_name
        self._client = client
        self._events = {
            each: EventRecorder(client, each) for each in (name, *config.scheduler.other_scheduler_names)
        }
        self._config = config
        self.core = Core(config, name, decide=in_time)
        self.metrics = Metrics(registry)
        self.metrics.watch(self.core)
        self._actions = ApiActions(client, self._events[name], others=self._events)
        self.shell = Shell(
            self.core,
            self._actions,
            records=records,
            metrics=self.metrics,
            asynchronous=config.gate("SchedulerAsyncPreemption"),
            clock=clock,
            tracing=tracing,
        )
        self._informers: list[Informer] = []
        self._read = False

    def problem(self) -> str:
        """Why it is not ready; empty when it is."""
        return "" if self._read else "has not read the cluster yet"

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Keep the core in step with the cluster. Entered once every object has been read."""
        async with AsyncExitStack() as stack:
            background = [_background("events", each.run) for each in self._events.values()]
            stack.push_async_callback(_end, background)
            gc.disable()  # everything that is read now stays: there is no garbage to collect
            stack.callback(gc.enable)
            if not await self._follow_quota(stack):
                log.warning(
                    "Kueue's %s is not served here: there is no quota, and the label %s has no effect; "
                    "see `reprieve manifests crds`", KUEUE_WORKLOADS.kind, well_known.QUEUE_LABEL,
                )  # fmt: skip
                background.append(_background("waiting for quota kinds", self._follow_quota_later))
            for wanted in KINDS:
                if wanted is COMPOSITE_POD_GROUPS and not self._config.gate("CompositePodGroup"):
                    continue
                served = await self._served(wanted)
                if served is None and wanted in DEVICE_KINDS:
                    log.info("%s is not served here: there are no devices to allocate", wanted.kind)
                elif served is None and wanted in SPREAD_BY:
                    log.info("%s is not served here: no pods are spread by it", wanted.kind)
                elif served is None:
                    if wanted is WORKLOADS:
                        log.info(
                            "%s (%s) is not served here: groups have no templates", wanted.kind, wanted.group
                        )
                    elif wanted is COMPOSITE_POD_GROUPS:
                        log.info("%s is not served here: there are no trees of groups", wanted.kind)
                    else:
                        log.warning("%s is not served here; see `reprieve manifests crds`", wanted.kind)
                    later = partial(self._follow_later, wanted)
                    background.append(_background(f"waiting for {wanted.plural}", later))
                else:
                    await stack.enter_async_context(self._following(served))
            gc.freeze()
            stack.callback(gc.set_threshold, *gc.get_threshold())
            gc.set_threshold(NEW_OBJECTS)
            gc.enable()
            self._read = True
            yield

    def informer(self, resource: Resource) -> Informer:
        """The informer of a kind that is followed."""
        return next(each for each in self._informers if each.resource.plural == resource.plural)

    async def settled(self) -> None:
        """Wait until every action under way has ended and every event is written."""
        await self.shell.idle()
        for each in self._events.values():
            await each.drain()

    async def schedule(self) -> None:
        log.info("scheduling pods whose schedulerName is %s", " or ".join(self._events))
        await self.shell.run()

    def _following(self, resource: Resource) -> Informer:
        if resource.plural == POD_GROUPS.plural:
            self._actions.pod_groups = resource
        informer = Informer(self._client, resource, self.shell.observe)
        informer.listed = self.shell.observe_all
        self._informers.append(informer)
        return informer

    async def _served(self, wanted: Resource) -> Resource | None:
        """Wait for a server that does not answer yet; a refusal is the user's to fix."""
        backoff = Backoff()
        while True:
            try:
                return await self._client.served(wanted)
            except ApiError as error:
                if not error.transient:
                    raise ConfigError(
                        f"the API server refuses to say whether it has {wanted.plural}: {error}"
                    ) from error
                problem: Exception = error
            except TransportError as error:
                problem = error
            pause = backoff.next()
            log.warning("the API server does not answer, again in %.1f s: %s", pause, problem)
            await asyncio.sleep(pause)

    async def _follow_quota(self, stack: AsyncExitStack) -> bool:
        """Follow who got quota, if there is quota here."""
        if await self._served(QUOTA_KINDS[0]) is None:
            return False
        for wanted in QUOTA_KINDS:
            served = await self._served(wanted)
            if served is not None:
                await stack.enter_async_context(self._following(served))
        pods = [each for each in self._informers if each.resource.plural == PODS.plural]
        self.core.count_quota([pod for informer in pods for pod in informer], self._clock())
        return True

    async def _follow_quota_later(self) -> None:
        async with AsyncExitStack() as stack:
            while not await self._follow_quota(stack):
                await asyncio.sleep(RETRY_SECONDS)
            await asyncio.Event().wait()

    async def _follow_later(self, wanted: Resource) -> None:
        """Wait until the kind is installed, then follow it like the others."""
        while (served := await self._served(wanted)) is None:
            await asyncio.sleep(RETRY_SECONDS)
        async with self._following(served):
            await asyncio.Event().wait()


def _background(name: str, run: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    return asyncio.create_task(keep_running(f"scheduler: {name}", run), name=name)


async def _end(tasks: list["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
