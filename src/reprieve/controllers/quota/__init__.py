"""Quota, live: admission against an API server (`reprieve run --controllers quota`).

`run` admits until cancelled. The decisions are `reprieve.quota.cycle` and `lifecycle.next_state`, both
pure; here are the informers, the writes and the follow-up on jobs and pod groups.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial

from reprieve.config import Configuration
from reprieve.controllers import utc_now
from reprieve.controllers.quota.controller import QuotaController
from reprieve.controllers.quota.kinds import JobInformers
from reprieve.controllers.quota.webhook import Webhook
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLAIM_TEMPLATES,
    CLUSTER_QUEUES,
    COHORTS,
    KUEUE_WORKLOADS,
    LIMIT_RANGES,
    LOCAL_QUEUES,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    RUNTIME_CLASSES,
    TOPOLOGIES,
    WORKLOAD_PRIORITY_CLASSES,
    Change,
    Client,
    EventRecorder,
    Informer,
    Resource,
)
from reprieve.runtime import Services, keep_running

__all__ = ["QuotaController", "run", "watching"]

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0
"""How often a kind is looked for that was not served at the start."""
PARAMETERS = (
    NAMESPACES,
    LIMIT_RANGES,
    PRIORITY_CLASSES,
    WORKLOAD_PRIORITY_CLASSES,
    TOPOLOGIES,
    RESOURCE_FLAVORS,
    ADMISSION_CHECKS,
    COHORTS,
)


async def run(client: Client, config: Configuration | None = None, services: Services | None = None) -> None:
    """Admit the workloads of the cluster behind `client` until cancelled; with `services`, while leading."""
    configuration = Configuration.load(config)
    events = EventRecorder(client, "reprieve-quota")
    controller = QuotaController(
        client,
        configuration,
        events=events,
        records=services.records if services is not None else None,
        registry=services.registry if services is not None else None,
    )
    missing = ["the objects of the cluster"]
    if services is not None:
        services.probes["quota"] = lambda: f"not yet read: {missing[0]}" if missing else ""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        jobs = await watching(controller, stack)
        missing.clear()
        if configuration.quota.webhook.port:
            hook = Webhook(client, configuration, controller.quota.namespaces)
            serve = partial(hook.run, utc_now())
            group.create_task(keep_running("quota: webhook", serve), name="quota-webhook")
        if services is not None:
            await services.leading.wait()
        group.create_task(keep_running("quota: events", events.run), name="quota-events")
        group.create_task(keep_running("quota: kinds of jobs", jobs.run), name="quota-kinds")
        log.info("giving quota to workloads")
        await controller.run()


async def watching(controller: QuotaController, stack: AsyncExitStack) -> JobInformers:
    """Start the informers, so that each object finds what it refers to; return when everything is read.

    What is returned looks for kinds of jobs that are installed later, while it runs.
    """
    client, seen = controller.client, controller.seen
    followed: list[tuple[Resource, Callable[[Change], None]]] = [
        *((kind, seen.parameter_changed) for kind in PARAMETERS),
        *([(CLAIM_TEMPLATES, seen.parameter_changed)] if controller.quota.rules.device_classes else ()),
        (RUNTIME_CLASSES, seen.runtime_class_changed),
        (NODES, seen.node_changed),
        (CLUSTER_QUEUES.raw(), seen.queue_changed),
        (LOCAL_QUEUES.raw(), seen.local_queue_changed),
        (POD_GROUPS, seen.owners.group_changed),
    ]
    for resource, handler in followed:
        await _follow(client, stack, resource, handler)
    jobs = JobInformers(client, seen.owners, controller.managed.all_jobs)
    stack.push_async_callback(jobs.stop)
    await jobs.start()
    await _follow(client, stack, PODS, seen.pod_changed)
    await _follow(client, stack, KUEUE_WORKLOADS.raw(), seen.workload_changed)
    return jobs


async def _follow(
    client: Client, stack: AsyncExitStack, resource: Resource, handler: Callable[[Change], None]
) -> None:
    served = await client.served(resource)
    if served is None:
        level = logging.DEBUG if resource is RUNTIME_CLASSES else logging.WARNING  # old servers have none
        log.log(level, "%s is not served here (see `reprieve manifests crds`)", resource.kind)
        later = keep_running(
            f"quota: waiting for {resource.plural}", partial(_follow_later, client, resource, handler)
        )
        stack.push_async_callback(_end, asyncio.create_task(later, name=f"quota-{resource.plural}"))
        return
    await stack.enter_async_context(Informer(client, served, handler))


async def _follow_later(client: Client, resource: Resource, handler: Callable[[Change], None]) -> None:
    """Wait until the kind is installed, then follow it like the others."""
    while (served := await client.served(resource)) is None:
        await asyncio.sleep(RETRY_SECONDS)
    log.info("%s is served now", resource.kind)
    async with Informer(client, served, handler):
        await asyncio.Event().wait()


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
