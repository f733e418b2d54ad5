"""The scheduler's state: cluster, waiting pods, queue, nominations, preemptions under way.

Shared by `intake` (changes of objects), `cycles` (decisions) and `results` (how actions ended). All of it can
be lost at any time and rebuilt from the API.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from math import ceil

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Pod, PodGroup, Reference, format_time, well_known
from reprieve.preemption import Plan, groups_rule
from reprieve.scheduler import marks, sentences, status, trees
from reprieve.scheduler.actions import Action, Emit, Evicted, Nominate, Release
from reprieve.scheduler.headroom import Headroom, KeptFree
from reprieve.scheduler.holds import Holds
from reprieve.scheduler.incomplete import IncompleteGangs, Shortfall
from reprieve.scheduler.nominations import Nominations, still_fit
from reprieve.scheduler.preemptions import Preemptions
from reprieve.scheduler.queue import Pauses, Queue, QueuedUnit, State
from reprieve.scheduler.recovery import Marked
from reprieve.scheduler.returns import Returns, who
from reprieve.scheduler.templates import Templates
from reprieve.scheduler.waiting import WaitingPods, instant, unit_of


class Memory:
    def __init__(self, cluster: Cluster, config: Configuration, scheduler_name: str) -> None:
        self.cluster = cluster
        self.config = config
        self.groups_rule = groups_rule(config)
        cluster.let_groups_rule(self.groups_rule)
        self.name = scheduler_name
        self.names = frozenset((scheduler_name, *config.scheduler.other_scheduler_names))
        self.queue = Queue(Pauses.of(config))
        self.waiting = WaitingPods(cluster, self.names, config)
        makers = {(each.group, each.kind) for each in config.job_kinds() if each.asks != "job"}
        self.holds = Holds(config.quota.manage_jobs_without_queue_name, makers)
        self.incomplete = IncompleteGangs(cluster, self.waiting, config, self.names)
        self.nominations = Nominations(cluster)
        self.preemptions = Preemptions()
        self.headroom = Headroom(cluster, config.preemption.headroom)
        self.returns = Returns(config.preemption.return_pause, config.preemption.max_return_pause)
        self.marked: dict[str, Marked] = {}
        """Pods on nodes that carry our mark, by key."""
        self.binding: Counter[Reference] = Counter()
        """Bindings under way, by unit."""
        self.untold: dict[Reference, float] = {}
        """Gated units whose reason has changed, and since when their pods have not been told (`reports`)."""
        self.unread: dict[Reference, Emit] = {}
        """What pods say that cannot be read, to be told to them."""
        self.templates = Templates()
        self.lapsed: dict[Reference, PodGroup] = {}
        """Groups whose condition still says that they are scheduled, and all their pods are gone."""
        self.diverging: dict[Reference, None] = {}
        """Groups whose pods may have another priority or scheduler than they have, to be told so."""
        self._begun: set[str] = set()
        """Pods of groups in mode *all* whose deletion is being sent."""
        self.epoch = 0
        """Counts changes of the cluster; at the same count the same question has the same answer."""

    def refresh(self, ref: Reference, now: float) -> None:
        """Bring the queue in line with the pods that wait for this unit."""
        if ref.kind == "PodGroup" and (lapsed := self.waiting.lapse(ref)) is not None:
            self.lapsed[ref] = lapsed
            self.cluster.set(self.waiting.in_this_life(lapsed))
        pods = self.waiting.free(ref)
        unit = self.queue.units.get(ref)
        if not pods:
            if unit is not None:
                unit.pods = pods
                if not self.binding.get(ref):
                    self.queue.remove(ref, now)
                    self.preemptions.end(ref)
                    self.nominations.end_turn(ref)
            return
        if unit is None:
            unit = QueuedUnit(ref, 0, self.waiting.since(ref, now))
            self.queue.add(unit)
        unit.pods = pods
        if unit.state is State.IN_FLIGHT:
            return
        priority, before = self.waiting.priority(ref), unit.priority
        unit.priority = priority
        gate = self.waiting.gate(ref)
        if gate is not None:
            self.queue.gate(unit, gate.text)
            self.untold.setdefault(ref, now)
        elif unit.state is State.GATED:
            unit.unfinished = self.waiting.is_unfinished(ref) or self.incomplete.in_half_tree(ref)
            self._enqueue(unit, now)
        elif unit.state is State.ACTIVE and priority != before:
            self.queue.activate(unit)  # its place in the queue is another one

    def _enqueue(self, unit: QueuedUnit, now: float) -> None:
        """Ready now, or after the pause of a unit that was preempted."""
        due = now
        if self.returns.on and not unit.unfinished and not self.nominations.nominated(unit.pods):
            due = self.returns.due(who(self.waiting.pods[next(iter(unit.pods))]), now)
        if due <= now:
            self.queue.activate(unit)
            return
        self.queue.pause(unit, due)
        unit.told = well_known.UNSCHEDULABLE, sentences.pauses_until(format_time(instant(ceil(due))))
        self.untold.setdefault(unit.ref, now)

    def kept_free(self, unit: QueuedUnit, plan: Plan, now: float) -> KeptFree | None:
        """What keeps a unit that fits from starting."""
        if not self.headroom.on or unit.unfinished or self.nominations.nominated(unit.pods):
            return None
        requested: Counter[int] = Counter()
        for key in plan.placements:
            requested.update(dict(self.cluster.class_of(self.cluster.pods.row_of[key]).requested))
        return self.headroom.kept_free(unit.priority, requested, now)

    def hold_pods(self, owners: set[str], now: float) -> None:
        """Something changed about these owners of pods: which of their pods wait for quota."""
        if not owners:
            return
        keys = self.holds.pods_of(owners)
        for group in self.holds.groups_of(owners):
            keys |= self.waiting.free(Reference.of("PodGroup", group)).keys()
        self.look_again(keys, now)

    def look_again(self, keys: Collection[str], now: float) -> None:
        """Something may have changed about the quota of these pods."""
        if not keys:
            return
        changed = {unit_of(self.waiting.pods[key]): None for key in sorted(keys) if self.hold(key)}
        for unit in changed:
            self.refresh(unit, now)

    def hold(self, key: str) -> bool:
        """Look at one pod; whether there is news."""
        pod = self.waiting.pods.get(key)
        if pod is None:
            return False
        return self.waiting.hold(key, self.holds.why(pod, self.waiting.group(unit_of(pod))))

    def settle(self, unit: QueuedUnit, now: float, *, failed: bool = False) -> None:
        """Nothing of the unit is in flight any more: it waits on, or leaves."""
        unit.state = State.GATED
        self.refresh(unit.ref, now)
        if failed and self.queue.units.get(unit.ref) is unit and unit.state is State.ACTIVE:
            self.queue.back_off(unit, now)

    def withdraw(self, unit: Reference, pods: Iterable[str]) -> list[Action]:
        """Withdraw the nominations of a unit's pods, and forget the victims it was waiting for.

        What was nominated for the other groups of its tree was nominated together with it.
        """
        self.preemptions.end(unit)
        self.nominations.end_turn(unit)
        actions: list[Action] = []
        others = [key for mate in trees.mates(self.cluster, unit) for key in self.waiting.free(mate)]
        for key in self.nominations.nominated([*pods, *others]):
            self.nominations.make(self.waiting.pods[key], "")
            actions.append(Nominate(Reference.to(self.waiting.pods[key]), ""))
        if actions:
            self.epoch += 1
        return actions

    def retry_broken_nominations(self, node: str) -> None:
        """A node has changed or is gone: whoever is nominated there and no longer fits starts over now."""
        keys = [self.cluster.pods.keys[row] for row in self.cluster.nominated.get(node, ())]
        for ref in {unit_of(self.waiting.pods[key]): None for key in keys if key in self.waiting.pods}:
            unit, preemption = self.queue.units.get(ref), self.preemptions.get(ref)
            if unit is None or unit.state in (State.IN_FLIGHT, State.GATED):
                continue
            victims = preemption.victims if preemption is not None else ()
            if not still_fit(self.cluster, self.nominations.nominated(unit.pods), victims):
                unit.patient = False
                self.queue.activate(unit)

    def release(self, unit: Reference, shortfall: Shortfall, text: str) -> list[Action]:
        """The gang cannot be completed: evict its bound pods, so that it can be placed as a whole."""
        self.epoch += 1
        pods, group = self.incomplete.members(shortfall), self.identified(unit)
        self.preemptions.start(unit, {each.pod.key: each.pod.uid for each in pods})
        mark = marks.release(self.name, group, text)
        return [Release(unit, group, pods, mark), status.releasing(group, text)]

    def still_evicts(self, pod: Reference) -> bool:
        """Whether somebody still waits for this pod to leave: a unit with quota whose preemption goes on.

        A group in mode *all* of which a pod is on its way out, or was about to be deleted, goes whole.
        """
        row = self.cluster.pods.row_of.get(pod.key)
        number = -1 if row is None else int(self.cluster.pods.group[row])
        unit = int(self.cluster.groups.unit[number]) if number >= 0 else -1
        whole = unit >= 0
        if any(not self.waiting.is_held(each) for each in self.preemptions.waiting_for(pod.key)):
            if whole:
                self._begun.add(pod.key)
            return True
        members = self.cluster.groups.members_below(unit) if whole else ()
        preempted, keys = self.cluster.pods.preempted, self.cluster.pods.keys
        return any(preempted[each] or keys[each] in self._begun for each in members)

    def has_ended(self, pod: Reference) -> bool:
        row = self.cluster.pods.row_of.get(pod.key)
        return row is None or self.cluster.pods.info[row].uid != pod.uid

    def calls_ended(self, victims: Iterable[Evicted]) -> None:
        """The calls of an eviction have ended: the API shows from now on which pods are on their way out."""
        self._begun.difference_update(each.pod.key for each in victims)

    def is_ours(self, unit: Reference, pod: Pod | None = None) -> bool:
        """Whether the pods of a group are ours to place: this one, or else those that are known."""
        named = self.cluster.pods.info
        if pod is not None:
            return pod.spec.scheduler_name in self.names
        number = self.cluster.groups.number_of.get(unit.key)
        rows = () if number is None else self.cluster.groups.members[number]
        return any(named[row].scheduler in self.names for row in rows)

    def divergence(self, unit: Reference) -> tuple[str, bool]:
        """Which pods do not match their group, as a sentence, and whether that keeps it from being tried.

        KEP-5710 takes the group's priority for all of them; kube-scheduler refuses the group.
        """
        scheduler, group = self.scheduler_of(unit), self.cluster.groups.number_of.get(unit.key)
        strangers, unequal = self.waiting.misfits(unit, scheduler)
        if group is None or not (strangers or unequal):
            return "", False
        priority = int(self.cluster.groups.priority[group])
        text = status.mismatch(strangers, unequal, scheduler, priority, ruled=self.groups_rule)
        return text, bool(strangers) or not self.groups_rule

    def stands(self, preemptor: Reference) -> bool:
        """Whether a preemption is still wanted: its preemptor waits and has a nomination."""
        unit = self.queue.units.get(preemptor)
        return unit is not None and bool(self.nominations.nominated(unit.pods))

    def scheduler_of(self, unit: Reference) -> str:
        """The scheduler that the unit's pods named; our own name when they are gone."""
        if len(self.names) == 1:
            return self.name
        pods, groups = self.cluster.pods, self.cluster.groups
        if unit.kind == "PodGroup":
            number = groups.number_of.get(unit.key)
            row = None if number is None else next(iter(groups.members[number]), None)
        else:
            row = pods.row_of.get(unit.key)
        named = self.name if row is None else pods.info[row].scheduler
        return named if named in self.names else self.name

    def uid(self, pod: str) -> str:
        """Of any pod in the cluster, by its key."""
        return self.cluster.pods.info[self.cluster.pods.row_of[pod]].uid

    def identified(self, unit: Reference) -> Reference:
        """The unit with its UID, as far as it is known."""
        found = self.waiting.group(unit) if unit.kind == "PodGroup" else self.waiting.pods.get(unit.key)
        return Reference.to(found) if found is not None else unit
