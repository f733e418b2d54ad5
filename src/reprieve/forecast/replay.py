"""One future: the situation replayed forward in virtual time, with one run time for each owner.

Decisions are those of the scheduler's core and of the quota cycle, as `simulate` drives them. Nothing new
arrives. It ends when all that was asked about has started, at the horizon, or when nothing changes any more.

The first moment needs no run time that has to be drawn: it is replayed once, and every future goes on from a
copy of it.
"""

from collections.abc import Collection, Sequence

import msgspec

from reprieve.cluster import Cluster
from reprieve.forecast import sentences
from reprieve.forecast.claims import SchedulingWithClaims
from reprieve.forecast.objects import UnitObjects
from reprieve.forecast.situation import NO_WORKLOAD, Situation, Unit
from reprieve.objects import well_known
from reprieve.simulate import (
    Admission,
    Decided,
    Event,
    Events,
    Job,
    Kind,
    policy,
)

DRAWN = -1
"""A run time that is drawn for every future."""
PATIENCE = 3 * 3600 * 1_000_000
"""How long those who wait are tried again when nothing else happens any more."""

OBJECTS_PER_DECISION = 15_000
"""A decision among so many objects costs twice what it costs among few."""
COPIED_PER_DECISION = 100
"""To copy the beginning with so many objects costs as much as a decision."""


class Future(msgspec.Struct, kw_only=True):
    """What happened in one replay. Times are ticks."""

    started: dict[int, int] = {}
    """By unit."""
    left_out: set[int] = set()
    """Units that their workload starts without: it got quota for fewer pods."""
    admitted: dict[int, int] = {}
    """By workload: when it first got quota."""
    victims: dict[int, list[int]] = {}
    """By unit that was asked about: the units that made way for it, or for its quota."""
    evicted: dict[int, set[str]] = {}
    """By unit that was asked about: the pods that the scheduler evicted for it, by key."""
    ended: dict[int, tuple[int, ...]] = {}
    """By unit that was asked about: the owners whose end or leaving let it in."""
    before: dict[int, int] = {}
    """Owners that started before the last of those asked about, and when."""
    reasons: dict[int, tuple[str, ...]] = {}
    """By unit that was asked about: why it was first refused."""
    work: int = 0
    """What it took, in decisions; those of large clusters count for more."""
    stuck: bool = False
    """Nothing would ever change any more."""


