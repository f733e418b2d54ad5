"""NodeResourcesFit and NodeResourcesBalancedAllocation: does a pod fit, and how well.

Every formula exists twice, over many nodes at once and for a single node; a property test keeps the two
equal. The single form makes the next pod cheap: after a placement only one node needs a new score. `guests`
are pods of the same class that are assigned to a node but not counted there yet, so that a wave is scored
before it is placed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprieve.cluster import CPU, MEMORY, Cluster, Ints, Mask, PodClass, Rows
from reprieve.config import ScoringStrategy

BALANCED = (CPU, MEMORY)
Floats = NDArray[np.float64]
Slots = Rows | None
"""Which nodes; None: all of them."""
Guests = Ints | int
State = tuple[int, int, int, int, int, int, int]
"""Cpu and memory of a node: offered, used and filled; and the number of guests."""
MOST_KNOWN = 500
"""How many scores of single nodes are kept for each shape of pods."""


class Scoring(NamedTuple):
    """The scoring strategy with resource names resolved to rows."""

    kind: str
    weights: tuple[tuple[int, int], ...]
    shape: tuple[tuple[int, int], ...]
    """(utilisation in percent, score 0-100), by utilisation."""


DEFAULT = Scoring("LeastAllocated", ((CPU, 1), (MEMORY, 1)), ())


def resolve_scoring(cluster: Cluster, strategy: ScoringStrategy) -> Scoring:
    weights = tuple((cluster.nodes.resource(each.name), each.weight) for each in strategy.resources)
    shape = tuple((point.utilization, 10 * point.score) for point in strategy.shape)
    return Scoring(strategy.type, weights, shape)


# --- does it fit --------------------------------------------------------------------------------------------


def delegated(cluster: Cluster, cls: PodClass) -> tuple[int, ...]:
    """Resources of the pod that devices serve on nodes that have none of their own."""
    table = cluster.devices
    if not table.classes or not table.enabled:
        return ()
    key = ("delegated", cls)
    found: tuple[int, ...] | None = cluster.lasting.get(key)
    if found is None:
        names = cluster.nodes.resources
        found = tuple(index for index, _ in cls.requested if table.class_serving(names[index]))
        cluster.lasting[key] = found
    return found


def fits(cluster: Cluster, cls: PodClass, slots: Slots = None, guests: Guests = 0) -> Mask:
    """Nodes with enough of everything the pod requests; other resources may be overcommitted."""
    nodes, at = cluster.nodes, _at(cluster, slots)
    mask: Mask = np.ones(nodes.slots if slots is None else len(slots), dtype=np.bool_)
    elsewhere = delegated(cluster, cls)
    for index, number in cls.requested:
        enough = nodes.allocatable[index, at] - nodes.used[index, at] >= number * (guests + 1)
        mask &= enough if index not in elsewhere else enough | (nodes.allocatable[index, at] == 0)
    return mask


def _at(cluster: Cluster, slots: Slots) -> Rows | slice:
    return slice(cluster.nodes.slots) if slots is None else slots


# --- how good is the fit ------------------------------------------------------------------------------------


def scores(
    cluster: Cluster, cls: PodClass, scoring: Scoring, slots: Slots = None, guests: Guests = 0
) -> Ints:
    """Fit plus balance for every node; meaningful where the pod fits."""
    at = _at(cluster, slots)
    return _fit_scores(cluster, cls, scoring, at, guests) + _balance_scores(cluster, cls, at, guests)


def _asked(cluster: Cluster, cls: PodClass, index: int) -> int:
    """What the pod counts for in scoring: a container without requests counts as a small one."""
    if index == CPU:
        return cls.score_cpu
    if index == MEMORY:
        return cls.score_memory
    return _request(cluster, cls, index)


def _request(cluster: Cluster, cls: PodClass, index: int) -> int:
    return cluster.classes.requests.item(index, cls.id)


def _fit_scores(cluster: Cluster, cls: PodClass, scoring: Scoring, at: Rows | slice, guests: Guests) -> Ints:
    nodes = cluster.nodes
    total = np.zeros_like(nodes.allocatable[CPU, at])
    weights = np.zeros_like(total)
    for index, weight in scoring.weights:
        asked = _asked(cluster, cls, index)
        if asked == 0 and index not in BALANCED:
            continue
        offered = nodes.allocatable[index, at]
        if index in BALANCED:
            wanted = nodes.filled[index, at] + (guests * cls.filled[index] + asked)
        else:
            wanted = nodes.used[index, at] + (guests + 1) * asked
        part = _part_scores(scoring, wanted, offered)
        counts = offered > 0
        if scoring.kind == "RequestedToCapacityRatio":
            counts = counts & (part > 0)
        total += np.where(counts, weight * part, 0)
        weights += np.where(counts, weight, 0)
    safe = np.maximum(weights, 1)
    if scoring.kind == "RequestedToCapacityRatio":
        return np.where(weights > 0, np.floor(total / safe + 0.5).astype(np.int64), 0)
    return np.where(weights > 0, total // safe, 0)


def _part_scores(scoring: Scoring, wanted: Ints, offered: Ints) -> Ints:
    safe = np.maximum(offered, 1)
    if scoring.kind == "LeastAllocated":
        return np.where(wanted > offered, 0, (offered - wanted) * 100 // safe)
    if scoring.kind == "MostAllocated":
        return np.minimum(wanted, offered) * 100 // safe
    percent = np.where(wanted > offered, 100, wanted * 100 // safe)
    table = np.array([_shape_value(scoring.shape, p) for p in range(101)], dtype=np.int64)
    return table[percent]


def _part_one(scoring: Scoring, wanted: int, offered: int) -> int:
    if scoring.kind == "LeastAllocated":
        return 0 if wanted > offered else (offered - wanted) * 100 // offered
    if scoring.kind == "MostAllocated":
        return min(wanted, offered) * 100 // offered
    return _shape_value(scoring.shape, 100 if wanted > offered else wanted * 100 // offered)


def _shape_value(shape: tuple[tuple[int, int], ...], percent: int) -> int:
    """The broken line at a utilisation; divisions truncate toward zero."""
    for k, (at, score) in enumerate(shape):
        if percent <= at:
            if k == 0:
                return score
            before, low = shape[k - 1]
            return low + int((score - low) * (percent - before) / (at - before))
    return shape[-1][1]


def _balance_scores(cluster: Cluster, cls: PodClass, at: Rows | slice, guests: Guests) -> Ints:
    """75 where the balance of cpu and memory stays as it is, more where it improves; 0 without requests."""
    nodes = cluster.nodes
    cpu, memory = (_request(cluster, cls, index) for index in BALANCED)
    if not cpu and not memory:
        return np.zeros_like(nodes.allocatable[CPU, at])
    offered = nodes.allocatable[: MEMORY + 1, at]
    requested = np.array([[cpu], [memory]], dtype=np.int64)
    used = nodes.used[: MEMORY + 1, at] + requested * guests
    both, safe = offered > 0, np.maximum(offered, 1)
    both = both[0] & both[1]
    found: Ints = 50 + (50 + _balance(used + requested, safe, both) - _balance(used, safe, both)) // 2
    return found


def _balance(wanted: Ints, offered: Ints, both: Mask) -> Ints:
    """`offered`: at least one of each; `both`: nodes that offer both."""
    shares: Floats = np.minimum(wanted / offered, 1.0)
    uneven = np.where(both, np.abs((shares[0] - shares[1]) / 2), 0.0)
    return ((1 - uneven) * 100.0).astype(np.int64)


def _balance_pair(cpu: int, memory: int, all_cpu: int, all_memory: int) -> int:
    if not all_cpu or not all_memory:
        return 100
    cpu_share, memory_share = cpu / all_cpu, memory / all_memory
    cpu_share = cpu_share if cpu_share < 1.0 else 1.0
    memory_share = memory_share if memory_share < 1.0 else 1.0
    return int((1 - abs((cpu_share - memory_share) / 2)) * 100.0)


# --- one node at a time -------------------------------------------------------------------------------------


class OneNode:
    """The same formulas for a class of pods and one node."""

    def __init__(self, cluster: Cluster, cls: PodClass, scoring: Scoring) -> None:
        self._cluster, self._cls, self._scoring = cluster, cls, scoring
        asked = [(index, weight, _asked(cluster, cls, index)) for index, weight in scoring.weights]
        self._weights = [each for each in asked if each[2] or each[0] in BALANCED]
        self._cpu, self._memory = (_request(cluster, cls, index) for index in BALANCED)
        self._known: dict[State, int] | None = None
        """Scores by what decides them. Many nodes are alike, and the same ones are met again and again."""
        if all(index in BALANCED for index, _, _ in self._weights):
            self._known = cluster.lasting.setdefault(("node scores", cls.shape, scoring), {})
        nodes = cluster.nodes
        self._viewed = nodes.allocatable, nodes.used, nodes.filled
        self._views = nodes.allocatable.data, nodes.used.data, nodes.filled.data

    def _numbers(self) -> tuple[memoryview, memoryview, memoryview]:
        """What nodes offer, what is used, what scores read: a view is read in half the time of an array."""
        nodes = self._cluster.nodes
        offered, used, filled = self._viewed
        if offered is not nodes.allocatable or used is not nodes.used or filled is not nodes.filled:
            self._viewed = nodes.allocatable, nodes.used, nodes.filled
            self._views = nodes.allocatable.data, nodes.used.data, nodes.filled.data
        return self._views

    def fits(self, slot: int, guests: int = 0) -> bool:
        offered, used, _ = self._numbers()
        times = guests + 1
        for index, number in self._cls.requested:
            if offered[index, slot] - used[index, slot] < number * times and (
                offered[index, slot] or index not in delegated(self._cluster, self._cls)
            ):
                return False
        return True

    def score(self, slot: int, guests: int = 0) -> int:
        known = self._known
        if known is None:
            return self.fit_score(slot, guests) + self.balance(slot, guests)
        offered, used, filled = self._numbers()
        state = (
            offered[CPU, slot],
            offered[MEMORY, slot],
            used[CPU, slot],
            used[MEMORY, slot],
            filled[CPU, slot],
            filled[MEMORY, slot],
            guests,
        )
        found = known.get(state)
        if found is None:
            if len(known) >= MOST_KNOWN:
                known.clear()
            found = known[state] = self.fit_score(slot, guests) + self.balance(slot, guests)
        return found

    def fit_score(self, slot: int, guests: int = 0) -> int:
        nodes, scoring = self._cluster.nodes, self._scoring
        total = weights = 0
        for index, weight, asked in self._weights:
            offered = nodes.allocatable.item(index, slot)
            if offered == 0:
                continue
            if index in BALANCED:
                wanted = nodes.filled.item(index, slot) + guests * self._cls.filled[index] + asked
            else:
                wanted = nodes.used.item(index, slot) + (guests + 1) * asked
            part = _part_one(scoring, wanted, offered)
            if scoring.kind == "RequestedToCapacityRatio" and part == 0:
                continue
            total += weight * part
            weights += weight
        if weights == 0:
            return 0
        if scoring.kind == "RequestedToCapacityRatio":
            return int(total / weights + 0.5)
        return total // weights

    def balance(self, slot: int, guests: int = 0) -> int:
        cpu, memory, nodes = self._cpu, self._memory, self._cluster.nodes
        if not cpu and not memory:
            return 0
        offered = nodes.allocatable.item(CPU, slot), nodes.allocatable.item(MEMORY, slot)
        used_cpu = nodes.used.item(CPU, slot) + guests * cpu
        used_memory = nodes.used.item(MEMORY, slot) + guests * memory
        before = _balance_pair(used_cpu, used_memory, *offered)
        return 50 + (50 + _balance_pair(used_cpu + cpu, used_memory + memory, *offered) - before) // 2
