"""The scheduler as a pure state machine: observations in, actions out.

Nothing here performs an action, reads a clock or waits: time comes in as seconds, actions go out as data, and what became of them
comes back through `bound` and `evicted`. The live shell, tests and the simulator drive the same object:

    core.observe("ADDED", None, pod, now)      each change of a Pod, Node, PodGroup, … in order
    core.recover()                             once, when everything has been observed: finish what a predecessor began
    while (cycle := core.cycle(now)): …        decide on the next unit; perform cycle.actions
    core.bound(bind, error, now)               how each binding ended
    core.evicted(preempt, errors, now)         how each preemption's calls ended

State that matters is in the API objects: bindings, nominations, marks on victims. All of it here can be lost at any time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reprieve.cluster import Cluster
from reprieve.cluster.classes import PodClass
from reprieve.config import Configuration
from reprieve.objects.core import Node, Pod
from reprieve.objects.scheduling import PodGroup
from reprieve.preemption import Plan, decide
from reprieve.scheduler import marks, recovery, status, wakeups
from reprieve.scheduler.actions import Action, Bind, Evicted, Nominate, Preempt, Ref, Reprieve
from reprieve.scheduler.feasibility import holds
from reprieve.scheduler.preemptions import Preemption, Preemptions
from reprieve.scheduler.promises import Promises
from reprieve.scheduler.queue import Pauses, Queue, State, Unit
from reprieve.scheduler.room import FINISHED, Room, unit_of

Decide = Callable[[Cluster, str, Configuration, int | None], Plan]


@dataclass(slots=True)
class Cycle:
    """One decision and what follows from it."""

    unit: str
    outcome: str
    """scheduled, preempts, waits, unschedulable or error."""
    reasons: list[str]
    pods: int
    actions: list[Action] = field(default_factory=list)
    plan: Plan | None = None
    victims: int = 0


class Core:
    def __init__(
        self,
        config: Configuration,
        scheduler_name: str,
        *,
        cluster: Cluster | None = None,
        decide: Decide = decide,
    ) -> None:
        self.cluster = cluster or Cluster()
        self.queue = Queue(Pauses.of(config))
        self.room = Room(self.cluster, scheduler_name, config)
        self.promises = Promises(self.cluster)
        self.preemptions = Preemptions()
        self.name = scheduler_name
        self._config = config
        self._decide = decide
        self._binding: dict[str, Bind] = {}
        self._failed_binds: set[str] = set()
        self._marked: dict[str, recovery.Marked] = {}
        self._epoch = 0
        """Counts changes of the cluster: a decision made at the same count needs no second thought."""
        self._hopeless: dict[tuple[int, int, bool], tuple[int, Plan]] = {}

    # --- what happens in the world ---------------------------------------------------------------------------------------

    def observe(self, type: str, old: Any, new: Any, now: float) -> None:
        """One change of one object, as an informer tells it."""
        if isinstance(new, Pod):
            self._observe_pod(type, old and self.room.joined(old), self.room.joined(new), now)
            return
        self._epoch += 1
        if type == "DELETED":
            self.cluster.remove(new.__class__, new.key)
        else:
            self.cluster.set(new)
        if isinstance(new, Node):
            if type == "DELETED" or wakeups.node_matters(old, new):
                self.queue.wake(lambda unit: wakeups.node_changed(self.cluster, unit, new.name), now)
        elif isinstance(new, PodGroup):
            self._group_changed(type, old, new, now)
        else:
            self._other_changed(now)

    def _observe_pod(self, type: str, old: Pod | None, pod: Pod, now: float) -> None:
        gone = type == "DELETED" or pod.status.phase in FINISHED
        if old is not None and not gone and _same(old, pod):
            self._refresh_view(pod)
            return
        self._epoch += 1
        left = self._class_on_node(pod.key)
        if type == "DELETED":
            self.cluster.remove(Pod, pod.key)
        else:
            self.cluster.set(pod)
        self._mark(pod, gone)
        if gone:
            self._pod_gone(pod, left, now)
        elif self.room.ours(pod):
            self._pod_waits(old, pod, now)
        else:
            self._pod_placed(old, pod, left, now)

    def _refresh_view(self, pod: Pod) -> None:
        if pod.key in self.room.pods:
            self.room.pods[pod.key] = pod

    def _pod_waits(self, old: Pod | None, pod: Pod, now: float) -> None:
        known = self.room.pods.get(pod.key)
        if known is not None and unit_of(known) != unit_of(pod):
            self.room.drop(pod.key)
        self.room.put(pod)
        self.promises.reconcile(pod)
        self._refresh(unit_of(pod), now)
        unit = self.queue.units.get(unit_of(pod))
        if unit is not None and known is not None and _asks_less(old, pod):
            self.queue.wake(lambda each: each is unit, now)

    def _pod_placed(self, old: Pod | None, pod: Pod, left: PodClass | None, now: float) -> None:
        """On a node, being deleted, or another scheduler's."""
        waited = self.room.drop(pod.key)
        if waited is not None:
            self.promises.forget(pod.key)
            self._refresh(unit_of(waited), now)
        if pod.spec.node_name and (left is None or old is None or old.metadata.labels != pod.metadata.labels):
            self.queue.wake(lambda unit: wakeups.pod_came(self.cluster, unit), now)
        elif left is not None and old is not None and old.spec != pod.spec:
            self.queue.wake(lambda unit: wakeups.pod_left(self.cluster, unit, pod.spec.node_name, left), now)
        if pod.spec.scheduling_group is not None:
            self._refresh(unit_of(pod), now)

    def _pod_gone(self, pod: Pod, left: PodClass | None, now: float) -> None:
        waited = self.room.drop(pod.key)
        self.promises.forget(pod.key)
        if waited is not None:
            self._refresh(unit_of(waited), now)
        for through in self.preemptions.ended(pod.key, pod.metadata.uid):
            self._victims_gone(through, now)
        if left is not None:
            self.queue.wake(
                lambda unit: (
                    not self.preemptions.waits_for(unit.key, pod.key)
                    and wakeups.pod_left(self.cluster, unit, pod.spec.node_name, left)
                ),
                now,
            )
        elif waited is not None and waited.status.nominated_node_name:
            self.queue.wake(lambda unit: unit.priority <= (waited.spec.priority or 0), now)

    def _group_changed(self, type: str, old: PodGroup | None, group: PodGroup, now: float) -> None:
        unit = f"PodGroup/{group.key}"
        self._refresh(unit, now)
        waiting = self.queue.units.get(unit)
        if waiting is not None and (old is None or old.spec != group.spec or type == "DELETED"):
            self.queue.wake(lambda each: each is waiting, now)

    def _other_changed(self, now: float) -> None:
        """Priority classes, budgets, namespaces: rare, and may matter to anyone."""
        for unit in list(self.queue.units.values()):
            if unit.state is not State.IN_FLIGHT:
                self._refresh(unit.key, now)
        self.queue.wake(lambda _: True, now)

    def _class_on_node(self, key: str) -> PodClass | None:
        row = self.cluster.pods.row_of.get(key)
        return None if row is None or self.cluster.pods.node[row] < 0 else self.cluster.class_of(row)

    def _mark(self, pod: Pod, gone: bool) -> None:
        mark = None if gone else recovery.marked(pod, self.name)
        if mark is None:
            self._marked.pop(pod.key, None)
        else:
            self._marked[pod.key] = mark

    # --- units come and go -------------------------------------------------------------------------------------------------

    def _refresh(self, key: str, now: float) -> None:
        """Bring the queue in line with the pods that wait for this unit."""
        pods = [each for each in self.room.members(key) if each not in self._binding]
        unit = self.queue.units.get(key)
        if not pods:
            if unit is not None and not self._is_binding(key):
                self.queue.remove(key)
                self.preemptions.end(key)
            elif unit is not None:
                unit.pods = {}
            return
        if unit is None:
            unit = Unit(key, 0, self.room.since(key, now))
            self.queue.add(unit)
        unit.pods = dict.fromkeys(pods)
        unit.priority = self.room.priority(key)
        group = self.room.group(key)
        unit.unfinished = group is not None and group.is_gang and 0 < self.room.placed(key) < group.min_count
        if unit.state is State.IN_FLIGHT:
            return
        gate = self.room.gate(key)
        if gate:
            self.queue.gate(unit, gate)
        elif unit.state is State.GATED:
            self.queue.activate(unit)

    def _is_binding(self, key: str) -> bool:
        return any(bind.unit == key for bind in self._binding.values())

    def _settle(self, unit: Unit, now: float, *, failed: bool) -> None:
        """Nothing of the unit is in flight any more."""
        unit.state = State.GATED
        self._refresh(unit.key, now)
        if failed and self.queue.units.get(unit.key) is unit and unit.state is State.ACTIVE:
            self.queue.back_off(unit, now)

    # --- cycles -----------------------------------------------------------------------------------------------------------------

    def cycle(self, now: float) -> Cycle | None:
        """Decide on the best waiting unit; None when nobody is ready."""
        unit = self.queue.pop(now)
        if unit is None:
            return None
        strangers, unequal = self.room.misfits(unit.key)
        if strangers or unequal:
            message = status.mismatch(strangers, unequal, self.name, unit.priority)
            cycle = self.fail(unit, message, now)
            self._say_matching(unit, "True", message, cycle.actions)
            return cycle
        cycle = self._try(unit, now)
        self._say_matching(unit, "False", "", cycle.actions)
        return cycle

    def _try(self, unit: Unit, now: float) -> Cycle:
        waiting = self.preemptions.get(unit.key)
        promised = self.promises.holders(unit.pods)
        if waiting is not None and not (promised and holds(self.cluster, promised, waiting.victims)):
            # A higher-priority unit took the place, or the node went: from scratch.
            given_up = self._withdraw(unit.key, unit.pods)
            waiting = None
        else:
            given_up = []
        plan = self._plan(unit, now)
        if plan.outcome == "scheduled":
            return self._schedule(unit, plan, given_up)
        if plan.ongoing or (waiting is not None and waiting.victims):
            return self._keep_waiting(unit, waiting, plan, now)
        if plan.outcome == "preempts":
            return self._preempt(unit, plan, given_up)
        return self._reject(unit, plan, given_up, now)

    def _plan(self, unit: Unit, now: float) -> Plan:
        """The decision; pods alike that failed on the same state of the cluster are not looked at twice."""
        memo = self._memo_key(unit)
        if memo is not None:
            epoch, plan = self._hopeless.get(memo, (-1, None))
            if epoch == self._epoch and plan is not None:
                return plan
        plan = self._decide(self.cluster, unit.key, self._config, int(now * 1_000_000))
        if memo is not None and plan.outcome == "unschedulable":
            if len(self._hopeless) > 4096:
                self._hopeless.clear()
            self._hopeless[memo] = (self._epoch, plan)
        return plan

    def _memo_key(self, unit: Unit) -> tuple[int, int, bool] | None:
        if unit.is_group:
            return None
        row = self.cluster.pods.row_of[unit.key.partition("/")[2]]
        about = self.cluster.pods.about[row]
        if about.nominated:
            return None
        return int(self.cluster.pods.cls[row]), unit.priority, about.never_preempts

    def _schedule(self, unit: Unit, plan: Plan, given_up: list[Action]) -> Cycle:
        self._epoch += 1
        self.preemptions.end(unit.key)
        actions: list[Action] = [*given_up]
        for key, node in plan.placements.items():
            pod = self.room.pods[key]
            self.cluster.assume(key, node)
            bind = self._binding[key] = Bind(unit.key, status.pod_ref(pod), node)
            unit.pods.pop(key, None)
            actions.append(bind)
        actions += self._displace(unit, set(plan.placements.values()))
        unit.failures = 0
        return Cycle(unit.key, "scheduled", list(plan.reasons), len(plan.placements), actions, plan)

    def _preempt(self, unit: Unit, plan: Plan, given_up: list[Action]) -> Cycle:
        """Delayed preemption: the plan places the whole unit, or it would not be one. Promise the places, then evict."""
        self._epoch += 1
        preemptor = self._ref(unit.key)
        victims = tuple(
            Evicted(self._pod_ref(victim.pod), victim.node, victim.reason)
            for victim in plan.victims
            if not victim.terminating
        )
        message = _message(plan)
        nominations = []
        for key, node in plan.placements.items():
            self.promises.make(key, node)
            nominations.append(Nominate(status.pod_ref(self.room.pods[key]), node, message))
        kept = {action.pod.key for action in nominations}
        actions = [each for each in given_up if not (isinstance(each, Nominate) and each.pod.key in kept)]
        actions += self._displace(unit, set(plan.placements.values()))
        why = marks.message(self.name, unit.key, unit.priority, "there was no room without preemption")
        actions.append(Preempt(unit.key, preemptor, tuple(nominations), victims, why))
        actions.append(status.preempting(preemptor, victims))
        actions += self._say_group(unit, "Unschedulable", message)
        leaving = {victim.pod: self._pod_ref(victim.pod).uid for victim in plan.victims}
        self.preemptions.start(unit.key, leaving)
        unit.patient = True
        return Cycle(
            unit.key, "preempts", list(plan.reasons), len(plan.placements), actions, plan, len(victims)
        )

    def _keep_waiting(self, unit: Unit, waiting: Preemption | None, plan: Plan, now: float) -> Cycle:
        self.queue.rest(unit, now)
        count = len(waiting.victims) if waiting else 0
        reasons = [f"waiting for {count or 'the'} preempted {'pod' if count == 1 else 'pods'} to end"]
        return Cycle(unit.key, "waits", reasons, len(unit.pods), plan=plan)

    def _reject(self, unit: Unit, plan: Plan, given_up: list[Action], now: float) -> Cycle:
        unit.patient = False
        self.preemptions.end(unit.key)
        actions = [*given_up, *self._say_waiting(unit, "Unschedulable", _message(plan))]
        self.queue.rest(unit, now)
        return Cycle(unit.key, "unschedulable", list(plan.reasons), len(unit.pods), actions, plan)

    def fail(self, unit: Unit, message: str, now: float) -> Cycle:
        """The unit cannot be decided on as it is: say so, and try again later."""
        actions = [*self._withdraw(unit.key, unit.pods), *self._say_waiting(unit, "SchedulerError", message)]
        self.queue.back_off(unit, now)
        return Cycle(unit.key, "error", [message], len(unit.pods), actions)

    # --- promises --------------------------------------------------------------------------------------------------------------

    def _withdraw(self, unit: str, pods: Sequence[str] | dict[str, None]) -> list[Action]:
        """Take back what was promised to the pods of a unit, and forget whom it was waiting for."""
        self.preemptions.end(unit)
        actions: list[Action] = []
        for key in self.promises.holders(pods):
            self.promises.make(key, "")
            actions.append(Nominate(status.pod_ref(self.room.pods[key]), ""))
        if actions:
            self._epoch += 1
        return actions

    def _displace(self, unit: Unit, nodes: set[str]) -> list[Action]:
        """Less important units that were promised these nodes and would no longer fit give their promises up."""
        losers: dict[str, None] = {}
        for node in sorted(nodes & self.cluster.nominated.keys()):
            for row in self.cluster.nominated[node]:
                pod = self.room.pods.get(self.cluster.pods.keys[row])
                if pod is not None and (owner := unit_of(pod)) != unit.key:
                    losers[owner] = None
        actions: list[Action] = []
        for key in losers:
            loser = self.queue.units.get(key)
            waiting = self.preemptions.get(key)
            if loser is None or loser.priority >= unit.priority or loser.state is State.IN_FLIGHT:
                continue
            promised = self.promises.holders(loser.pods)
            if not holds(self.cluster, promised, waiting.victims if waiting else ()):
                actions += self._withdraw(key, loser.pods)
                loser.patient = False
                self.queue.activate(loser)
        return actions

    # --- how actions ended ---------------------------------------------------------------------------------------------------

    def bound(self, bind: Bind, error: str | None, now: float) -> list[Action]:
        """A binding ended; with an error the pod waits again."""
        key = bind.pod.key
        if self._binding.get(key) == bind:
            del self._binding[key]
        actions: list[Action] = []
        waiting = self.room.pods.get(key)
        if error is None:
            actions.append(status.scheduled(bind.pod, bind.node))
        elif waiting is not None and waiting.metadata.uid == bind.pod.uid:
            self._epoch += 1
            self.cluster.forget(key)
            self._failed_binds.add(bind.unit)
            actions.append(status.failed(bind.pod, f"binding to {bind.node} failed: {error}"))
            left = self.cluster.class_of(self.cluster.pods.row_of[key])
            self.queue.wake(lambda unit: wakeups.pod_left(self.cluster, unit, bind.node, left), now)
        if not self._is_binding(bind.unit):
            actions += self._unit_bound(bind.unit, now)
        return actions

    def _unit_bound(self, key: str, now: float) -> list[Action]:
        failed = key in self._failed_binds
        self._failed_binds.discard(key)
        unit = self.queue.units.get(key)
        if unit is not None and unit.state is State.IN_FLIGHT:
            self._settle(unit, now, failed=failed)
        group = self.room.group(key)
        if group is None or self.room.placed(key) < group.min_count:
            return []
        condition = status.group_condition(group, status.INITIALLY_SCHEDULED, "True", "Scheduled", "")
        return [condition] if condition else []

    def evicted(self, preempt: Preempt, errors: dict[str, str], now: float) -> list[Action]:
        """The calls of a preemption ended. With errors the promise is taken back and the unit queued again; what was begun of a
        group in mode *all* is finished apart from that (`recover`)."""
        unit = self.queue.units.get(preempt.unit)
        preemption = self.preemptions.get(preempt.unit)
        if preemption is not None:
            preemption.calling = False
        if not errors:
            if preemption is not None and unit is not None:
                self._calls_through(unit, preemption, now)
            else:
                self.preemptions.end(preempt.unit)
            return []
        actions: list[Action] = []
        if unit is not None:
            key, why = next(iter(errors.items()))
            actions += self._withdraw(unit.key, unit.pods)
            unit.patient = False
            note = f"{len(errors)} of {len(preempt.victims)} victims could not be evicted, the first {key}: {why}"
            actions.append(status.withdrawn(preempt.preemptor, note))
            self._settle(unit, now, failed=True)
        self.preemptions.end(preempt.unit)
        return actions + self.recover()

    def _calls_through(self, unit: Unit, preemption: Preemption, now: float) -> None:
        if preemption.victims:
            self.queue.rest(unit, now)
        else:
            self._victims_gone(preemption, now)

    def _victims_gone(self, preemption: Preemption, now: float) -> None:
        unit = self.queue.units.get(preemption.unit)
        if unit is not None and not preemption.calling:
            unit.patient = False
            unit.state = State.GATED
            self._refresh(unit.key, now)

    # --- what a predecessor left ----------------------------------------------------------------------------------------------

    def recover(self) -> list[Action]:
        """Finish or undo evictions that nobody is working on; resume waiting for victims that are already going."""
        idle = {key: mark for key, mark in self._marked.items() if not self.preemptions.includes(key)}
        verdict = recovery.judge(self.cluster, idle, self._stands)
        self._resume(idle)
        actions: list[Action] = [Reprieve(pod, "the preemption did not take place") for pod in verdict.spare]
        for preemptor, pods in verdict.finish.items():
            victims = tuple(Evicted(pod, node, "its preemption had begun") for pod, node in pods)
            why = marks.message(self.name, preemptor, self._priority(preemptor), "finishing what was begun")
            unit = self.queue.units.get(preemptor)
            going = {key: mark.pod.uid for key, mark in idle.items() if mark.preemptor == preemptor}
            self.preemptions.start(preemptor, going | {pod.key: pod.uid for pod, _ in pods})
            if unit is not None:
                unit.patient = True
                self.queue.hold(unit)
            actions.append(Preempt(preemptor, self._ref(preemptor), (), victims, why))
        return actions

    def _resume(self, found: dict[str, recovery.Marked]) -> None:
        """Units whose victims are going wait for them, as if the preemption had been ours all along."""
        going: dict[str, dict[str, str]] = {}
        for key, mark in found.items():
            if mark.going:
                going.setdefault(mark.preemptor, {})[key] = mark.pod.uid
        for preemptor, victims in going.items():
            if preemptor not in self.preemptions and self._stands(preemptor):
                self.preemptions.start(preemptor, victims, calling=False)
                self.queue.units[preemptor].patient = True

    def _stands(self, preemptor: str) -> bool:
        unit = self.queue.units.get(preemptor)
        return unit is not None and bool(self.promises.holders(unit.pods))

    # --- words --------------------------------------------------------------------------------------------------------------------

    def _ref(self, unit: str) -> Ref:
        kind, _, key = unit.partition("/")
        namespace, _, name = key.partition("/")
        if kind == "PodGroup":
            group = self.room.group(unit)
            return status.group_ref(group) if group else Ref(kind, namespace, name)
        pod = self.room.pods.get(key)
        return status.pod_ref(pod) if pod else Ref(kind, namespace, name)

    def _pod_ref(self, key: str) -> Ref:
        namespace, _, name = key.partition("/")
        return Ref("Pod", namespace, name, self.cluster.pods.about[self.cluster.pods.row_of[key]].uid)

    def _priority(self, unit: str) -> int:
        waiting = self.queue.units.get(unit)
        return waiting.priority if waiting else 0

    def _say_waiting(self, unit: Unit, reason: str, message: str) -> list[Action]:
        """The condition of every waiting pod, the group's, and one event."""
        conditions = (status.not_scheduled(self.room.pods[key], reason, message) for key in unit.pods)
        actions: list[Action] = [condition for condition in conditions if condition is not None]
        actions.append(status.failed(self._ref(unit.key), message))
        return actions + self._say_group(unit, reason, message)

    def _say_group(self, unit: Unit, reason: str, message: str) -> list[Action]:
        group = self.room.group(unit.key)
        if group is None:
            return []
        condition = status.group_condition(group, status.INITIALLY_SCHEDULED, "False", reason, message)
        return [condition] if condition else []

    def _say_matching(self, unit: Unit, truth: str, message: str, actions: list[Action]) -> None:
        group = self.room.group(unit.key)
        if group is not None:
            reason = "PriorityMismatch" if truth == "True" else "PrioritiesMatch"
            condition = status.group_condition(group, status.NOT_MATCHING, truth, reason, message)
            if condition:
                actions.append(condition)


def _message(plan: Plan) -> str:
    return plan.message or ", ".join(plan.reasons)


def _same(old: Pod, new: Pod) -> bool:
    """Nothing changed that a decision reads."""
    return (
        old.spec == new.spec
        and old.metadata.labels == new.metadata.labels
        and old.metadata.annotations == new.metadata.annotations
        and (old.metadata.deletion_timestamp is None) == (new.metadata.deletion_timestamp is None)
        and old.metadata.uid == new.metadata.uid
        and old.status == new.status
    )


def _asks_less(old: Pod | None, new: Pod) -> bool:
    """Its own spec or labels changed: what refused it may not any more."""
    return old is not None and (old.spec != new.spec or old.metadata.labels != new.metadata.labels)
