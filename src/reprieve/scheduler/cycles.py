"""One decision about the best waiting unit: bind it, wait for its victims, choose victims, or report why not.

A plan places the whole unit or nothing, so victims are only chosen together with a place for every pod. While
a unit waits for its victims and its nominations hold, it may take capacity that is free and set aside for no
other pod, but it preempts no more pods.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference, well_known
from reprieve.preemption import Plan, Victim
from reprieve.scheduler import devices, marks, sentences, status, trees, volumes, wakeups
from reprieve.scheduler.actions import (
    Action,
    Bind,
    BindGang,
    Evicted,
    Nominate,
    Preempt,
)
from reprieve.scheduler.headroom import KeptFree
from reprieve.scheduler.incomplete import Shortfall
from reprieve.scheduler.memory import Memory
from reprieve.scheduler.nominations import leaving_from, still_fit
from reprieve.scheduler.preemptions import Preemption
from reprieve.scheduler.queue import QueuedUnit, State
from reprieve.scheduler.returns import who
from reprieve.scheduler.waiting import unit_of

Decide = Callable[[Cluster, Reference, Configuration, int | None], Plan]

REMEMBERED = 4096


@dataclass(slots=True)
class CycleResult:
    """One decision and what follows from it."""

    unit: Reference
    outcome: str
    """scheduled, preempts, waits, unschedulable, released or error."""
    reasons: list[str]
    pods: int
    actions: list[Action] = field(default_factory=list)
    plan: Plan | None = None
    victims: frozenset[str] = frozenset()
    """Pods to evict because of this decision, without those that are already on their way out."""

    def with_action(self, action: Action) -> "CycleResult":
        self.actions.append(action)
        return self


class Cycles:
    def __init__(self, memory: Memory, decide: Decide) -> None:
        self._memory = memory
        self._decide = decide
        self._hopeless: dict[tuple[int, int, bool], tuple[int, float, Plan]] = {}
        """Refusals by what they depend on: at which count of changes, until when, and the plan."""

    def run(self, now: float) -> CycleResult | None:
        """Decide on the best waiting unit; None when no unit is ready."""
        unit = self._memory.queue.pop(now)
        if unit is None:
            return None
        if not unit.is_group:
            return self._try(unit, now)
        message, blocks = self._memory.divergence(unit.ref)
        cycle = self.fail(unit, message, now) if blocks else self._try(unit, now)
        group = self._memory.waiting.group(unit.ref)
        condition = None if group is None else status.matching(group, message)
        return cycle if condition is None else cycle.with_action(condition)

    def fail(self, unit: QueuedUnit, message: str, now: float) -> CycleResult:
        """No decision about the unit is possible: report why, and retry later."""
        actions = self._memory.withdraw(unit.ref, unit.pods)
        actions += self._report_waiting(unit, well_known.SCHEDULER_ERROR, message)
        self._memory.queue.wake_next(unit, now)
        self._memory.queue.back_off(unit, now)
        return CycleResult(unit.ref, "error", [message], len(unit.pods), actions)

    def _try(self, unit: QueuedUnit, now: float) -> CycleResult:
        waiting = self._memory.preemptions.get(unit.ref)
        if unit.is_group and any(
            self._memory.preemptions.get(mate) for mate in trees.mates(self._memory.cluster, unit.ref)
        ):
            return self._wait_with_tree(unit, now)
        given_up: list[Action] = []
        plan = self._plan_in_turn(unit, waiting, now)
        if plan is None:
            # A more important unit took the place, or the node is gone: start from scratch.
            given_up = self._memory.withdraw(unit.ref, unit.pods)
            waiting = None
            plan = self._plan(unit, now)
        if plan.outcome == "scheduled":
            kept = self._memory.kept_free(unit, plan, now)
            if kept is not None:
                return self._keep_back(unit, kept, given_up, now)
            return self._schedule(unit, plan, given_up, now)
        if plan.ongoing or (waiting is not None and waiting.victims):
            return self._keep_waiting(unit, waiting, plan, now)
        if plan.outcome == "preempts":
            return self._preempt(unit, plan, given_up, now)
        return self._reject(unit, plan, given_up, now)

    def _plan_in_turn(self, unit: QueuedUnit, waiting: Preemption | None, now: float) -> Plan | None:
        """The decision while the unit's nominations hold, and in their order; None when they do not."""
        if waiting is None and not self._memory.cluster.nominated:
            return self._plan(unit, now)
        with self._memory.nominations.in_order(unit.ref, unit.pods, unit.priority):
            holding = waiting is None or self._nominations_hold(unit, waiting)
            return self._plan_beside_others(unit, waiting, now) if holding else None

    def _nominations_hold(self, unit: QueuedUnit, waiting: Preemption) -> bool:
        nominated = self._memory.nominations.nominated(unit.pods)
        return bool(nominated) and still_fit(self._memory.cluster, nominated, waiting.victims)

    def _plan_beside_others(self, unit: QueuedUnit, waiting: Preemption | None, now: float) -> Plan:
        if waiting is None or not waiting.victims:
            return self._plan(unit, now)
        with self._memory.nominations.all_kept(unit.priority):
            return self._plan(unit, now)

    def _plan(self, unit: QueuedUnit, now: float) -> Plan:
        """The decision. While the cluster does not change, the refusal of a pod counts for all like it."""
        memory = self._memory
        if self._hopeless and (key := self._likeness(unit)) is not None:
            epoch, until, known = self._hopeless.get(key, (-1, 0.0, None))
            if epoch == memory.epoch and known is not None and now < until:
                return known
        plan = self._decide(memory.cluster, unit.ref, memory.config, int(now * 1_000_000))
        if plan.outcome == "unschedulable" and (key := self._likeness(unit)) is not None:
            if len(self._hopeless) > REMEMBERED:
                self._hopeless.clear()
            untrue = self._untrue_at(unit.priority, now)
            self._hopeless[key] = (memory.epoch, math.inf if untrue is None else untrue, plan)
        return plan

    def _untrue_at(self, priority: int, now: float) -> float | None:
        """When time alone may make a refusal untrue: a less important pod has run for long enough."""
        longest = int(self._memory.config.preemption.max_protection * 1_000_000)
        found = wakeups.next_to_be_taken(self._memory.cluster, priority, int(now * 1_000_000), longest)
        return None if found is None else found / 1_000_000

    def _likeness(self, unit: QueuedUnit) -> tuple[int, int, bool] | None:
        """Everything that a refusal of a single pod depends on; None for units that are like no other."""
        if unit.is_group:
            return None
        pods = self._memory.cluster.pods
        row = pods.row_of[unit.ref.key]
        claims = row in self._memory.cluster.storage.pods or pods.info[row].claims is not None
        if pods.info[row].nominated_node or claims:
            return None
        return pods.cls.item(row), unit.priority, pods.info[row].never_preempts

    # --- outcomes -------------------------------------------------------------------------------------------

    def _schedule(self, unit: QueuedUnit, plan: Plan, given_up: list[Action], now: float) -> CycleResult:
        memory = self._memory
        memory.epoch += 1
        memory.preemptions.end(unit.ref)
        memory.nominations.end_turn(unit.ref)
        memory.queue.wake_next(unit, now)
        unit.patient = False
        unit.failures = 0
        ignored = self._ignored_queues(unit, plan)
        actions = [*given_up, *self._binding(unit, plan, now), *ignored]
        self._settle_tree(unit, now)
        actions += self._displace(unit, plan)
        return CycleResult(unit.ref, "scheduled", list(plan.reasons), len(plan.placements), actions, plan)

    def _binding(self, unit: QueuedUnit, plan: Plan, now: float) -> list[Action]:
        """Assume every placement. Several pods of a group are nominated before any of them is bound."""
        memory = self._memory
        nominations, binds = [], []
        table = memory.cluster.devices
        used = devices.reserve(memory.cluster, plan.placements) if table.claims or table.classes else {}
        for key, node in plan.placements.items():
            pod = memory.waiting.pods[key]
            ref, own = Reference.to(pod), unit_of(pod)
            if memory.nominations.node(key) != node:
                nominations.append(Nominate(ref, node))
            claims = volumes.claims_of(memory.cluster, key, plan.volumes) if plan.volumes else ()
            binds.append(Bind(own, ref, node, unit.is_group, claims, used.get(key, ())))
            if claims:
                volumes.reserve(memory.cluster, binds[-1])
            memory.cluster.assume(key, node)
            if memory.headroom.on:
                memory.headroom.look(key, now)
            if memory.returns.on:
                memory.returns.placed(who(pod))
            memory.waiting.take(key)
            memory.look_again(memory.holds.place(pod, placed=True), now)
            memory.binding[own] = memory.binding.get(own, 0) + 1
        # A pod that waits for its volumes or devices shows meanwhile where it is going to be.
        together = len(binds) > 1 or any(each.claims or devices.may_wait(each) for each in binds)
        return [BindGang(tuple(nominations), tuple(binds))] if together else [*binds]

    def _settle_tree(self, unit: QueuedUnit, now: float) -> None:
        """The decision was about the whole tree: its other groups leave the queue, or wait on."""
        memory = self._memory
        for mate in trees.mates(memory.cluster, unit.ref):
            memory.preemptions.end(mate)
            memory.nominations.end_turn(mate)
            if mate in memory.queue.units and not memory.waiting.free(mate):
                memory.queue.remove(mate, now)
            else:
                memory.refresh(mate, now)
        if not memory.binding.get(unit.ref):
            memory.binding.pop(unit.ref, None)
            memory.settle(unit, now)

    def _ignored_queues(self, unit: QueuedUnit, plan: Plan) -> list[Action]:
        """Where there is no quota the label of a queue means nothing: those who set it are told."""
        memory = self._memory
        if memory.holds.on:
            return []
        group = memory.waiting.group(unit.ref)
        named = [group] if group is not None else [memory.waiting.pods[key] for key in plan.placements]
        return [
            status.queue_ignored(Reference.to(each))
            for each in named
            if well_known.QUEUE_LABEL in each.metadata.labels
        ]

    def _preempt(self, unit: QueuedUnit, plan: Plan, given_up: list[Action], now: float) -> CycleResult:
        memory = self._memory
        memory.epoch += 1
        preemptor, message = memory.identified(unit.ref), _message(plan)
        unit.told = well_known.UNSCHEDULABLE, message
        nominations = []
        for key, node in plan.placements.items():
            memory.nominations.make(memory.waiting.pods[key], node)
            nominations.append(Nominate(Reference.to(memory.waiting.pods[key]), node, message))
        victims = tuple(
            Evicted(Reference.of("Pod", victim.pod, memory.uid(victim.pod)), victim.node, victim.reason)
            for victim in plan.victims
            if not victim.terminating and not memory.preemptions.includes(victim.pod)
        )
        leaving = {victim.pod: memory.uid(victim.pod) for victim in plan.victims}
        memory.preemptions.start(unit.ref, leaving)
        memory.queue.wake_next(unit, now)
        unit.patient = True
        mark = marks.preemption(memory.name, preemptor, unit.priority, sentences.NO_ROOM)
        actions = [
            each for each in given_up if not (isinstance(each, Nominate) and each.pod.key in plan.placements)
        ]
        actions += self._displace(unit, plan)
        actions.append(Preempt(unit.ref, preemptor, tuple(nominations), victims, mark))
        actions.append(status.preempting(preemptor, victims))
        actions += self._report_group(unit, well_known.UNSCHEDULABLE, message)
        evicted = frozenset(victim.pod.key for victim in victims)
        return CycleResult(
            unit.ref, "preempts", list(plan.reasons), len(plan.placements), actions, plan, evicted
        )

    def _keep_waiting(
        self, unit: QueuedUnit, waiting: Preemption | None, plan: Plan, now: float
    ) -> CycleResult:
        self._memory.queue.rest(unit, now)
        count = len(waiting.victims) if waiting else 0
        reason = sentences.waits_for_victims(count)
        unit.told = well_known.UNSCHEDULABLE, reason
        actions: list[Action] = [
            condition
            for key in unit.pods
            if (condition := status.first_reason(self._memory.waiting.pods[key], *unit.told))
        ]
        return CycleResult(unit.ref, "waits", [reason], len(unit.pods), actions, plan)

    def _wait_with_tree(self, unit: QueuedUnit, now: float) -> CycleResult:
        """Another group of the tree has had pods preempted for all of it."""
        self._memory.queue.rest(unit, now)
        reason = sentences.VICTIMS_OF_THE_TREE
        unit.told = well_known.UNSCHEDULABLE, reason
        pods = (self._memory.waiting.pods[key] for key in unit.pods)
        found = (status.first_reason(pod, *unit.told) for pod in pods)
        actions: list[Action] = [condition for condition in found if condition]
        return CycleResult(unit.ref, "waits", [reason], len(unit.pods), actions)

    def _reject(self, unit: QueuedUnit, plan: Plan, given_up: list[Action], now: float) -> CycleResult:
        memory, text, due = self._memory, _message(plan), None
        unit.patient = False
        memory.preemptions.end(unit.ref)
        nominated = memory.nominations.nominated(unit.pods)
        stuck = not any(leaving_from(memory.cluster, node) for node in nominated.values())
        if nominated and stuck:
            given_up = [*given_up, *memory.withdraw(unit.ref, unit.pods)]
        shortfall = memory.incomplete.shortfall(unit.ref)
        if shortfall is not None:
            text = sentences.lacks_pods_because(shortfall.sentence(memory.incomplete.timeout), text)
            due = memory.incomplete.due(unit.ref, shortfall, now)
            if stuck and due is not None and now >= due:
                return self._release(unit, plan, shortfall, given_up, text)
        actions = [*given_up, *self._report_waiting(unit, well_known.UNSCHEDULABLE, text)]
        actions += self._report_incomplete(unit, shortfall, text)
        memory.queue.rest(unit, now, self._likeness(unit), _first(due, self._untrue_at(unit.priority, now)))
        reasons = [text, *plan.reasons[1:]] if shortfall else list(plan.reasons)
        freed = devices.unused(memory.cluster, unit.pods)
        if freed:
            actions += freed
            reasons.append(sentences.claims_given_back([each.claim.key for each in freed]))
        return CycleResult(unit.ref, "unschedulable", reasons, len(unit.pods), actions, plan)

    def _keep_back(self, unit: QueuedUnit, kept: KeptFree, given_up: list[Action], now: float) -> CycleResult:
        """It fits, but what is free is kept for more important units."""
        unit.patient = False
        actions = [*given_up, *self._report_waiting(unit, well_known.UNSCHEDULABLE, kept.text)]
        self._memory.queue.rest(unit, now, self._likeness(unit), kept.until)
        return CycleResult(unit.ref, "unschedulable", [kept.text], len(unit.pods), actions)

    def _release(
        self, unit: QueuedUnit, plan: Plan, shortfall: Shortfall, given_up: list[Action], text: str
    ) -> CycleResult:
        memory = self._memory
        unit.patient = True
        actions = [*given_up, *memory.release(unit.ref, shortfall, text)]
        pods = memory.incomplete.members(shortfall)
        name, priority = str(unit.ref), unit.priority
        victims = tuple(
            Victim(pod=each.pod.key, node=each.node, unit=name, priority=priority, reason=each.reason)
            for each in pods
        )
        released = msgspec.structs.replace(plan, victims=victims)
        evicted = frozenset(shortfall.bound)
        return CycleResult(unit.ref, "released", [text], len(unit.pods), actions, released, evicted)

    def _report_incomplete(self, unit: QueuedUnit, shortfall: Shortfall | None, text: str) -> list[Action]:
        group = self._memory.waiting.group(unit.ref)
        if shortfall is None or group is None:
            return [*self._memory.incomplete.over(unit.ref)]
        condition = status.group_condition(
            group, well_known.INCOMPLETE, "True", well_known.UNSCHEDULABLE, text
        )
        return [condition] if condition else []

    def _displace(self, unit: QueuedUnit, plan: Plan) -> list[Action]:
        """Withdraw the nominations of less important units that no longer fit on the nodes of this plan."""
        memory = self._memory
        if not memory.cluster.nominated:
            return []
        losers: dict[Reference, None] = {}
        for node in sorted(set(plan.placements.values()) & memory.cluster.nominated.keys()):
            for row in memory.cluster.nominated[node]:
                pod = memory.waiting.pods.get(memory.cluster.pods.keys[row])
                if pod is not None and unit_of(pod) != unit.ref:
                    losers[unit_of(pod)] = None
        actions: list[Action] = []
        for ref in losers:
            loser = memory.queue.units.get(ref)
            if loser is None or loser.priority >= unit.priority or loser.state is State.IN_FLIGHT:
                continue
            waiting = memory.preemptions.get(ref)
            nominated = memory.nominations.nominated(loser.pods)
            if not still_fit(memory.cluster, nominated, waiting.victims if waiting else ()):
                actions += memory.withdraw(ref, loser.pods)
                loser.patient = False
                memory.queue.activate(loser)
        return actions

    # --- conditions and events ------------------------------------------------------------------------------

    def _report_waiting(self, unit: QueuedUnit, reason: str, message: str) -> list[Action]:
        """The condition of every waiting pod, the group's, and one event."""
        pods = self._memory.waiting.pods
        unit.told = reason, message
        conditions = (status.not_scheduled(pods[key], reason, message) for key in unit.pods)
        actions: list[Action] = [condition for condition in conditions if condition is not None]
        actions.append(status.failed(self._memory.identified(unit.ref), message))
        return actions + self._report_group(unit, reason, message)

    def _report_group(self, unit: QueuedUnit, reason: str, message: str) -> list[Action]:
        group = self._memory.waiting.group(unit.ref)
        if group is None:
            return []
        condition = status.group_condition(group, well_known.POD_GROUP_SCHEDULED, "False", reason, message)
        return [condition] if condition else []


def _first(*times: float | None) -> float | None:
    return min((each for each in times if each is not None), default=None)


def _message(plan: Plan) -> str:
    return plan.message or ", ".join(plan.reasons)
