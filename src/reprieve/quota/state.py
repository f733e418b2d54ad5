"""Everything the admission side knows, in memory: objects come, change and go one at a time.

Workloads with a reservation are in the `Cache`, waiting ones in one `PendingQueue` for each ClusterQueue.
This module moves workloads between the two and wakes parked ones when something they may be waiting for
changes. It decides nothing; `cycle` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import partial

from reprieve.objects import (
    ClusterQueue,
    Condition,
    LabelSelector,
    LimitRange,
    LocalQueue,
    QuantityError,
    ResourceClaimTemplate,
    Workload,
    matches,
    well_known,
    written,
)
from reprieve.quota.cache import Cache
from reprieve.quota.causes import Cause, Refusal
from reprieve.quota.devices import DeviceDemand, device_demand, names_claims
from reprieve.quota.local_usage import LocalUsage
from reprieve.quota.pending import PendingQueue, Scan
from reprieve.quota.preemption_limit import PreemptionLimit
from reprieve.quota.rules import Rules
from reprieve.quota.second_passes import SecondPasses
from reprieve.quota.topology.step import needs_second_pass
from reprieve.quota.tree import CohortNode, cohorts_below
from reprieve.quota.workload_info import (
    WorkloadInfo,
    backoff_over,
    is_queueable,
    is_reserved,
    is_true,
    same_for_admission,
    uses_less,
)

MOST_SPECS = 256
"""So many specs are remembered that several workloads may share."""


class Quota:
    """The state of admission. `now` is given wherever a waiting time may end."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self.cache = Cache(self.rules)
        self.pending: dict[str, PendingQueue] = {}
        self.scans: dict[str, Scan] = {}
        self.preemption_limit = PreemptionLimit()
        self.second_passes = SecondPasses()
        self.local_usage = LocalUsage(self.rules.usage) if self.rules.usage is not None else None
        self.cycles = 0
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.priority_classes: dict[tuple[str, str], int] = {}
        self._refused: dict[str, None] = {}
        """Those of `unqueued` that may not have been told."""
        self.unqueued: dict[str, tuple[Workload, Refusal]] = {}
        """Workloads that cannot be queued, and why."""
        self._unqueued_of: defaultdict[str, set[str]] = defaultdict(set)
        """The same, by the LocalQueue they name."""
        self._local_queues: dict[str, LocalQueue] = {}
        self._limit_ranges: dict[str, dict[str, LimitRange]] = {}
        self._claim_templates: dict[str, ResourceClaimTemplate] = {}
        self._queued_in: dict[str, str] = {}
        """The ClusterQueue in which each waiting workload is queued."""
        self._of_spec: dict[int, WorkloadInfo] = {}
        """By the identity of its spec, a workload that has it: many made from one template share it."""

    # --- queues -------------------------------------------------------------------------------------

    def put_cluster_queue(self, queue: ClusterQueue, now: datetime) -> None:
        self.preemption_limit.quota_changed()
        self.cache.put_queue(queue)
        strict = queue.spec.queueing_strategy == "StrictFIFO"
        if queue.name in self.pending:
            self.pending[queue.name].strict = strict
        else:
            self.pending[queue.name] = PendingQueue(strict)
        usage_based = self.cache.queues[queue.name].usage_based
        self.pending[queue.name].usage_of = self.usage_of if usage_based else None
        for key, local in self._local_queues.items():
            if local.spec.cluster_queue == queue.name:
                self._retry(self._unqueued_of.get(key, ()), now)
        self.flush(queue.name, now)

    def drop_cluster_queue(self, name: str, now: datetime) -> None:
        self.flush(name, now)
        self.preemption_limit.quota_changed()
        self.cache.drop_queue(name)
        for info in self.pending.pop(name, PendingQueue(strict=True)):
            self._queued_in.pop(info.key, None)
            self.put_workload(info.workload, now)

    def put_local_queue(self, queue: LocalQueue, now: datetime) -> None:
        old = self._local_queues.get(queue.key)
        self._local_queues[queue.key] = queue
        if self.local_usage is not None:
            self.local_usage.put(queue, now)
        if old is not None and old.spec != queue.spec:
            self._requeue_all_of(queue.key, now)
        self._retry(self._unqueued_of.get(queue.key, ()), now)

    def drop_local_queue(self, key: str, now: datetime) -> None:
        self._local_queues.pop(key, None)
        if self.local_usage is not None:
            self.local_usage.drop(key)
        self._requeue_all_of(key, now)

    def usage_of(self, info: WorkloadInfo) -> float:
        """What its LocalQueue used lately, where that is counted."""
        return self.local_usage.usage(_local_queue_of(info.workload)) if self.local_usage is not None else 0.0

    def count_admission(self, info: WorkloadInfo, now: datetime) -> None:
        """It counts against its LocalQueue at once; samples take over later."""
        if self.local_usage is None:
            return
        requests: dict[str, int] = {}
        covered = self.cache.queues[info.queue].group_of
        for demand in info.demands:
            for name, number in demand.requests.items():
                if name in covered or not self.rules.ignore_undeclared:
                    requests[name] = requests.get(name, 0) + number
        self.local_usage.admitted(_local_queue_of(info.workload), info.key, requests, now)

    def sample_usage(self, now: datetime) -> dict[str, dict[str, str]]:
        """Look at what runs in every LocalQueue whose usage counts; what each consumed, as quantities."""
        if self.local_usage is None:
            return {}
        running: dict[str, dict[str, int]] = {
            key: {}
            for key, queue in self._local_queues.items()
            if (node := self.cache.queues.get(queue.spec.cluster_queue)) is not None and node.usage_based
        }
        for info in self.cache.workloads.values():
            sums = running.get(_local_queue_of(info.workload))
            if sums is not None and is_true(info.workload, well_known.ADMITTED):
                for (_, resource), number in info.usage.items():
                    sums[resource] = sums.get(resource, 0) + number
        usage = self.local_usage
        return {
            key: {name: written(name, amount) for name, amount in usage.sample(key, sums, now).items()}
            for key, sums in running.items()
        }

    def _requeue_all_of(self, local_queue: str, now: datetime) -> None:
        for pending in list(self.pending.values()):
            for info in list(pending):
                if _local_queue_of(info.workload) == local_queue:
                    self.put_workload(info.workload, now)

    def put_namespace(self, name: str, labels: Mapping[str, str]) -> None:
        self.namespaces[name] = labels

    def put_limit_range(self, limit_range: LimitRange) -> None:
        self._limit_ranges.setdefault(limit_range.namespace, {})[limit_range.name] = limit_range

    def drop_limit_range(self, namespace: str, name: str) -> None:
        self._limit_ranges.get(namespace, {}).pop(name, None)

    def limit_ranges(self, namespace: str) -> tuple[LimitRange, ...]:
        found = self._limit_ranges.get(namespace)
        return tuple(found.values()) if found else ()

    def put_claim_template(self, template: ResourceClaimTemplate, now: datetime) -> None:
        self._claim_templates[template.key] = template
        self._recount_devices(template.namespace, now)

    def drop_claim_template(self, key: str, namespace: str, now: datetime) -> None:
        self._claim_templates.pop(key, None)
        self._recount_devices(namespace, now)

    def _recount_devices(self, namespace: str, now: datetime) -> None:
        if self.rules.device_classes:
            for pending in list(self.pending.values()):
                for info in list(pending):
                    if info.workload.namespace == namespace and names_claims(info.workload):
                        self.put_workload(info.workload, now)

    def devices_of(self, workload: Workload) -> DeviceDemand:
        return device_demand(workload, self._claim_templates, self.rules.device_classes)

    # --- workloads ----------------------------------------------------------------------------------

    def put_workload(self, workload: Workload, now: datetime) -> None:
        """Add or update a workload: its conditions say whether it is counted, queued or neither."""
        key = workload.key
        held = self.cache.workloads.get(key)
        if is_reserved(workload):
            info = self._info(workload, _admitted_by(workload), held or self._waiting(key))
            self._forget(key)
            self.cache.reserve(info)
            if not self.cache.capacity.unused:
                self._look_for_domains(workload, now)
            if held is None:
                self._wake(self.preemption_limit.reserved(key), now)
            elif uses_less(info, held):
                self.flush(held.queue, now)
            return
        if held is not None:
            self.cache.release(key)
            self.second_passes.drop(key)
            self.flush(held.queue, now)
        if is_queueable(workload, self.rules):
            self._enqueue(workload, now, held)
        else:
            self._drop_from_queues(key, now)

    def _look_for_domains(self, workload: Workload, now: datetime) -> None:
        """It has quota; if a place is still to be found for it, or a new one, it gets another turn."""
        if needs_second_pass(workload):
            self.second_passes.put(workload.key, now)
        else:
            self.second_passes.drop(workload.key)

    def drop_workload(self, key: str, now: datetime) -> None:
        held = self.cache.release(key)
        self.second_passes.drop(key)
        if held is not None:
            self.flush(held.queue, now)
        self._drop_from_queues(key, now)

    def _drop_from_queues(self, key: str, now: datetime) -> None:
        """It neither has quota nor waits any more."""
        queue = self._queued_in.get(key)
        self._forget(key)
        self._wake(self.preemption_limit.gone(key), now)
        self.preemption_limit.quota_released()
        if queue is not None:
            self.flush(queue, now)

    def _wake(self, keys: Collection[str], now: datetime) -> None:
        if keys:
            for queue in sorted({self._queued_in[key] for key in keys if key in self._queued_in}):
                self.flush(queue, now)

    def preemptor_gave_up(self, key: str, now: datetime) -> None:
        """It was tried without progress: workloads that yield to it may be tried again."""
        self._wake(self.preemption_limit.gave_up(key), now)

    def _forget(self, key: str) -> None:
        """Take it out of the queue it is in."""
        self._forget_unqueued(key)
        self.scans.pop(key, None)
        queue = self._queued_in.pop(key, None)
        if queue is not None and queue in self.pending:
            self.pending[queue].remove(key)

    def _forget_unqueued(self, key: str) -> None:
        """It can be queued now, or is gone."""
        found = self.unqueued.pop(key, None)
        if found is not None:
            self._unqueued_of[_local_queue_of(found[0])].discard(key)

    def _enqueue(self, workload: Workload, now: datetime, before: WorkloadInfo | None = None) -> None:
        key = workload.key
        wanted = self._wanted(workload, before or self._waiting(key))
        if isinstance(wanted, Refusal) or self._queued_in.get(key, wanted.queue) != wanted.queue:
            self._forget(key)
        self._forget_unqueued(key)
        if isinstance(wanted, Refusal):
            self.unqueued[key] = (workload, wanted)
            self._refused[key] = None
            self._unqueued_of[_local_queue_of(workload)].add(key)
            return
        self._queued_in[key] = wanted.queue
        same = partial(same_for_admission, wanted)
        self.pending[wanted.queue].put(wanted, backoff_over(workload, now), same)

    def _wanted(self, workload: Workload, before: WorkloadInfo | None) -> WorkloadInfo | Refusal:
        """What to queue, or why it cannot be queued."""
        queue, refusal = self.queue_of(workload)
        if refusal is not None:
            return refusal
        try:
            return self._info(workload, queue, before)
        except QuantityError as error:  # an API server would have refused it, a file may hold it
            return Refusal(Cause.REQUEST_UNREADABLE, (str(error),))

    def queue_of(self, workload: Workload) -> tuple[str, Refusal | None]:
        """(name of the ClusterQueue, why the workload cannot be queued there)."""
        name = workload.spec.queue_name
        if not name:
            return "", Refusal(Cause.NO_QUEUE_NAMED)
        local = self._local_queues.get(_local_queue_of(workload))
        if local is None:
            return "", Refusal(Cause.NO_LOCAL_QUEUE, (name,))
        queue = local.spec.cluster_queue
        if local.spec.stop_policy not in ("", "None"):
            return "", Refusal(Cause.LOCAL_QUEUE_INACTIVE, (name,))
        if queue not in self.pending:
            return "", Refusal(Cause.NO_CLUSTER_QUEUE, (queue,))
        return queue, self._class_problem(workload)

    def _class_problem(self, workload: Workload) -> Refusal | None:
        """A copy from a manager cluster had its class looked up there."""
        ref = workload.spec.priority_class_ref
        if ref is None or not ref.name or well_known.ORIGIN_LABEL in workload.metadata.labels:
            return None
        if (ref.kind, ref.name) in self.priority_classes or ref.name in well_known.SYSTEM_CLASSES:
            return None
        kind = ref.kind or "WorkloadPriorityClass"
        return Refusal(Cause.NO_PRIORITY_CLASS, (kind, ref.name))

    def put_priority_class(self, kind: str, name: str, value: int, now: datetime) -> None:
        self.priority_classes[kind, name] = value
        self._retry(self.unqueued, now)

    def drop_priority_class(self, kind: str, name: str, now: datetime) -> None:
        self.priority_classes.pop((kind, name), None)
        for pending in self.pending.values():
            for info in list(pending):
                if self._class_problem(info.workload) is not None:
                    self.put_workload(info.workload, now)

    def _retry(self, unqueued: Iterable[str], now: datetime) -> None:
        for key in list(unqueued):
            self._enqueue(self.unqueued[key][0], now)

    def _info(self, workload: Workload, queue: str, before: WorkloadInfo | None) -> WorkloadInfo:
        ranges, devices = self.limit_ranges(workload.namespace), self.devices_of(workload).requests
        before = before or self._of_spec.get(id(workload.spec))
        info = WorkloadInfo(workload, queue, self.rules, ranges, before, devices)
        if before is None:
            if len(self._of_spec) >= MOST_SPECS:
                self._of_spec.clear()
            self._of_spec[id(workload.spec)] = info
        return info

    def _waiting(self, key: str) -> WorkloadInfo | None:
        queue = self._queued_in.get(key)
        return self.pending[queue].find(key) if queue is not None and queue in self.pending else None

    def has_heads(self, now: datetime | None = None) -> bool:
        """Whether a cycle would have a workload to try; `now`: one that waits for domains counts, too."""
        self.cache.refresh()
        due = self.second_passes.next_due()
        if due is not None and now is not None and self.second_passes.is_due(due, now):
            return True
        queues = self.cache.queues
        for name, pending in self.pending.items():  # noqa: SIM110 - asked before and after every cycle
            if pending.ready and queues[name].active:
                return True
        return False

    def take_untold(self) -> list[str]:
        """Keys of workloads that wait without having been tried: parked along with an equal one, or refused
        by every queue; they do not say so yet."""
        refused, self._refused = self._refused, {}
        parked = [info.key for pending in self.pending.values() for info in pending.take_untold()]
        return [*(key for key in refused if key in self.unqueued), *parked]

    def parked_for(self, key: str) -> Condition | None:
        """Why a workload waits that is not tried: what an equal one waits for that was, or why no queue takes
        it. None for all others."""
        if key in self.unqueued:
            refusal = self.unqueued[key][1]
            return Condition(
                type=well_known.QUOTA_RESERVED, status="False", reason=refusal.reason, message=refusal.message
            )
        info = self._waiting(key)
        return self.pending[info.queue].parked_for(info) if info is not None else None

    # --- waking ------------------------------------------------------------------------------------

    def flush(self, queue: str, now: datetime) -> None:
        """All workloads parked in the queue's whole tree may be tried again."""
        self.cache.refresh()
        for name in self._tree_of(queue):
            pending = self.pending.get(name)
            if pending is not None and not pending.flush_empty():
                selector = self.cache.queues[name].spec.namespace_selector
                pending.flush(partial(self._may_wake, selector, now))

    def flush_all(self, now: datetime) -> None:
        """Something changed on which any tree may depend: a flavor, a cohort, a check, a namespace."""
        self.preemption_limit.quota_changed()
        for name in self.pending:
            self.flush(name, now)

    def _may_wake(self, selector: LabelSelector | None, now: datetime, info: WorkloadInfo) -> bool:
        labels = self.namespaces.get(info.workload.namespace)
        return labels is not None and matches(selector, labels) and backoff_over(info.workload, now)

    def _tree_of(self, queue: str) -> list[str]:
        node = self.cache.queues.get(queue)
        if node is None:
            return []
        root = node.root
        if not isinstance(root, CohortNode):
            return [queue]
        return [member.name for cohort in cohorts_below(root) for member in cohort.members]


def _local_queue_of(workload: Workload) -> str:
    return f"{workload.namespace}/{workload.spec.queue_name}"


def _admitted_by(workload: Workload) -> str:
    admission = workload.status.admission
    return admission.cluster_queue if admission is not None else ""
