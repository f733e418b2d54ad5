"""What the scheduler knows: the cluster, who waits, what is promised, what is under way. All of it can be lost at any time.

Shared by the three parts of the core: `intake` (what happens in the world), `cycles` (decisions) and `aftermath` (how actions ended).
"""

from collections import Counter
from collections.abc import Iterable

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.scheduler import status
from reprieve.scheduler.actions import Action, Nominate, Ref
from reprieve.scheduler.incomplete import Begun
from reprieve.scheduler.nominations import Nominations
from reprieve.scheduler.preemptions import Preemptions
from reprieve.scheduler.queue import Pauses, Queue, QueuedUnit, State
from reprieve.scheduler.recovery import Marked
from reprieve.scheduler.waiting import WaitingPods


class Memory:
    def __init__(self, cluster: Cluster, config: Configuration, scheduler_name: str) -> None:
        self.cluster = cluster
        self.config = config
        self.name = scheduler_name
        self.names = frozenset((scheduler_name, *config.scheduler.other_scheduler_names))
        self.queue = Queue(Pauses.of(config))
        self.waiting = WaitingPods(cluster, self.names, config)
        self.begun = Begun(cluster, self.waiting, config, self.names)
        self.nominations = Nominations(cluster)
        self.preemptions = Preemptions()
        self.marked: dict[str, Marked] = {}
        """Pods on nodes that carry our mark."""
        self.binding: Counter[str] = Counter()
        """Bindings under way, by unit."""
        self.epoch = 0
        """Counts changes of the cluster: a decision made at the same count needs no second thought."""

    def refresh(self, key: str, now: float) -> None:
        """Bring the queue in line with the pods that wait for this unit."""
        pods = self.waiting.free(key)
        unit = self.queue.units.get(key)
        if not pods:
            if unit is not None:
                unit.pods = pods
                if not self.binding[key]:
                    self.queue.remove(key, now)
                    self.preemptions.end(key)
                    self.nominations.end_turn(key)
            return
        if unit is None:
            unit = QueuedUnit(key, 0, self.waiting.since(key, now))
            self.queue.add(unit)
        unit.pods = pods
        if unit.state is State.IN_FLIGHT:
            return
        unit.priority = self.waiting.priority(key)
        gate = self.waiting.gate(key)
        if gate:
            self.queue.gate(unit, gate)
        elif unit.state is State.GATED:
            unit.unfinished = self.waiting.is_unfinished(key)
            self.queue.activate(unit)

    def settle(self, unit: QueuedUnit, now: float, *, failed: bool = False) -> None:
        """Nothing of the unit is in flight any more: it waits on, or leaves."""
        unit.state = State.GATED
        self.refresh(unit.key, now)
        if failed and self.queue.units.get(unit.key) is unit and unit.state is State.ACTIVE:
            self.queue.back_off(unit, now)

    def withdraw(self, unit: str, pods: Iterable[str]) -> list[Action]:
        """Take back what was promised to the pods of a unit, and forget whom it was waiting for."""
        self.preemptions.end(unit)
        self.nominations.end_turn(unit)
        actions: list[Action] = []
        for key in self.nominations.holders(pods):
            self.nominations.make(self.waiting.pods[key], "")
            actions.append(Nominate(status.pod_ref(self.waiting.pods[key]), ""))
        if actions:
            self.epoch += 1
        return actions

    def stands(self, preemptor: str) -> bool:
        """A preemption's decision stands while its unit waits and holds a promise."""
        unit = self.queue.units.get(preemptor)
        return unit is not None and bool(self.nominations.holders(unit.pods))

    def scheduler_of(self, unit: str) -> str:
        """The scheduler that the unit's pods named; our own name when they are gone."""
        if len(self.names) == 1:
            return self.name
        kind, _, key = unit.partition("/")
        pods, groups = self.cluster.pods, self.cluster.groups
        if kind == "PodGroup":
            number = groups.number_of.get(key)
            row = None if number is None else next(iter(groups.members[number]), None)
        else:
            row = pods.row_of.get(key)
        named = self.name if row is None else pods.info[row].scheduler
        return named if named in self.names else self.name

    def ref(self, unit: str) -> Ref:
        kind, _, key = unit.partition("/")
        namespace, _, name = key.partition("/")
        if kind == "PodGroup":
            group = self.waiting.group(unit)
            return status.group_ref(group) if group else Ref(kind, namespace, name)
        pod = self.waiting.pods.get(key)
        return status.pod_ref(pod) if pod else Ref(kind, namespace, name)

    def pod_ref(self, key: str) -> Ref:
        """Of any pod in the cluster."""
        namespace, _, name = key.partition("/")
        return Ref("Pod", namespace, name, self.cluster.pods.info[self.cluster.pods.row_of[key]].uid)
