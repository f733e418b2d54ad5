"""The small controllers of the embedded server: what kube-controller-manager would do for the kinds we serve.

    budgets      PodDisruptionBudget status: how many disruptions are possible
    jobs         pods of Jobs until enough succeed
    cronjobs     Jobs of CronJobs
    replicas     pods of ReplicaSets and ReplicationControllers
    deployments  ReplicaSets of Deployments, and how they roll (rollout)
    garbage      dependents of deleted owners; background, foreground, orphan
    namespaces   the service account of a new one, the contents of a deleted one
    cleanup      pod groups whose pods are done, old events, pods of deleted nodes
    statefulsets pods of StatefulSets and their claims (placed_pods, revisions)
    daemonsets   a pod of each DaemonSet on every node that it is for (placed_pods, revisions)
    resource_quotas  what ResourceQuotas count
    claims       PersistentVolumeClaims and the volumes that they get (volume_index)
    protection   claims and volumes that are in use stay until they are free
    resource_claims   ResourceClaims from templates; what nobody uses is given back
    ephemeral_claims  the claims of generic ephemeral volumes
    taints       pods on nodes whose NoExecute taints they do not tolerate
    definitions  conditions of CustomResourceDefinitions
    job_kinds    pods of RayClusters, JobSets and other kinds of jobs, where they were asked for

All run in the server's event loop, read the committed state and write through `Api`, as any client would.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from reprieve.server.api import Api
from reprieve.server.controllers.budgets import Budgets
from reprieve.server.controllers.claims import Claims, Volumes
from reprieve.server.controllers.cleanup import Events, OrphanedPods, PodGroups
from reprieve.server.controllers.cronjobs import CronJobs
from reprieve.server.controllers.daemonsets import DaemonSets
from reprieve.server.controllers.definitions import Definitions
from reprieve.server.controllers.deployments import Deployments
from reprieve.server.controllers.ephemeral_claims import EphemeralClaims
from reprieve.server.controllers.garbage import GarbageCollector
from reprieve.server.controllers.jobs import Jobs
from reprieve.server.controllers.namespaces import Namespaces
from reprieve.server.controllers.pods import PodIndex
from reprieve.server.controllers.protection import ClaimProtection, VolumeProtection
from reprieve.server.controllers.replicas import ReplicaSets, ReplicationControllers
from reprieve.server.controllers.resource_claims import GroupClaims, PodClaims, ResourceClaims
from reprieve.server.controllers.resource_quotas import ResourceQuotas
from reprieve.server.controllers.statefulsets import StatefulSets
from reprieve.server.controllers.taints import TaintEviction

log = logging.getLogger(__name__)


class Runnable(Protocol):
    async def run(self) -> None: ...


async def run(api: Api) -> None:
    """Run all of them until cancelled; one that fails is started again and does not stop the others."""
    pods = PodIndex.shared(api)
    controllers: list[Runnable] = [
        Namespaces(api),
        Definitions(api),
        GarbageCollector(api),
        Budgets(api, pods),
        Jobs(api, pods),
        CronJobs(api),
        ReplicaSets(api, pods),
        ReplicationControllers(api, pods),
        Deployments(api, pods),
        StatefulSets(api, pods),
        DaemonSets(api, pods),
        PodGroups(api, pods),
        Events(api),
        OrphanedPods(api, pods),
        TaintEviction(api, pods),
        ResourceQuotas(api),
        Claims(api, pods),
        Volumes(api),
        ClaimProtection(api, pods),
        VolumeProtection(api),
        EphemeralClaims(api),
        GroupClaims(api),
        PodClaims(api),
        ResourceClaims(api, pods),
    ]
    async with asyncio.TaskGroup() as tasks:
        for controller in controllers:
            tasks.create_task(keep_running(controller.run, type(controller).__name__))


async def keep_running(run: Callable[[], Awaitable[None]], name: str) -> None:
    while True:
        try:
            await run()
        except Exception:  # a bug in one controller must not stop the others
            log.exception("controller %s failed and is started again", name)
            await asyncio.sleep(1)


__all__ = ["keep_running", "run"]
