"""Everything the admission side knows, in memory: objects come, change and go one at a time.

Reservations live in the `Ledger`, waiting workloads in one `PendingQueue` for each ClusterQueue. This module moves workloads
between the two and wakes parked ones when something they may be waiting for changes. It decides nothing; `cycle` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial

from reprieve.objects import (
    ClusterQueue,
    LabelSelector,
    LimitRange,
    LocalQueue,
    QuantityError,
    Workload,
    find_condition,
    matches,
    well_known,
)
from reprieve.quota.admissible import MISCONFIGURED, Refusal
from reprieve.quota.cache import Ledger
from reprieve.quota.claims import Claim, backoff_over, is_queueable, is_reserved
from reprieve.quota.pending import PendingQueue, Scan
from reprieve.quota.preemption_limit import PreemptionLimit
from reprieve.quota.rules import Rules
from reprieve.quota.tree import CohortNode

SUSPENDED = "Suspended"


class Quota:
    """The state of admission. `now` is given wherever a waiting time may end."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self.ledger = Ledger(self.rules)
        self.pending: dict[str, PendingQueue] = {}
        self.scans: dict[str, Scan] = {}
        self.truce = PreemptionLimit()
        self.cycles = 0
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.priority_classes: dict[tuple[str, str], int] = {}
        self.strays: dict[str, tuple[Workload, Refusal]] = {}
        """Workloads that cannot be queued at all, and why."""
        self._strays_of: defaultdict[str, set[str]] = defaultdict(set)
        """The same, by the LocalQueue they name."""
        self._local_queues: dict[str, LocalQueue] = {}
        self._limit_ranges: dict[str, dict[str, LimitRange]] = {}
        self._home: dict[str, str] = {}
        """The ClusterQueue in which a waiting workload is queued."""

    # --- queues -------------------------------------------------------------------------------------

    def put_cluster_queue(self, queue: ClusterQueue, now: datetime) -> None:
        self.truce.quota_changed()
        self.ledger.put_queue(queue)
        strict = queue.spec.queueing_strategy == "StrictFIFO"
        if queue.name in self.pending:
            self.pending[queue.name].strict = strict
        else:
            self.pending[queue.name] = PendingQueue(strict)
        for key, local in self._local_queues.items():
            if local.spec.cluster_queue == queue.name:
                self._retry(self._strays_of.get(key, ()), now)
        self.flush(queue.name, now)

    def drop_cluster_queue(self, name: str, now: datetime) -> None:
        self.flush(name, now)
        self.truce.quota_changed()
        self.ledger.drop_queue(name)
        for claim in self.pending.pop(name, PendingQueue(strict=True)):
            self._home.pop(claim.key, None)
            self.put_workload(claim.workload, now)

    def put_local_queue(self, queue: LocalQueue, now: datetime) -> None:
        old = self._local_queues.get(queue.key)
        self._local_queues[queue.key] = queue
        if old is not None and old.spec != queue.spec:
            self._requeue_all_of(queue.key, now)
        self._retry(self._strays_of.get(queue.key, ()), now)

    def drop_local_queue(self, key: str, now: datetime) -> None:
        self._local_queues.pop(key, None)
        self._requeue_all_of(key, now)

    def _requeue_all_of(self, local_queue: str, now: datetime) -> None:
        for pending in list(self.pending.values()):
            for claim in list(pending):
                if _local_queue_of(claim.workload) == local_queue:
                    self.put_workload(claim.workload, now)

    def put_namespace(self, name: str, labels: Mapping[str, str]) -> None:
        self.namespaces[name] = labels

    def put_limit_range(self, limit_range: LimitRange) -> None:
        self._limit_ranges.setdefault(limit_range.namespace, {})[limit_range.name] = limit_range

    def drop_limit_range(self, namespace: str, name: str) -> None:
        self._limit_ranges.get(namespace, {}).pop(name, None)

    def limit_ranges(self, namespace: str) -> tuple[LimitRange, ...]:
        found = self._limit_ranges.get(namespace)
        return tuple(found.values()) if found else ()

    # --- workloads ----------------------------------------------------------------------------------

    def put_workload(self, workload: Workload, now: datetime) -> None:
        """Take note of a workload: counted, queued, parked or let go, by its conditions."""
        held = self.ledger.claims.get(workload.key)
        if is_reserved(workload):
            claim = self._claim(workload, _admitted_by(workload), held or self._waiting(workload.key))
            self._forget(workload.key)
            self.ledger.reserve(claim)
            if held is None:
                self._wake(self.truce.reserved(claim.key), now)
            elif _uses_less(claim, held):
                self.flush(held.queue, now)
            return
        if held is not None:
            self.ledger.release(workload.key)
            self.flush(held.queue, now)
        if is_queueable(workload, self.rules):
            self._enqueue(workload, now, held)
        else:
            self._let_go(workload.key, now)

    def drop_workload(self, key: str, now: datetime) -> None:
        held = self.ledger.release(key)
        if held is not None:
            self.flush(held.queue, now)
        self._let_go(key, now)

    def _let_go(self, key: str, now: datetime) -> None:
        """It neither holds quota nor waits any more."""
        home = self._home.get(key)
        self._forget(key)
        self._wake(self.truce.gone(key), now)
        self.truce.quota_given_back()
        if home is not None:
            self.flush(home, now)

    def _wake(self, keys: Iterable[str], now: datetime) -> None:
        for home in sorted({self._home[key] for key in keys if key in self._home}):
            self.flush(home, now)

    def preemptor_gave_up(self, key: str, now: datetime) -> None:
        """Tried without progress: whoever stepped back for it may be tried again."""
        self._wake(self.truce.gave_up(key), now)

    def _forget(self, key: str) -> None:
        """Out of whatever queue it was in."""
        self._collect(key)
        self.scans.pop(key, None)
        home = self._home.pop(key, None)
        if home is not None and home in self.pending:
            self.pending[home].remove(key)

    def _collect(self, key: str) -> None:
        """Not a stray any more."""
        stray = self.strays.pop(key, None)
        if stray is not None:
            self._strays_of[_local_queue_of(stray[0])].discard(key)

    def _enqueue(self, workload: Workload, now: datetime, before: Claim | None = None) -> None:
        key = workload.key
        wanted = self._wanted(workload, before or self._waiting(key))
        if isinstance(wanted, Refusal) or self._home.get(key, wanted.queue) != wanted.queue:
            self._forget(key)
        self._collect(key)
        if isinstance(wanted, Refusal):
            self.strays[key] = (workload, wanted)
            self._strays_of[_local_queue_of(workload)].add(key)
            return
        self._home[key] = wanted.queue
        same = partial(_same_for_admission, wanted)
        self.pending[wanted.queue].put(wanted, backoff_over(workload, now), same)

    def _wanted(self, workload: Workload, before: Claim | None) -> Claim | Refusal:
        """The claim to queue, or why there is none."""
        queue, refusal = self.queue_of(workload)
        if refusal is not None:
            return refusal
        try:
            return self._claim(workload, queue, before)
        except QuantityError as error:  # an API server would have refused it, a file may hold it
            return Refusal(MISCONFIGURED, str(error))

    def queue_of(self, workload: Workload) -> tuple[str, Refusal | None]:
        """(name of the ClusterQueue, why the workload cannot be queued there)."""
        name = workload.spec.queue_name
        if not name:
            return "", Refusal(MISCONFIGURED, "spec.queueName names no LocalQueue")
        local = self._local_queues.get(_local_queue_of(workload))
        if local is None:
            return "", Refusal(MISCONFIGURED, f"LocalQueue {name} doesn't exist")
        queue = local.spec.cluster_queue
        if local.spec.stop_policy not in ("", "None"):
            return "", Refusal(SUSPENDED, f"LocalQueue {name} is inactive")
        if queue not in self.pending:
            return "", Refusal(MISCONFIGURED, f"ClusterQueue {queue} doesn't exist")
        return queue, self._class_problem(workload)

    def _class_problem(self, workload: Workload) -> Refusal | None:
        """A copy from a manager cluster had its class looked up there."""
        ref = workload.spec.priority_class_ref
        if ref is None or not ref.name or well_known.ORIGIN_LABEL in workload.metadata.labels:
            return None
        if (ref.kind, ref.name) in self.priority_classes or ref.name.startswith("system-"):
            return None
        return Refusal(MISCONFIGURED, f"{ref.kind or 'WorkloadPriorityClass'} {ref.name} doesn't exist")

    def put_priority_class(self, kind: str, name: str, value: int, now: datetime) -> None:
        self.priority_classes[kind, name] = value
        self._retry(self.strays, now)

    def drop_priority_class(self, kind: str, name: str, now: datetime) -> None:
        self.priority_classes.pop((kind, name), None)
        for pending in self.pending.values():
            for claim in list(pending):
                if self._class_problem(claim.workload) is not None:
                    self.put_workload(claim.workload, now)

    def _retry(self, strays: Iterable[str], now: datetime) -> None:
        for key in list(strays):
            self._enqueue(self.strays[key][0], now)

    def _claim(self, workload: Workload, queue: str, before: Claim | None) -> Claim:
        return Claim(workload, queue, self.rules, self.limit_ranges(workload.namespace), before)

    def _waiting(self, key: str) -> Claim | None:
        home = self._home.get(key)
        return self.pending[home].find(key) if home is not None and home in self.pending else None

    def has_heads(self) -> bool:
        """Whether a cycle would have anybody to try."""
        self.ledger.refresh()
        queues = self.ledger.queues
        return any(pending.has_active and queues[name].active for name, pending in self.pending.items())

    # --- waking ------------------------------------------------------------------------------------

    def flush(self, queue: str, now: datetime) -> None:
        """Everybody parked in the queue's whole tree may be tried again."""
        self.ledger.refresh()
        for name in self._tree_of(queue):
            if name in self.pending:
                selector = self.ledger.queues[name].spec.namespace_selector
                self.pending[name].flush(partial(self._may_wake, selector, now))

    def flush_all(self, now: datetime) -> None:
        """Something changed on which every tree may depend: a flavor, a cohort, a check, a namespace."""
        self.truce.quota_changed()
        for name in self.pending:
            self.flush(name, now)

    def _may_wake(self, selector: LabelSelector | None, now: datetime, claim: Claim) -> bool:
        labels = self.namespaces.get(claim.workload.namespace)
        return labels is not None and matches(selector, labels) and backoff_over(claim.workload, now)

    def _tree_of(self, queue: str) -> list[str]:
        node = self.ledger.queues.get(queue)
        if node is None:
            return []
        root = node.root
        return list(_member_names(root)) if isinstance(root, CohortNode) else [queue]


def _member_names(cohort: CohortNode) -> Iterator[str]:
    for member in cohort.members:
        yield member.name
    for child in cohort.cohorts:
        yield from _member_names(child)


def _local_queue_of(workload: Workload) -> str:
    return f"{workload.namespace}/{workload.spec.queue_name}"


def _admitted_by(workload: Workload) -> str:
    admission = workload.status.admission
    return admission.cluster_queue if admission is not None else ""


def _uses_less(new: Claim, old: Claim) -> bool:
    return any(new.held.get(key, 0) < amount for key, amount in old.held.items())


def _same_for_admission(new: Claim, old: Claim) -> bool:
    """Whether nothing changed that could change the answer of a parked workload."""
    before, after = old.workload, new.workload
    return (
        before.spec == after.spec
        and before.status.reclaimable_pods == after.status.reclaimable_pods
        and old.gate_closed == new.gate_closed
        and before.metadata.annotations.get(well_known.PRIORITY_BOOST_ANNOTATION)
        == after.metadata.annotations.get(well_known.PRIORITY_BOOST_ANNOTATION)
        and all(
            find_condition(before.status.conditions, type) == find_condition(after.status.conditions, type)
            for type in (well_known.EVICTED, well_known.REQUEUED)
        )
    )
