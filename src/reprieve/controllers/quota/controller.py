"""The quota controller: runs admission cycles on changes, writes their outcomes, follows up on each workload.

Concurrency: one loop. Informers only take note (`Observed`). One task runs cycles and writes their outcomes
before the next cycle; a work queue follows up on workloads, jobs, groups and queues, one handler for each
at a time. Every write names the version it is based on, so a decision made on the past is refused by the
API server and made again. All state that matters is in the API objects: a controller that starts continues
where the last one stopped.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial

from prometheus_client import CollectorRegistry

from reprieve.config import Configuration
from reprieve.controllers import WorkQueue, utc_now
from reprieve.controllers.quota.crews import reconcile_crew
from reprieve.controllers.quota.groups import is_kept, let_go, reconcile_group
from reprieve.controllers.quota.jobs import Jobs
from reprieve.controllers.quota.lifecycle import Situation, next_state, with_closed_gate
from reprieve.controllers.quota.managed import Managed
from reprieve.controllers.quota.node_failures import FailureRules, Failures, Health
from reprieve.controllers.quota.observed import Observed
from reprieve.controllers.quota.owners import CREWS, GROUPS, OwnerId
from reprieve.controllers.quota.queue_statuses import QueueStatuses
from reprieve.controllers.quota.reporting import Reporter
from reprieve.controllers.quota.topology import tell_domains
from reprieve.controllers.quota.workload_writes import WorkloadWrites
from reprieve.fleet import LeaseState, gated_message
from reprieve.kube import KUEUE_WORKLOADS, Client, EventRecorder, ObjectReference
from reprieve.objects import Document, Workload, find_condition, well_known
from reprieve.quota import Event, Outcome, Quota, Rules, Waiting, cycle, is_true, no_place, wait
from reprieve.records import DecisionLog
from reprieve.runtime import keep_running

log = logging.getLogger(__name__)

STATUS_DELAY = 1.0
"""How long changes of a queue are gathered before its status is written."""


class QuotaController:
    def __init__(
        self,
        client: Client,
        config: Configuration,
        *,
        events: EventRecorder | None = None,
        records: DecisionLog | None = None,
        registry: CollectorRegistry | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.client = client
        self.quota = Quota(Rules.of(config))
        self.queue: WorkQueue[str | OwnerId] = WorkQueue(self._follow_up)
        names = (config.scheduler.scheduler_name, *config.scheduler.other_scheduler_names)
        kinds = config.job_kinds()
        self.seen = Observed(self.quota, self._touched, self._seconds, frozenset(names), kinds)
        self.managed = Managed(client, self.seen.owners, config, self.quota.namespaces)
        self.jobs = Jobs(client, self.seen, self.managed, self._tell)
        self._writes = WorkloadWrites(client, self.seen, lambda key: self.queue.add(f"reread/{key}"))
        self._statuses = QueueStatuses(client, self.seen)
        self._gates = config.gate("MultiKueueOrchestratedPreemption")
        self._patience = config.quota.wait_for_pods_ready
        self._failures = Failures(FailureRules.of(config), self.seen.nodes, self.quota.cache.flavors)
        self._events = events
        self._now = now
        self._reporter = Reporter(self.quota, records, registry, now)
        self._wake = asyncio.Event()

    def _seconds(self) -> datetime:
        """The API keeps whole seconds, so decisions do: a write must equal what the watch returns."""
        return self._now().replace(microsecond=0)

    def _touched(self, key: str | OwnerId) -> None:
        if isinstance(key, str) and key.startswith(("clusterqueue/", "localqueue/")):
            self.queue.add_after(key, STATUS_DELAY)
        else:
            self.queue.add(key)
        self._wake.set()

    async def run(self) -> None:
        """Admit until cancelled. The informers must have filled `seen` before."""
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_running("quota: cycles", self._cycles), name="quota-cycles")
            group.create_task(keep_running("quota: queue", self.queue.run), name="quota-queue")
            if self.quota.rules.usage is not None:
                group.create_task(keep_running("quota: usage", self._samples), name="quota-usage")

    # Cycles

    async def _cycles(self) -> None:
        self._wake.set()  # what waited when an earlier loop failed is tried again
        while True:
            await self._woken()
            while self.quota.has_heads(self._seconds()):
                begun = time.perf_counter()
                outcome = cycle(self.quota, self._seconds())
                self._reporter.report(outcome, time.perf_counter() - begun)
                await self._carry_out(outcome)
                if not outcome.made_progress:
                    break  # nothing to do before something changes
            for key in self.quota.take_untold():
                self.queue.add(f"parked/{key}")

    async def _samples(self) -> None:
        """Look at the usage of LocalQueues from time to time, and write what they consumed."""
        assert self.quota.rules.usage is not None
        while True:
            await asyncio.sleep(max(1.0, self.quota.rules.usage.interval))
            now = self._seconds()
            consumed = self.quota.sample_usage(now)
            writes = (self._statuses.consumed(key, amounts, now) for key, amounts in consumed.items())
            for failed in await asyncio.gather(*writes, return_exceptions=True):
                if isinstance(failed, BaseException):
                    log.info("the usage of a LocalQueue was not written, the next sample is: %s", failed)
            self._wake.set()

    async def _woken(self) -> None:
        """Until something changed, or a workload that looks for domains is due again."""
        left = self.quota.second_passes.seconds_left(self._now())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), None if left is None else max(0.05, left))
        self._wake.clear()

    async def _carry_out(self, outcome: Outcome) -> None:
        writes = [
            self._writes.status(workload.key, partial(_unless_changed, workload), gates=True)
            for workload in outcome.stopped
        ]
        writes += [
            self._writes.status(workload.key, partial(_unless_changed, workload))
            for workload in outcome.settled
        ]
        writes += [
            self._writes.status(each.info.key, partial(self._waiting_status, each))
            for each in outcome.waiting
        ]
        await asyncio.gather(*writes)
        self._record(outcome.events)

    def _waiting_status(self, waiting: Waiting, known: Workload) -> Workload:
        """The status of a workload that waits for quota."""
        if is_true(known, well_known.QUOTA_RESERVED):
            return known
        now = self._seconds()
        if not waiting.gated:
            return wait(known, waiting.reason, waiting.message, now)
        message = gated_message(self.quota, waiting.info, known, now)
        return wait(known, well_known.PREEMPTION_GATED, message, now, gated=True)

    def _parked_status(self, known: Workload) -> Workload:
        """The status of a workload that waits because an equal one was tried in vain."""
        found = self.quota.parked_for(known.key)
        return known if found is None else wait(known, found.reason, found.message, self._seconds())

    def _record(self, events: Iterable[Event]) -> None:
        for event in events if self._events is not None else ():
            known = self.seen.workloads.get(event.workload)
            if known is not None and self._events is not None:
                reference = ObjectReference.to(known, KUEUE_WORKLOADS.api_version, "Workload")
                self._events.record(
                    reference, event.reason, event.message, action="Admission", type=event.type
                )

    def _tell(self, job: Document, reason: str, message: str) -> None:
        """An event about a job that something is wrong with."""
        if self._events is not None:
            meta = job["metadata"]
            reference = ObjectReference(
                job["apiVersion"], job["kind"], meta["name"], meta["namespace"], meta["uid"]
            )
            self._events.record(reference, reason, message, action="Admission", type="Warning")

    # Following up

    async def _follow_up(self, key: str | OwnerId) -> float:
        if isinstance(key, OwnerId):
            await self._asker(key)
            return 0.0
        kind, _, name = key.partition("/")
        match kind:
            case "workload":
                return await self._workload(name)
            case "parked":
                await self._writes.status(name, self._parked_status)
            case "reread":
                await self._writes.reread(name)
            case "topology":
                if name in self.seen.workloads:
                    pods = self.seen.placed.get(name, {})
                    await tell_domains(self.client, self.seen.workloads[name], pods.values())
                    self.queue.add(f"workload/{name}")
            case "unread":
                self.seen.touch_all_workloads()
            case "clusterqueue":
                await self._statuses.cluster_queue(name, self._seconds())
            case "localqueue":
                await self._statuses.local_queue(name, self._seconds())
        return 0.0

    async def _workload(self, key: str) -> float:
        if key not in self.seen.workloads:
            self._writes.forget(key)
            return 0.0
        raw = self.seen.raw[key]
        if is_kept(raw) and self.seen.owners.is_going(key, self.seen.workloads[key]):
            await let_go(self.client, raw)
            return 0.0
        lease = self.seen.lease(key)
        if lease.state is LeaseState.NOTE:
            await self._writes.note_gate(key, lease.note)
            return lease.left.total_seconds()
        before = self.seen.workloads[key]
        coming = next_state(self._situation(key, before), self._seconds())
        self._reporter.followed_up(before, coming.workload)
        if is_true(coming.workload, well_known.NO_NODE_FITS) and not is_true(before, well_known.NO_NODE_FITS):
            found = find_condition(coming.workload.status.conditions, well_known.NO_NODE_FITS)
            assert found is not None
            self._record([Event(key, "Warning", "NoNodeFits", found.message)])
        self._tell_of_eviction(before, coming.workload)
        if coming.deactivate and self.seen.workloads[key].spec.active:
            await self._writes.deactivate(key)
        await self._writes.status(key, partial(self._next, key), gates=True)
        known = self.seen.workloads.get(key)
        waits = (
            lease.left.total_seconds() if lease.state is LeaseState.HOLD else 0.0,
            self._health(key, known).left if known is not None else 0.0,
            coming.after,
        )
        return min((left for left in waits if left > 0), default=0.0)

    def _tell_of_eviction(self, before: Workload, after: Workload) -> None:
        """Between cycles a workload is evicted for reasons that its user can do something about."""
        cause = find_condition(after.status.conditions, well_known.EVICTED)
        if cause is None or cause.status != "True" or is_true(before, well_known.EVICTED):
            return
        for reason in (well_known.MAX_TIME_EXCEEDED, well_known.REQUEUING_LIMIT_EXCEEDED):
            if cause.reason.endswith(reason):
                self._record([Event(before.key, "Warning", reason, cause.message)])
        self._record([Event(before.key, "Normal", f"EvictedDueTo{cause.reason}", cause.message)])

    def _next(self, key: str, known: Workload) -> Workload:
        now = self._seconds()
        if self.seen.lease(key).state is LeaseState.CLOSE:
            known = with_closed_gate(known, last_transition_time=now)
        return next_state(self._situation(key, known), now).workload

    def _situation(self, key: str, workload: Workload) -> Situation:
        admission = workload.status.admission
        queue = self.quota.cache.queues.get(
            admission.cluster_queue if admission else self.seen.queue_of(workload)
        )
        checks: tuple[str, ...] = ()
        stopped = held = ""
        if queue is not None:
            flavors = _flavors_of(workload)
            rules = queue.spec.admission_checks_strategy.admission_checks
            checks = tuple(r.name for r in rules if not r.on_flavors or flavors & set(r.on_flavors))
            stopped = "ClusterQueueStopped" if queue.spec.stop_policy == "HoldAndDrain" else ""
            held = "ClusterQueueStopped" if queue.spec.stop_policy == "Hold" else ""
        local = self.seen.local_queue_documents.get(f"{workload.namespace}/{workload.spec.queue_name}") or {}
        policy = (local.get("spec") or {}).get("stopPolicy", "None")
        stopped = stopped or ("LocalQueueStopped" if policy == "HoldAndDrain" else "")
        held = held or ("LocalQueueStopped" if policy == "Hold" else "")
        return Situation(
            workload,
            self.seen.owners.state(key, workload),
            checks,
            stopped,
            held,
            self._gates,
            self._health(key, workload).failed,
            self._no_place(workload),
            self._patience,
        )

    def _no_place(self, workload: Workload) -> str:
        if not workload.may_run:
            return ""
        return no_place(workload, self.seen.nodes.values(), self.quota.cache.flavors)

    def _health(self, key: str, workload: Workload) -> Health:
        """Of the nodes that an admitted workload was sent to."""
        if self.quota.cache.capacity.unused or not is_true(workload, well_known.ADMITTED):
            return Health()
        return self._failures.health(workload, self.seen.placed.get(key, {}).values(), self._seconds())

    async def _asker(self, id: OwnerId) -> None:
        """Follow up on something that asks for quota."""
        owners = self.seen.owners
        asker = owners.get(id)
        if asker is None:
            return
        key, pods = owners.key(asker), tuple(asker.pods.values())
        workload, flavors = self.seen.workloads.get(key), self.quota.cache.flavors
        if id.kind not in (GROUPS, CREWS):
            await self.jobs.reconcile(id)
        elif asker.group is not None:
            await reconcile_group(
                self.client, asker.group, pods, workload, flavors, self.seen.priorities, owners.schedulers
            )
        elif id.kind == CREWS:
            await reconcile_crew(
                self.client,
                asker,
                self.seen.raw.get(key),
                workload,
                flavors,
                self.seen.priorities,
                owners.kinds,
                owners.schedulers,
            )


def _unless_changed(decided: Workload, known: Workload) -> Workload:
    """A decision about an older version is dropped: the state knows the newer one and decides again."""
    return decided if decided.metadata.resource_version == known.metadata.resource_version else known


def _flavors_of(workload: Workload) -> set[str]:
    admission = workload.status.admission
    sets = admission.pod_set_assignments if admission is not None else ()
    return {flavor for each in sets for flavor in each.flavors.values()}