class Replay:
    def __init__(
        self, situation: Situation, asked: Collection[int], run_times: Sequence[int | None], horizon: int
    ) -> None:
        """The first moment. `run_times`: by owner; None: it never ends; DRAWN: `run` will say.

        `horizon`: ticks from now.
        """
        self._situation = situation
        self._run_times = run_times
        self._undecided: list[int] = []
        """Units that run, with run times still to be drawn."""
        self._horizon = situation.now + horizon
        self._asked = frozenset(asked)
        self._names = {str(situation.units[number].ref): number for number in asked}
        """What the scheduler calls those that are asked about."""
        self._open = {number for number in asked if situation.units[number].waits}
        self.now = situation.now
        self.future = Future()
        self._events = Events()
        self._begun: dict[int, int] = {}
        """Units that run, and since when."""
        self._run: dict[int, int] = {}
        """How often each unit was stopped; the end of an earlier run is void."""
        self._leaving: set[int] = set()
        self._moment: list[int] = []
        """Owners that ended or left at this moment."""
        self._over: set[int] = set()
        self._created = situation.now
        self._quiet = situation.now
        self._objects = UnitObjects(situation)
        self._scheduling = self._scheduler()
        self._admission = self._quota()
        if self._scheduling is not None and self._admission is not None and self._admission.counts_pods:
            self._scheduling.pod_seen = self._admission.pod_seen
        self._begin()
        self._moments()

    @property
    def is_over(self) -> bool:
        """All that was asked about has started."""
        return not self._open

    @property
    def cluster(self) -> Cluster | None:
        """None without nodes."""
        return None if self._scheduling is None else self._scheduling.core.memory.cluster

    # --- the beginning --------------------------------------------------------------------------------------

    def _scheduler(self) -> SchedulingWithClaims | None:
        situation = self._situation
        if not situation.has_nodes:
            return None
        base = situation.config
        config = policy(base.preemption.algorithm, base).config
        made = SchedulingWithClaims(
            config,
            self._objects,
            self,
            UnitObjects.jobs(situation),
            templates=situation.templates,
            volumes=situation.volumes,
            explained=frozenset(self._names),
        )
        made.listener = self._decided
        made.at(self.now)
        for each in situation.objects:
            made.observe(each)
        return made

    def _quota(self) -> Admission | None:
        situation = self._situation
        if not situation.counts_quota:
            return None
        jobs = tuple(Job(name=each.key, submit=0, duration=0) for each in situation.workloads)
        made = Admission(situation.config, situation.quota_objects, self._objects, self, jobs)
        for number, each in enumerate(situation.workloads):
            made.put(number, each, self.now)
        return made

    def _begin(self) -> None:
        """Those who run first: then nobody waits yet who would have to be woken."""
        units = self._situation.units
        order = sorted(range(len(units)), key=lambda number: not units[number].runs)
        for number in order:
            unit = units[number]
            if unit.runs:
                self._show(number)
                self._begun[number] = unit.since
                self._plan_end(number)
            elif self._has_quota(unit):
                self._release(number)

    def _has_quota(self, unit: Unit) -> bool:
        if self._admission is None or unit.workload == NO_WORKLOAD:
            return True
        return self._admission.held(unit.workload) is not None

    def _plan_end(self, number: int) -> None:
        unit = self._situation.units[number]
        length = self._run_times[unit.owner]
        if unit.leaves is not None:
            self._events.add(max(self.now, unit.leaves), Kind.END, number, self._run.get(number, 0))
        elif length == DRAWN:
            self._undecided.append(number)
        elif length is not None:
            end = max(self.now, self._begun[number] + length)
            self._events.add(end, Kind.END, number, self._run.get(number, 0))

    # --- time -----------------------------------------------------------------------------------------------

    def run(self, run_times: Sequence[int | None]) -> Future:
        """The rest, with these run times."""
        self._run_times = run_times
        before = self._decisions
        for number in dict.fromkeys(self._undecided):
            if number in self._begun:
                self._plan_end(number)
        while self._open and (time := self._events.next_time()) is not None:
            if len(self._events):
                self._quiet = time
            if time > self._horizon:
                break
            if time - self._quiet > PATIENCE:
                self.future.stuck = True
                break
            self.now = max(self.now, time)
            if self._scheduling is not None:
                self._scheduling.at(self.now)
            self._moments()
        else:
            self.future.stuck = bool(self._open)
        self._say_why()
        objects = len(self._situation.objects) + len(self._situation.units)
        decisions = self._decisions - before
        self.future.work = (
            decisions + decisions * objects // OBJECTS_PER_DECISION + objects // COPIED_PER_DECISION
        )
        return self.future

    @property
    def _decisions(self) -> int:
        return 0 if self._scheduling is None else self._scheduling.decisions

    def _moments(self) -> None:
        """All that happens now."""
        self._moment = []
        while True:
            while (event := self._events.pop(self.now)) is not None:
                self._happen(event)
            self._try_waiting()
            if self._events.next_time() != self.now:
                return

    def _happen(self, event: Event) -> None:
        number = event.about
        if event.kind is Kind.GONE:
            self._gone(number)
        elif number in self._begun and self._run.get(number, 0) == event.run:
            self._end(number)

    def _try_waiting(self) -> None:
        if self._admission is not None:
            due = self._admission.run(self.now)
            if due is not None:
                self._events.wake(due)
        if self._scheduling is not None:
            self._scheduling.run()
            ready = self._scheduling.next_time()
            if ready is not None:
                self._events.wake(ready)

    # --- units ----------------------------------------------------------------------------------------------

    def _release(self, number: int) -> None:
        """It may run: its pods are made, or shown to the scheduler."""
        unit = self._situation.units[number]
        if self._admission is not None and unit.workload != NO_WORKLOAD:
            held = self._admission.held(unit.workload)
            if held is not None:
                self._objects.given[number] = held
        if self._scheduling is None or not unit.pods:
            self.started(number, ())
        else:
            self._show(number)

    def _show(self, number: int) -> None:
        if self._scheduling is not None and self._situation.units[number].pods:
            self._created = max(self.now, self._created + 1)
            self._scheduling.submit(number, self._created)

    def _end(self, number: int) -> None:
        del self._begun[number]
        self._over.add(number)
        unit = self._situation.units[number]
        self._moment.append(unit.owner)
        if self._scheduling is not None and unit.pods:
            self._scheduling.forget(number)
        siblings = self._situation.units_of_workload(unit.workload)
        if self._admission is not None and siblings and self._over.issuperset(siblings):
            self._admission.finish(unit.workload, self.now)

    def _gone(self, number: int) -> None:
        """The pods of an evicted unit have ended: it waits again, for quota or for a place."""
        self._leaving.discard(number)
        unit = self._situation.units[number]
        self._moment.append(unit.owner)
        if self._scheduling is not None and unit.pods:
            self._scheduling.gone(number)
        if self._admission is not None and unit.workload != NO_WORKLOAD:
            siblings = self._situation.units_of_workload(unit.workload)
            if not self._admission.has_quota(unit.workload):
                if not any(each in self._leaving for each in siblings):
                    self._admission.gone(unit.workload, self.now)
                return
        if unit.comes_back:
            self._release(number)

    def _stop(self, number: int, grace: int) -> None:
        if number in self._leaving:
            return
        if number in self._begun:
            del self._begun[number]
            self._run[number] = self._run.get(number, 0) + 1
        else:
            grace = 0
        self._leaving.add(number)
        self._events.add(self.now + grace, Kind.GONE, number)

    # --- what the scheduler and the quota cycle decide ------------------------------------------------------

    def started(self, job: int, nodes: tuple[str, ...]) -> None:  # noqa: ARG002
        if job in self._begun:
            return self._begins(job)  # the rest of a gang that ran in part
        self._begun[job] = self.now
        self._plan_end(job)
        self._begins(job)
        self.future.before.setdefault(self._situation.units[job].owner, self.now)
        return None

    def _begins(self, number: int) -> None:
        if number in self._asked and number not in self.future.started:
            self.future.started[number] = self.now
            self.future.ended[number] = tuple(dict.fromkeys(self._moment))
            self._open.discard(number)

    def evicted(self, job: int, by: int | None) -> None:
        # A gang that runs may preempt for its other pods; it has started without these victims.
        if by is not None and by in self._asked and by not in self.future.started:
            self.future.victims.setdefault(by, []).append(job)
        self._stop(job, self._situation.units[job].grace)

    def admitted(self, job: int) -> None:
        self.future.admitted.setdefault(job, self.now)
        fewer = self._left_out(job)
        for number in self._situation.units_of_workload(job):
            if number in fewer:
                self.future.left_out.add(number)
                self._open.discard(number)
            else:
                self._release(number)

    def _left_out(self, job: int) -> set[int]:
        """Units that a workload starts without: pods beyond the number that it got quota for."""
        workload = self._situation.workloads[job]
        assert self._admission is not None
        held = self._admission.held(job)
        if held is None or held.status.admission is None:
            return set()
        if not any(each.may_shrink for each in workload.spec.pod_sets):
            return set()
        left = {each.name: each.count for each in held.status.admission.pod_set_assignments}
        found = set()
        for number in self._situation.units_of_workload(job):
            pods = self._situation.units[number].pods
            name = pods[0].metadata.labels.get(well_known.POD_SET_LABEL, "") if pods else ""
            most = left.get(name)
            if most is not None:
                left[name] = most - len(pods)
                found |= {number} if most < len(pods) else set()
        return found

    def expelled(self, job: int, by: int) -> None:
        for number in self._situation.units_of_workload(job):
            for asked in self._situation.units_of_workload(by):
                if asked in self._asked:
                    self.future.victims.setdefault(asked, []).append(number)
            if self._scheduling is not None:
                self._scheduling.stop(number)
            self._stop(number, self._situation.units[number].grace)

    def _decided(self, decided: Decided) -> None:
        number = self._names.get(decided.unit)
        if number is not None and decided.victims and number not in self.future.started:
            self.future.evicted.setdefault(number, set()).update(decided.victims)
        if number is not None and decided.outcome not in ("scheduled", "preempts"):
            self.future.reasons.setdefault(number, decided.reasons)

    def _say_why(self) -> None:
        """Of those that have not started and were never tried: what holds them."""
        for number in self._open - self.future.reasons.keys():
            unit = self._situation.units[number]
            text = ""
            if self._admission is not None and not self._has_quota(unit):
                active = self._situation.workloads[unit.workload].spec.active
                text = self._admission.why(unit.workload) if active else sentences.INACTIVE
            elif self._scheduling is not None and unit.ref is not None:
                gate = self._scheduling.core.memory.waiting.gate(unit.ref)
                text = "" if gate is None else gate.text
            self.future.reasons[number] = (text,) if text else ()
