"""One admission cycle: the first workload of every queue gets its turn.

1. take the head of every active queue
2. find flavors and victims for each, on the tree as it is
3. order the heads
4. give each its turn on a sketch of the tree that includes the earlier ones: reserve, preempt, or wait
5. put back whoever got nothing

The tree is a sketch only during step 4: what later turns must respect is added, and all of it is taken back before the decisions are
entered in the state. Nothing outside the state is touched; the `Outcome` says what to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from reprieve.objects import Admission, PodSetAssignment, format_amount, well_known
from reprieve.quota import transitions
from reprieve.quota.admissible import Refusal, refusal
from reprieve.quota.assignment import WAITING_FOR_QUOTA, Assignment, Mode
from reprieve.quota.claims import Claim, backoff_over, holds
from reprieve.quota.demand import Demand
from reprieve.quota.entries import Entry, in_order
from reprieve.quota.flavor_assigner import Assigner, Nominated, can_shrink, largest_that_works
from reprieve.quota.outcome import (
    DEFERRED,
    GATED,
    NO_LONGER_FITS,
    OVERLAPPING,
    Event,
    Eviction,
    Outcome,
    Reservation,
    Waiting,
    admission_event,
    preempted_message,
    preemption_events,
    reservation_event,
    steps_back,
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
from reprieve.quota.tree import Cell, Usage
from reprieve.quota.victims.candidates import Victim
from reprieve.quota.victims.finder import Scout

WAITING_FOR_PREEMPTED = "WaitingForPreemptedWorkloads"
ADMISSION_GATED = "AdmissionGated"


def cycle(quota: Quota, now: datetime) -> Outcome:
    """Run one cycle and enter its decisions in the state."""
    quota.ledger.refresh()
    quota.cycles += 1
    return _Cycle(quota, now).run()


def find_assignment(
    quota: Quota,
    claim: Claim,
    queue: QueueNode,
    resume: Sequence[dict[str, int]] = (),
    nominated: Nominated | None = None,
) -> tuple[Assignment, list[Victim]]:
    """Flavors and victims for a workload: all its pods if that is possible at all, else as many as possible."""
    rules = quota.rules
    scout = Scout(claim, queue, rules, quota.truce.protected_from(claim.key))
    assigner = Assigner(queue, quota.ledger.flavors, rules, scout)

    def attempt(demands: Sequence[Demand]) -> tuple[Assignment, list[Victim]] | None:
        found = assigner.assign(demands, resume, nominated)
        if found.mode == Mode.FIT:
            return found, []
        victims = scout.victims_for(found) if found.mode == Mode.PREEMPT else []
        return (found, victims) if victims else None

    whole = assigner.assign(claim.demands, resume, nominated)
    if whole.mode == Mode.FIT:
        return whole, []
    victims = scout.victims_for(whole) if whole.mode == Mode.PREEMPT else []
    if not victims and rules.partial_admission and can_shrink(claim.demands):
        reduced = largest_that_works(claim.demands, attempt)
        if reduced is not None:
            return reduced
    return whole, victims


class _Cycle:
    def __init__(self, quota: Quota, now: datetime) -> None:
        self._quota = quota
        self._rules = quota.rules
        self._now = now
        self._outcome = Outcome(quota.cycles)
        self._leaving_of: defaultdict[int, dict[str, Victim]] = defaultdict(dict)
        """Victims of earlier turns, by the tree they are in."""
        self._sketched: list[tuple[Cell, int]] = []
        self._requeues: list[tuple[Claim, str]] = []

    def run(self) -> Outcome:
        entries = [entry for claim in self._heads() if (entry := self._nominate(claim)) is not None]
        try:
            for entry in in_order(entries, self._rules):
                self._turn(entry)
        finally:
            for cell, amount in reversed(self._sketched):
                cell.remove(amount)
        self._enter()
        return self._outcome

    # --- steps 1 and 2 ------------------------------------------------------------------------------

    def _heads(self) -> list[Claim]:
        quota = self._quota
        heads = []
        for name, pending in quota.pending.items():
            node = quota.ledger.queues.get(name)
            if node is not None and node.active:
                head = pending.pop()
                if head is not None:
                    heads.append(head)
        return heads

    def _nominate(self, claim: Claim) -> Entry | None:
        quota = self._quota
        queue = quota.ledger.queues[claim.queue]
        namespace = claim.workload.namespace
        refused = refusal(
            claim.workload, queue, quota.namespaces.get(namespace), quota.limit_ranges(namespace)
        )
        if refused is None and quota.truce.lets_pass(claim.key):
            passing = quota.truce.lets_pass(claim.key)
            refused = Refusal(WAITING_FOR_QUOTA, steps_back(passing))
        if refused is not None:
            self._refuse(claim, refused)
            return None
        assignment, victims = find_assignment(quota, claim, queue, self._resume(claim, queue))
        self._remember_scan(claim, queue, assignment)
        is_preemptor = quota.pending[claim.queue].preemptor == claim.key
        return Entry(claim, queue, assignment, victims, is_preemptor)

    def _refuse(self, claim: Claim, refused: Refusal) -> None:
        self._wait(claim, refused.requeue, refused.reason, refused.message)

    def _resume(self, claim: Claim, queue: QueueNode) -> Sequence[dict[str, int]]:
        """Where the scan over flavors stopped, unless too much has changed since."""
        scan = self._quota.scans.get(claim.key)
        if scan is None:
            return ()
        outdated = queue.generation > scan.generation
        if self._rules.keep_scan_progress:
            if scan.fingerprint != claim.fingerprint:
                outdated = True
            elif self._quota.cycles - scan.cycle <= 1:
                outdated = False
        if outdated:
            del self._quota.scans[claim.key]
            return ()
        return scan.tried

    def _remember_scan(self, claim: Claim, queue: QueueNode, assignment: Assignment) -> None:
        """A scan that went through all flavors starts over; there is nothing to remember."""
        if not assignment.unfinished:
            self._quota.scans.pop(claim.key, None)
            return
        cycles, kind = self._quota.cycles, claim.fingerprint
        self._quota.scans[claim.key] = Scan(assignment.tried(), queue.generation, cycles, kind)

    # --- step 4 -------------------------------------------------------------------------------------

    def _turn(self, entry: Entry) -> None:
        deferred = False
        fits, overlap = self._fits(entry)
        if overlap and self._rules.recompute_on_overlap:
            deferred = self._assign_again(entry)
            fits, overlap = self._fits(entry)
        assignment = entry.assignment
        if assignment.mode == Mode.NO_FIT:
            self._wait(entry.claim, NO_FIT, assignment.no_fit_cause(), assignment.message())
        elif assignment.mode == Mode.PREEMPT and not entry.victims:
            self._keep_room(entry)
            message = assignment.message()
            self._wait(entry.claim, PREEMPTION_NO_CANDIDATES, WAITING_FOR_QUOTA, message)
        elif assignment.mode == Mode.PREEMPT and self._gated(entry.claim):
            self._forget_scan(entry.claim)
            self._wait(entry.claim, well_known.PREEMPTION_GATED, ADMISSION_GATED, GATED, gated=True)
        elif deferred:
            self._forget_scan(entry.claim)
            self._sketch(entry.queue, assignment.usage)
            self._wait(entry.claim, PENDING_PREEMPTION, WAITING_FOR_PREEMPTED, DEFERRED)
        elif overlap or not fits:
            self._skip(entry, OVERLAPPING if overlap else NO_LONGER_FITS)
        else:
            self._sketch(entry.queue, assignment.usage)
            self._leaving(entry).update((victim.claim.key, victim) for victim in entry.victims)
            if assignment.mode == Mode.FIT:
                self._reserve(entry)
            else:
                self._preempt(entry)

    def _fits(self, entry: Entry) -> tuple[bool, bool]:
        """(whether it fits once its victims and those of earlier turns are gone, whether they share victims)."""
        leaving = self._leaving(entry)
        if not leaving and not entry.victims:
            return entry.queue.fits(entry.assignment.usage), False
        gone = leaving | {victim.claim.key: victim for victim in entry.victims}
        for victim in gone.values():
            victim.leave()
        fits = entry.queue.fits(entry.assignment.usage)
        for victim in gone.values():
            victim.stay()
        return fits, any(victim.claim.key in leaving for victim in entry.victims)

    def _leaving(self, entry: Entry) -> dict[str, Victim]:
        return self._leaving_of[id(entry.queue.root)]

    def _assign_again(self, entry: Entry) -> bool:
        """Another look without the victims of earlier turns, at the same flavors; whether it fits when they are gone."""
        nominated = Nominated(
            [{r: choice.flavor for r, choice in each.choices.items()} for each in entry.assignment.pod_sets]
        )
        self._forget_scan(entry.claim)
        leaving = self._leaving(entry).values()
        for victim in leaving:
            victim.leave()
            victim.claim.away = True
        entry.assignment, entry.victims = find_assignment(
            self._quota, entry.claim, entry.queue, nominated=nominated
        )
        for victim in leaving:
            victim.stay()
            victim.claim.away = False
        return entry.assignment.mode == Mode.FIT

    def _gated(self, claim: Claim) -> bool:
        return self._rules.preemption_gates and claim.gate_closed

    def _keep_room(self, entry: Entry) -> None:
        """Nobody to preempt yet: later turns may not take what the queue could give, unless it can reclaim anyway."""
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
        self._sketch(queue, kept)

    def _sketch(self, queue: QueueNode, usage: Usage) -> None:
        for key, amount in usage.items():
            cell = queue.cell(key)
            cell.add(amount)
            self._sketched.append((cell, amount))

    def _skip(self, entry: Entry, message: str) -> None:
        if entry.assignment.mode == Mode.PREEMPT:
            skips = self._outcome.skipped_preemptions
            skips[entry.queue.name] = skips.get(entry.queue.name, 0) + 1
        if not self._rules.keep_scan_progress:
            self._forget_scan(entry.claim)
        self._wait(entry.claim, FAILED_AFTER_NOMINATION, WAITING_FOR_QUOTA, message)

    def _forget_scan(self, claim: Claim) -> None:
        self._quota.scans.pop(claim.key, None)

    def _reserve(self, entry: Entry) -> None:
        claim, assignment = entry.claim, entry.assignment
        admission = _admission(entry.queue, assignment)
        checks = _checks(entry.queue, assignment)
        workload = transitions.reserve(claim.workload, admission, checks, self._now)
        self._outcome.reserved.append(Reservation(claim, assignment, workload))
        self._outcome.events.append(reservation_event(claim, assignment, self._now))
        if holds(workload, well_known.ADMITTED):
            self._outcome.events.append(admission_event(claim))

    def _preempt(self, entry: Entry) -> None:
        claim, queue = entry.claim, entry.queue
        for victim in entry.victims:
            if victim.claim.evicted:
                continue  # on its way out already
            message = preempted_message(claim, queue, victim)
            workload = transitions.preempt(victim.claim.workload, victim.reason, message, self._now)
            self._outcome.evicted.append(Eviction(victim, claim, message, workload))
            self._quota.truce.preempted(claim.key, victim.claim.key)
            self._outcome.events += preemption_events(claim, victim, message)
        self._forget_scan(claim)
        message = f"{entry.assignment.message()}. Pending the preemption of {len(entry.victims)} workload(s)"
        self._wait(claim, PENDING_PREEMPTION, WAITING_FOR_PREEMPTED, message)

    def _wait(self, claim: Claim, requeue: str, reason: str, message: str, gated: bool = False) -> None:
        shown = reason if self._rules.fine_reasons else "Pending"
        workload = transitions.wait(claim.workload, shown, message, self._now, gated)
        changed = workload if workload != claim.workload else None
        self._outcome.waiting.append(Waiting(claim, shown, message, gated, changed))
        self._outcome.events.append(Event(claim.key, "Warning", shown, message))
        self._requeues.append((claim, requeue))

    # --- step 5 -------------------------------------------------------------------------------------

    def _enter(self) -> None:
        quota, outcome = self._quota, self._outcome
        for eviction in outcome.evicted:
            quota.put_workload(eviction.workload, self._now)
        for reservation in outcome.reserved:
            quota.put_workload(reservation.workload, self._now)
        updated = {waiting.claim.key: waiting.workload for waiting in outcome.waiting if waiting.workload}
        for claim, reason in self._requeues:
            claim.workload = updated.get(claim.key, claim.workload)
            ready = backoff_over(claim.workload, self._now)
            unfinished = claim.key in quota.scans
            quota.pending[claim.queue].requeue(claim, reason, ready, unfinished)
            if reason != PENDING_PREEMPTION:
                quota.preemptor_gave_up(claim.key, self._now)


def _admission(queue: QueueNode, assignment: Assignment) -> Admission:
    return Admission(
        cluster_queue=queue.name,
        pod_set_assignments=tuple(
            PodSetAssignment(
                name=each.name,
                flavors={resource: choice.flavor for resource, choice in each.choices.items()},
                resource_usage={r: format_amount(r, each.requests[r]) for r in each.choices},
                count=each.count,
            )
            for each in assignment.pod_sets
        ),
    )


def _checks(queue: QueueNode, assignment: Assignment) -> frozenset[str]:
    """Names of the admission checks that apply to the assigned flavors."""
    flavors = {key.flavor for key in assignment.usage}
    return frozenset(
        rule.name
        for rule in queue.spec.admission_checks_strategy.admission_checks
        if not rule.on_flavors or flavors & set(rule.on_flavors)
    )
