"""One admission cycle: the head of every queue gets its turn.

1. take the head of every active queue
2. nominate: find flavors and victims for each, on the tree as it is
3. order the entries
4. process each entry on a tree that includes the earlier ones: reserve, preempt, or wait
5. requeue the workloads that got nothing

In step 4 the tree simulates: the usage that later entries must respect is added, and all of it is taken
back before the decisions are entered in the state. Nothing outside the state is touched; the `Outcome` says
what to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from enum import Enum, auto

from reprieve.objects import Workload, well_known
from reprieve.quota import sentences, transitions
from reprieve.quota.admissible import refusal
from reprieve.quota.assignment import Assignment, Mode
from reprieve.quota.causes import MISCONFIGURED, WAITING_FOR_QUOTA, Cause, Refusal
from reprieve.quota.entries import Entry, in_order
from reprieve.quota.nomination import admission_of, checks_of, find_assignment, held_by
from reprieve.quota.outcome import (
    Event,
    Eviction,
    NodeFailure,
    Outcome,
    Replacement,
    Reservation,
    Waiting,
    admission_event,
    preempted_message,
    preemption_events,
    reservation_event,
)
from reprieve.quota.pending import (
    FAILED_AFTER_NOMINATION,
    NO_FIT,
    PENDING_PREEMPTION,
    PREEMPTION_NO_CANDIDATES,
    Scan,
)
from reprieve.quota.queue import ANY, QueueNode
from reprieve.quota.state import Quota
from reprieve.quota.topology.held import Held
from reprieve.quota.topology.step import PENDING, has_unhealthy_node
from reprieve.quota.tree import Cell, Usage
from reprieve.quota.victims.candidates import Victim
from reprieve.quota.workload_info import WorkloadInfo, backoff_over, has_quota, is_true

WAITING_FOR_PREEMPTED = "WaitingForPreemptedWorkloads"


def cycle(quota: Quota, now: datetime, *, events: bool = True) -> Outcome:
    """Run one cycle and enter its decisions in the state. `events`: whether anybody is told of them."""
    quota.cache.refresh()
    quota.cache.capacity.new_cycle()
    quota.cycles += 1
    return _Cycle(quota, now, events).run()


class Fits(Enum):
    YES = auto()
    NO_QUOTA = auto()
    NO_DOMAINS = auto()


class _Cycle:
    def __init__(self, quota: Quota, now: datetime, events: bool) -> None:
        self._quota = quota
        self._tells = events
        self._rules = quota.rules
        self._now = now
        self._outcome = Outcome(quota.cycles)
        self._leaving_of: defaultdict[int, dict[str, Victim]] = defaultdict(dict)
        """Victims of earlier entries, by the tree they are in."""
        self._simulated: list[tuple[Cell, int]] = []
        self._supposed: list[tuple[Held, ...]] = []
        """Domains that earlier entries take."""
        self._requeues: list[tuple[WorkloadInfo, str]] = []

    def run(self) -> Outcome:
        entries = [entry for info in self._heads() if (entry := self._try_nominate(info)) is not None]
        try:
            for entry in in_order(entries, self._rules):
                self._try_process(entry)
        finally:
            for cell, amount in reversed(self._simulated):
                cell.remove(amount)
            for held in self._supposed:
                self._quota.cache.capacity.suppose(held, -1)
        self._commit()
        return self._outcome

    # --- steps 1 and 2 ------------------------------------------------------------------------------

    def _heads(self) -> list[WorkloadInfo]:
        quota = self._quota
        heads = quota.second_passes.take(quota.cache.workloads, self._now)
        for name, pending in quota.pending.items():
            if not pending.ready:
                continue
            node = quota.cache.queues.get(name)
            if node is not None and node.active:
                head = pending.pop()
                if head is not None:
                    heads.append(head)
        return heads

    def _try_nominate(self, info: WorkloadInfo) -> Entry | None:
        try:
            return self._nominate(info)
        except Exception as error:  # noqa: BLE001 - one workload must not keep all others waiting
            self._set_aside(info, error)
            return None

    def _try_process(self, entry: Entry) -> None:
        try:
            self._process(entry)
        except Exception as error:  # noqa: BLE001
            self._set_aside(entry.info, error)

    def _set_aside(self, info: WorkloadInfo, error: Exception) -> None:
        """No decision about this workload is possible: it says so, and waits until something changes."""
        self._quota.cache.recount()
        for cell, amount in self._simulated:
            cell.add(amount)
        for held in self._supposed:
            self._quota.cache.capacity.suppose(held, 1)
        self._wait(info, NO_FIT, MISCONFIGURED, sentences.decision_failed(repr(error)))

    def _nominate(self, info: WorkloadInfo) -> Entry | None:
        quota = self._quota
        queue = quota.cache.queues[info.queue]
        namespace = info.workload.namespace
        refused = refusal(
            info.workload, queue, quota.namespaces.get(namespace), quota.limit_ranges(namespace)
        )
        if refused is None and (problem := quota.devices_of(info.workload).problem):
            refused = Refusal(Cause.DEVICES_UNCOUNTABLE, (problem,))
        if has_quota(info.workload):
            refused = None
        elif refused is None and (preemptor := quota.preemption_limit.yields_to(info.key)):
            refused = Refusal(Cause.LETS_PASS, (preemptor,))
        if refused is not None:
            self._refuse(info, refused)
            return None
        assignment, victims = find_assignment(quota, info, queue, self._resume(info, queue))
        self._remember_scan(info, queue, assignment)
        is_preemptor = quota.pending[info.queue].preemptor == info.key
        held = held_by(quota, info, queue, assignment)
        return Entry(info, queue, assignment, victims, is_preemptor, held)

    def _refuse(self, info: WorkloadInfo, refused: Refusal) -> None:
        self._wait(info, refused.requeue, refused.reason, refused.message)

    def _resume(self, info: WorkloadInfo, queue: QueueNode) -> Sequence[dict[str, int]]:
        """Where the flavor scan stopped, unless too much has changed since."""
        scan = self._quota.scans.get(info.key)
        if scan is None:
            return ()
        outdated = queue.generation > scan.generation
        if self._rules.keep_scan_progress:
            if scan.fingerprint != info.fingerprint:
                outdated = True
            elif self._quota.cycles - scan.cycle <= 1:
                outdated = False
        if outdated:
            del self._quota.scans[info.key]
            return ()
        return scan.tried

    def _remember_scan(self, info: WorkloadInfo, queue: QueueNode, assignment: Assignment) -> None:
        """A scan that went through all flavors starts over; there is nothing to remember."""
        if not assignment.unfinished:
            self._quota.scans.pop(info.key, None)
            return
        cycles, kind = self._quota.cycles, info.fingerprint
        self._quota.scans[info.key] = Scan(assignment.tried(), queue.generation, cycles, kind)

    # --- step 4 -------------------------------------------------------------------------------------

    def _process(self, entry: Entry) -> None:
        deferred = False
        fits, overlap = self._fits(entry)
        if overlap and self._rules.recompute_on_overlap:
            deferred = self._assign_again(entry, without_leaving=True)
            fits, overlap = self._fits(entry)
        elif fits is Fits.NO_DOMAINS and self._rules.topology.place_again:
            self._assign_again(entry, without_leaving=False)
            fits, overlap = self._fits(entry)
        assignment = entry.assignment
        if entry.second_pass and self._ends_second_pass(entry):
            return
        if assignment.mode == Mode.NO_FIT:
            self._wait(entry.info, NO_FIT, assignment.no_fit_reason(), assignment.message())
        elif assignment.mode == Mode.PREEMPT and not entry.victims:
            self._hold_capacity(entry)
            if self._rules.stop_without_candidates:
                self._forget_scan(entry.info)
            message = assignment.message()
            self._wait(entry.info, PREEMPTION_NO_CANDIDATES, WAITING_FOR_QUOTA, message)
        elif assignment.mode == Mode.PREEMPT and self._gated(entry.info):
            self._forget_scan(entry.info)
            reason = well_known.PREEMPTION_GATED
            self._wait(entry.info, reason, reason, sentences.GATED, gated=True)
        elif deferred:
            self._forget_scan(entry.info)
            self._simulate(entry, entry.usage)
            self._wait(entry.info, PENDING_PREEMPTION, WAITING_FOR_PREEMPTED, sentences.DEFERRED)
        elif overlap or fits is not Fits.YES:
            self._skip(entry, sentences.OVERLAPPING if overlap else sentences.NO_LONGER_FITS)
        else:
            self._simulate(entry, entry.usage)
            if entry.victims:
                self._leaving(entry).update((victim.info.key, victim) for victim in entry.victims)
            if assignment.mode == Mode.FIT:
                self._reserve(entry)
            else:
                self._preempt(entry)

    def _ends_second_pass(self, entry: Entry) -> bool:
        """Nothing can be placed here; or there is no node in place of the failed one: then the workload is
        stopped at once, and nobody makes way."""
        info, mode = entry.info, entry.assignment.mode
        if any(each.delayed == PENDING and each.placement is None for each in entry.assignment.pod_sets):
            self._quota.second_passes.again(info.key, self._now)  # its domains are found elsewhere
            return True
        if mode == Mode.FIT or not has_unhealthy_node(info.workload) or not self._rules.topology.fail_fast:
            return False
        failed = [node.name for node in info.workload.status.unhealthy_nodes]
        message = sentences.no_replacement_node(failed)
        workload = transitions.evict(info.workload, well_known.NODE_FAILURES, message, self._now)
        self._outcome.failed.append(NodeFailure(info, message, workload))
        self._outcome.events.append(Event(info.key, "Normal", "EvictedDueToNodeFailures", message))
        return True

    def _fits(self, entry: Entry) -> tuple[Fits, bool]:
        """(whether it fits without its victims and those of earlier entries, whether they share victims)."""
        if not self._leaving_of and not entry.victims:
            return self._fits_now(entry), False
        leaving = self._leaving(entry)
        gone = leaving | {victim.info.key: victim for victim in entry.victims}
        for victim in gone.values():
            victim.leave()
        fits = self._fits_now(entry)
        for victim in gone.values():
            victim.stay()
        return fits, any(victim.info.key in leaving for victim in entry.victims)

    def _fits_now(self, entry: Entry) -> Fits:
        if not entry.queue.fits(entry.usage):
            return Fits.NO_QUOTA
        return Fits.YES if self._quota.cache.capacity.fits(entry.held) else Fits.NO_DOMAINS

    def _leaving(self, entry: Entry) -> dict[str, Victim]:
        return self._leaving_of[id(entry.queue.root)]

    def _assign_again(self, entry: Entry, without_leaving: bool) -> bool:
        """Assign the same flavors again, perhaps as if earlier victims were gone; whether it fits then."""
        pinned = {
            each.name: {r: choice.flavor for r, choice in each.choices.items()}
            for each in entry.assignment.pod_sets
        }
        self._forget_scan(entry.info)
        leaving = self._leaving(entry).values() if without_leaving else ()
        for victim in leaving:
            victim.leave()
            victim.info.away = True
        entry.assignment, entry.victims = find_assignment(self._quota, entry.info, entry.queue, pinned=pinned)
        for victim in leaving:
            victim.stay()
            victim.info.away = False
        entry.held = held_by(self._quota, entry.info, entry.queue, entry.assignment)
        self._remember_scan(entry.info, entry.queue, entry.assignment)
        return entry.assignment.mode == Mode.FIT

    def _gated(self, info: WorkloadInfo) -> bool:
        return info.gate_closed

    def _hold_capacity(self, entry: Entry) -> None:
        """Without candidates: later entries may not take what this one needs, unless it can reclaim it."""
        queue = entry.queue
        if queue.reclaim_policy == ANY and not (self._rules.preemptors_first and entry.is_preemptor):
            return
        kept: Usage = {}
        for key, amount in entry.assignment.usage.items():
            cell = queue.cell(key)
            if not entry.assignment.borrowing:
                amount = min(amount, cell.subtree - cell.usage)
            elif cell.borrowing is not None:
                amount = min(amount, cell.subtree + cell.borrowing - cell.usage)
            if amount > 0:
                kept[key] = amount
        self._simulate(entry, {} if entry.second_pass else kept)

    def _simulate(self, entry: Entry, usage: Usage) -> None:
        for key, amount in usage.items():
            cell = entry.queue.cell(key)
            cell.add(amount)
            self._simulated.append((cell, amount))
        if entry.held:
            self._quota.cache.capacity.suppose(entry.held, 1)
            self._supposed.append(entry.held)

    def _skip(self, entry: Entry, message: str) -> None:
        if entry.assignment.mode == Mode.PREEMPT:
            skips = self._outcome.skipped_preemptions
            skips[entry.queue.name] = skips.get(entry.queue.name, 0) + 1
        if not self._rules.keep_scan_progress:
            self._forget_scan(entry.info)
        self._wait(entry.info, FAILED_AFTER_NOMINATION, WAITING_FOR_QUOTA, message)

    def _forget_scan(self, info: WorkloadInfo) -> None:
        self._quota.scans.pop(info.key, None)

    def _reserve(self, entry: Entry) -> None:
        info, assignment = entry.info, entry.assignment
        admission = admission_of(entry.queue, assignment)
        checks = checks_of(entry.queue, assignment)
        workload = transitions.reserve(info.workload, admission, checks, self._now)
        self._outcome.reserved.append(Reservation(info, assignment, workload))
        if not entry.second_pass and entry.queue.usage_based:
            self._quota.count_admission(info, self._now)
        if self._tells:
            self._tell(entry, workload)
        for victim in entry.victims:
            if not victim.reason:
                old = transitions.replace_slice(victim.info.workload, info.key, self._now)
                self._outcome.replaced.append(Replacement(victim.info, info, old))

    def _tell(self, entry: Entry, workload: Workload) -> None:
        info = entry.info
        if not entry.second_pass:
            self._outcome.events.append(reservation_event(info, entry.assignment, self._now))
        if is_true(workload, well_known.ADMITTED) and not is_true(info.workload, well_known.ADMITTED):
            self._outcome.events.append(admission_event(info))

    def _preempt(self, entry: Entry) -> None:
        info, queue = entry.info, entry.queue
        victims = [victim for victim in entry.victims if victim.reason]
        for victim in victims:
            if victim.info.evicted:
                continue  # on its way out already
            message = preempted_message(info, queue, victim)
            workload = transitions.preempt(victim.info.workload, victim.reason, message, self._now)
            self._outcome.evicted.append(Eviction(victim, info, message, workload))
            self._quota.preemption_limit.preempted(info.key, victim.info.key)
            if self._tells:
                self._outcome.events += preemption_events(info, victim, message)
        self._forget_scan(info)
        message = sentences.pending_preemption(entry.assignment.message(), len(victims))
        self._wait(info, PENDING_PREEMPTION, WAITING_FOR_PREEMPTED, message)

    def _wait(self, info: WorkloadInfo, requeue: str, reason: str, message: str, gated: bool = False) -> None:
        if has_quota(info.workload):
            self._quota.second_passes.again(info.key, self._now)
            self._outcome.events.append(Event(info.key, "Warning", "SecondPassFailed", message))
            return
        shown = reason if self._rules.fine_reasons else "Pending"
        workload = transitions.wait(info.workload, shown, message, self._now, gated)
        changed = workload if workload.status != info.workload.status else None
        self._outcome.waiting.append(Waiting(info, shown, message, gated, changed))
        self._outcome.events.append(Event(info.key, "Warning", shown, message))
        self._requeues.append((info, requeue))

    # --- step 5 -------------------------------------------------------------------------------------

    def _commit(self) -> None:
        quota, outcome = self._quota, self._outcome
        for eviction in outcome.evicted:
            quota.put_workload(eviction.workload, self._now)
        for failure in outcome.failed:
            quota.put_workload(failure.workload, self._now)
        for reservation in outcome.reserved:
            quota.put_workload(reservation.workload, self._now)
        for replacement in outcome.replaced:
            quota.put_workload(replacement.workload, self._now)
        updated = {waiting.info.key: waiting.workload for waiting in outcome.waiting if waiting.workload}
        for info, reason in self._requeues:
            info.workload = updated.get(info.key, info.workload)
            ready = backoff_over(info.workload, self._now)
            unfinished = info.key in quota.scans
            quota.pending[info.queue].requeue(info, reason, ready, unfinished)
            if reason != PENDING_PREEMPTION:
                quota.preemptor_gave_up(info.key, self._now)
