"""Quota, live: admission against an API server (`reprieve run --controllers quota`).

`run` admits until cancelled. The decisions are `reprieve.quota.cycle` and `lifecycle.next_state`, both
pure; here are the informers, the writes and the follow-up on jobs and pod groups.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack

from reprieve.config import Configuration
from reprieve.controllers.quota.controller import QuotaController
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    COHORTS,
    JOBS,
    KUEUE_WORKLOADS,
    LIMIT_RANGES,
    LOCAL_QUEUES,
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
    WORKLOAD_PRIORITY_CLASSES,
    Change,
    Client,
    EventRecorder,
    Informer,
    Resource,
)
from reprieve.objects import well_known
from reprieve.runtime import Services, keep_running

__all__ = ["QuotaController", "run", "watching"]

log = logging.getLogger(__name__)

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
        await watching(controller, stack)
        missing.clear()
        if services is not None:
            await services.leading.wait()
        group.create_task(keep_running("quota: events", events.run), name="quota-events")
        await controller.run()


async def watching(controller: QuotaController, stack: AsyncExitStack) -> None:
    """Start the informers, so that each object finds what it refers to; return when everything is read."""
    client, seen = controller.client, controller.seen
    followed: list[tuple[Resource, Callable[[Change], None], dict[str, str]]] = [
        *((kind, seen.parameter_changed, {}) for kind in PARAMETERS),
        (NODES, seen.node_changed, {}),
        (CLUSTER_QUEUES.raw(), seen.queue_changed, {}),
        (LOCAL_QUEUES.raw(), seen.local_queue_changed, {}),
        (JOBS.raw(), seen.job_changed, {} if controller.all_jobs else {"labels": well_known.QUEUE_LABEL}),
        (POD_GROUPS, seen.group_changed, {}),
        (PODS, seen.pod_changed, {}),
        (KUEUE_WORKLOADS.raw(), seen.workload_changed, {}),
    ]
    for resource, handler, options in followed:
        served = await client.served(resource)
        if served is None:
            log.warning("%s is not served here (see `reprieve manifests crds`)", resource.kind)
            continue
        await stack.enter_async_context(Informer(client, served, handler, **options))
