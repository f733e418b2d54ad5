"""The manager: reacts to changes in any cluster, one workload at a time, and carries out the pure step.

Concurrency: one loop; a work queue hands each workload to one handler at a time. A change costs one step of
one workload, whatever the number of workloads and workers. All state that matters lives in the API servers:
a manager that starts finds the ledger, the nominations and the winner where the last one left them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime

from reprieve.controllers import WorkQueue, utc_now
from reprieve.controllers.fleet.connection import Connection
from reprieve.controllers.fleet.execution import REFUSED, Execution
from reprieve.controllers.fleet.manager_cluster import ManagerCluster
from reprieve.fleet import UNREAD, FleetSettings, Group, Owner, Remote, Step, owner_of, step
from reprieve.jobs import JobKinds
from reprieve.kube import ADMISSION_CHECKS, MULTIKUEUE_CLUSTERS, Client, Resource
from reprieve.objects import Document, set_condition, split_key, well_known

log = logging.getLogger(__name__)

REFUSED_AGAIN = 10.0
"""When to call a worker again that refused something."""
COLLECT_EVERY = 60.0

Connect = Callable[[Document], Awaitable[Client]]
"""Opens a client to the worker that a MultiKueueCluster describes."""
Change = Callable[[Document], bool]
Decided = Callable[[str, Step], None]
"""Called with every decision, for records and tests."""


def _ignore(_key: str, _step: Step) -> None:
    """The default: decisions are not reported."""


class Manager:
    def __init__(
        self,
        client: Client,
        connect: Connect,
        settings: FleetSettings,
        *,
        kinds: JobKinds | None = None,
        now: Callable[[], datetime] = utc_now,
        decided: Decided = _ignore,
    ) -> None:
        self.settings = settings
        self._kinds = kinds or JobKinds()
        self.cluster = ManagerCluster(client, self._touched, self._rewire, self._kinds)
        self.workers: dict[str, Connection] = {}
        self.queue = WorkQueue(self._reconcile)
        self._connect = connect
        self._now = now
        self._decided = decided
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sources: dict[str, object] = {}
        self._statuses = WorkQueue(self._write_status, concurrency=4)

    async def run(self) -> None:
        """Manage until cancelled."""
        try:
            async with self.cluster.watching(), asyncio.TaskGroup() as group:
                self._rewire()
                group.create_task(self.queue.run(), name="fleet-queue")
                group.create_task(self._statuses.run(), name="fleet-statuses")
                group.create_task(self._collect(), name="fleet-orphans")
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # Connections

    def _rewire(self) -> None:
        """Start a connection for each MultiKueueCluster; end those whose cluster is gone or has changed."""
        described = self.cluster.clusters()
        for name, cluster in described.items():
            source = (cluster.get("spec") or {}).get("clusterSource")
            if name in self._tasks and self._sources[name] != source:
                self._disconnect(name)
            if name not in self._tasks:
                self._sources[name] = source
                self._start(name)
        for name in self._tasks.keys() - described.keys():
            self._disconnect(name)
        for check in self.cluster.checks():
            self._statuses.add(f"check/{check}")
        self._touch_all()

    def _start(self, name: str) -> None:
        async def open_client() -> Client:
            return await self._connect(self.cluster.clusters()[name])

        worker = Connection(
            name,
            open_client,
            origin=self.settings.origin,
            touched=self._touched,
            changed=self._worker_changed,
            now=self._now,
            call_timeout=self.settings.margin.total_seconds(),
            kinds=self._kinds,
        )
        self.workers[name] = worker
        self._tasks[name] = asyncio.create_task(worker.run(), name=f"worker-{name}")

    def _disconnect(self, name: str) -> None:
        self._tasks.pop(name).cancel()
        self.workers.pop(name)

    def _worker_changed(self, worker: Connection) -> None:
        self._statuses.add(f"cluster/{worker.cluster}")
        for check in self.cluster.checks():
            self._statuses.add(f"check/{check}")
        self._touch_all()

    def _touch_all(self) -> None:
        for key in self.cluster.workload_keys():
            self.queue.add(key)

    def _touched(self, key: str) -> None:
        self.queue.add(key)

    # One workload

    def group_of(self, key: str) -> Group | None:
        """What is known of the workload now; None when the fleet has nothing to do with it."""
        local = self.cluster.workload(key)
        found = self.cluster.check_of(local) if local is not None else None
        if local is None or found is None:
            return None
        check, clusters = found
        owner = self._carried_owner(local)
        remotes = tuple(self._remote(cluster, key, owner) for cluster in clusters)
        document = self.cluster.owned(owner, split_key(key)[0]) if owner is not None else None
        return Group(local, check, remotes, document)

    def _carried_owner(self, local: Document) -> Owner | None:
        """What the workload stands for; None also for a kind that cannot be carried."""
        owner = owner_of(local)
        return owner if owner is not None and owner.key in self.settings.kinds else None

    def _remote(self, cluster: str, key: str, owner: Owner | None) -> Remote:
        worker = self.workers.get(cluster)
        if worker is None or not worker.connected:
            return Remote(cluster, False, None, worker.disconnected_since if worker else None)
        copy = worker.copy(key)
        lacks = worker.lacks(owner) if owner is not None else ""
        if lacks is None:
            # Not known yet: nothing new is sent there, and nothing that is there is withdrawn.
            lacks = "" if copy is not None else UNREAD
        return Remote(cluster, True, copy, lacks=lacks)

    async def _reconcile(self, key: str) -> float:
        group = self.group_of(key)
        if group is None:
            if self.cluster.workload(key) is None:
                self.queue.forget(key)
                await self._remove_orphan(key)
            return 0.0
        owner = self._carried_owner(group.local)
        if owner is not None and group.owner is None:
            await self.cluster.follow(owner)
            group = self.group_of(key) or group
        now = self._now()
        decision = step(group, self.settings, now)
        self._decided(key, decision)
        execution = Execution(key, group, self.cluster, self.workers, self.settings.origin, now, self._kinds)
        refused = await execution.carry_out(decision)
        for text in refused:
            log.warning("%s: refused: %s", key, text)
        again = [
            seconds for seconds in (decision.requeue_after, REFUSED_AGAIN if refused else 0.0) if seconds
        ]
        return min(again, default=0.0)

    # Copies whose workload is gone

    async def _collect(self) -> None:
        while True:
            await asyncio.sleep(COLLECT_EVERY)
            for worker in list(self.workers.values()):
                for key in worker.copy_keys():
                    if self.cluster.workload(key) is None:
                        self.queue.add(key)

    async def _remove_orphan(self, key: str) -> None:
        for worker in list(self.workers.values()):
            if worker.copy(key) is not None:
                try:
                    await worker.remove(key)
                except REFUSED as error:
                    log.warning("orphan %s in %s stays for now: %s", key, worker.cluster, error)

    # Statuses of clusters and checks

    async def _write_status(self, key: str) -> float:
        kind, name = key.split("/", 1)
        if kind == "cluster":
            worker = self.workers.get(name)
            if worker is not None:
                change = _cluster_condition(worker, self._now())
                await self._update(MULTIKUEUE_CLUSTERS, name, change)
        else:
            clusters = self.cluster.clusters_of(self.cluster.checks().get(name, ""))
            change = _check_condition(clusters, self.workers, self.cluster.clusters(), self._now())
            await self._update(ADMISSION_CHECKS, name, change)
        return 0.0

    async def _update(self, resource: Resource, name: str, change: Callable[[Document], bool]) -> None:
        await self.cluster.client.update_with_retries(resource, name, "", change, subresource="status")


def _cluster_condition(worker: Connection, now: datetime) -> Change:
    """The `Active` condition of a MultiKueueCluster: whether its worker is connected."""
    if worker.connected:
        return lambda cluster: set_condition(
            cluster, well_known.ACTIVE, True, well_known.ACTIVE, "Connected", now
        )
    reason, problem = worker.reason, worker.problem
    return lambda cluster: set_condition(cluster, well_known.ACTIVE, False, reason, problem, now)


def _check_condition(
    clusters: Collection[str],
    workers: Mapping[str, Connection],
    described: Mapping[str, Document],
    now: datetime,
) -> Change:
    """The `Active` condition of an AdmissionCheck: true while at least one worker is connected."""
    missing = [name for name in clusters if name not in described]
    inactive = [
        name for name in clusters if name in described and not (name in workers and workers[name].connected)
    ]
    parts = []
    if missing:
        parts.append(f"Missing clusters: [{' '.join(missing)}]")
    if inactive:
        parts.append(f"Inactive clusters: [{' '.join(inactive)}]")
    if not clusters:
        status, reason, message = False, "BadConfig", "The MultiKueueConfig is missing or names no clusters"
    elif not parts:
        status, reason, message = True, well_known.ACTIVE, "The admission check is active"
    elif len(missing) + len(inactive) < len(clusters):
        status, reason, message = True, "SomeActiveClusters", ", ".join(parts)
    else:
        status, reason, message = False, "NoUsableClusters", ", ".join(parts)
    return lambda check: set_condition(check, well_known.ACTIVE, status, reason, message, now)
