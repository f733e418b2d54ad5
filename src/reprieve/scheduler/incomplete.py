"""Gangs of which only a part is bound.

A bound pod cannot be unbound. When bindings fail for good, a node is lost, or the scheduler crashes in
between, a gang may hold nodes with fewer pods than its `minCount`. Then, in this order:

1. The rest of the gang is tried before every other unit (`queue`) and may preempt as the whole gang may.
2. While the rest has no place, the group's condition `reprieve.dev/Incomplete` says since when, and how many
   pods are missing. The time comes from that condition, so that a restart does not set it back.
3. After `scheduler.incompleteGangTimeout` the bound pods are released: evicted together, so that the gang can
   be placed as a whole. Only if each of them has a controller that replaces it; otherwise all of them stay.

A tree of groups of which one group has all its pods and another one none, though both are needed, is the same
at a higher level: it is completed, or all that is bound of it is released.

A gang that was complete once (`PodGroupInitiallyScheduled`) and lost pods later is never released.
"""

from collections.abc import Collection
from dataclasses import dataclass

from reprieve.cluster import LOST, Cluster
from reprieve.config import Configuration
from reprieve.objects import Duration, Pod, PodGroup, Reference, find_condition, well_known
from reprieve.scheduler import marks, sentences, status
from reprieve.scheduler.actions import Evicted, SetGroupCondition
from reprieve.scheduler.trees import HalfTrees
from reprieve.scheduler.waiting import WaitingPods


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a gang has on nodes, and what it lacks."""

    bound: tuple[str, ...]
    wanted: int
    bare: tuple[str, ...]
    """Bound pods without a controller that would replace them."""
    leads: bool = True
    """Of a tree one group has the bound pods released, for all."""

    def sentence(self, timeout: Duration) -> str:
        bound = len(self.bound)
        if not timeout:
            return sentences.lacks_pods(bound, self.wanted)
        if self.bare:
            return sentences.bound_pods_stay(bound, self.wanted, self.bare)
        return sentences.bound_pods_are_released(bound, self.wanted, timeout)


class IncompleteGangs:
    """Gangs with pods on nodes: how many pods they lack, since when, and which pods could be released."""

    def __init__(
        self, cluster: Cluster, waiting: WaitingPods, config: Configuration, names: Collection[str]
    ) -> None:
        self._cluster = cluster
        self._waiting = waiting
        self._names = names
        self.timeout = config.scheduler.incomplete_gang_timeout
        self._gangs = config.gate("GenericWorkload") and config.gate("GangScheduling")
        trees = self._gangs and config.gate("CompositePodGroup")
        self._trees = HalfTrees(cluster, waiting) if trees else None
        self._controlled: set[str] = set()
        """Pods of groups, on nodes, that have a controller."""
        self.marked: dict[str, Reference] = {}
        """Pods that are marked to be released and not on their way out yet."""
        self._since: dict[Reference, float] = {}

    def observe(self, pod: Pod, gone: bool) -> None:
        """A pod of a group was added, changed or removed."""
        self._controlled.discard(pod.key)
        self.marked.pop(pod.key, None)
        if gone or not pod.spec.node_name:
            return
        if any(owner.controller for owner in pod.metadata.owner_references):
            self._controlled.add(pod.key)
        mark = marks.read(pod, marks.RELEASED) if pod.metadata.deletion_timestamp is None else None
        if mark is not None and mark.scheduler in self._names:
            self.marked[pod.key] = Reference.to(pod)

    def shortfall(self, unit: Reference) -> Shortfall | None:
        """What an incomplete gang lacks; None for every other unit."""
        group = self._waiting.group(unit)
        half = self._trees.half(unit) if self._trees is not None and group is not None else None
        if half is not None:
            leads = half.leader == unit
            if not leads and not half.lacking:
                return None
            bare = tuple(key for key in half.bound if key not in self._controlled)
            return Shortfall(half.bound, len(half.bound) + half.missing, bare, leads)
        if not self._gangs or group is None or not group.is_gang or self._waiting.once_complete(group):
            return None
        bound, wanted = self._waiting.staying(unit), group.min_count - self._waiting.ended(unit)
        if not 0 < len(bound) < wanted:
            return None
        bare = tuple(key for key in bound if key not in self._controlled)
        return Shortfall(tuple(bound), wanted, bare)

    def since(self, unit: Reference, now: float) -> float:
        """Since when it has been known to be incomplete."""
        group = self._waiting.group(unit)
        reported = _incomplete_since(group) if group is not None else None
        known = self._since.setdefault(unit, now)
        return known if reported is None else min(known, reported)

    def due(self, unit: Reference, shortfall: Shortfall, now: float) -> float | None:
        """When its bound pods are to be released; None for never."""
        if shortfall.bare or not self.timeout or not shortfall.leads:
            return None
        return self.since(unit, now) + self.timeout

    def in_half_tree(self, unit: Reference) -> bool:
        return self._trees is not None and self._trees.half(unit) is not None

    def members(self, shortfall: Shortfall) -> tuple[Evicted, ...]:
        """The bound pods, to be evicted."""
        pods, names = self._cluster.pods, self._cluster.nodes.names
        found = []
        for key in shortfall.bound:
            row = pods.row_of[key]
            node = pods.info[row].node_name if pods.node[row] == LOST else names[pods.node[row]]
            pod = Reference.of("Pod", key, pods.info[row].uid)
            found.append(Evicted(pod, node, sentences.GANG_IS_INCOMPLETE))
        return tuple(found)

    def over(self, unit: Reference) -> list[SetGroupCondition]:
        """The condition of a gang that is not incomplete any more, if it has to change."""
        group = self._waiting.group(unit)
        if self._trees is not None:
            self._trees.note(unit)
        if self.shortfall(unit) is not None:
            return []
        self._since.pop(unit, None)
        if group is None or _incomplete_since(group) is None:
            return []
        placed = len(self._waiting.staying(unit)) + self._waiting.ended(unit)
        text = sentences.pods_are_bound(placed, group.min_count)
        reason = "Complete" if placed >= group.min_count else "Released"
        condition = status.group_condition(group, well_known.INCOMPLETE, "False", reason, text)
        return [condition] if condition else []

    def saved(self) -> list[Reference]:
        """Pods that were marked to be released and stay: their gang is not incomplete any more."""
        whole = ((ref, self._unit(key)) for key, ref in self.marked.items())
        return [ref for ref, unit in whole if self.shortfall(unit) is None and not self.in_half_tree(unit)]

    def _unit(self, key: str) -> Reference:
        group = self._cluster.pods.group[self._cluster.pods.row_of[key]]
        return Reference.of("PodGroup", self._cluster.groups.keys[group])


def _incomplete_since(group: PodGroup) -> float | None:
    """When the group's condition became true; None when it is not."""
    condition = find_condition(group.status.conditions, well_known.INCOMPLETE)
    if condition is None or condition.status != "True" or condition.last_transition_time is None:
        return None
    return condition.last_transition_time.timestamp()
