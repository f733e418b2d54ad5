"""NodeResourcesFit and NodeResourcesBalancedAllocation: does it fit, and how good is the fit.

Every formula exists twice, over all nodes at once and for a single node; a property test holds the two together. The single form is
what makes placing a gang cheap: after a pod only one node needs a new number.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reprieve.cluster import Cluster
from reprieve.cluster.classes import PodClass
from reprieve.cluster.columns import Ints, Mask
from reprieve.cluster.nodes import CPU, MEMORY
from reprieve.config.sections import ScoringStrategy

BALANCED = (CPU, MEMORY)
Floats = NDArray[np.float64]


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


# --- does it fit ------------------------------------------------------------------------------------------------------


def fits_mask(cluster: Cluster, cls: PodClass) -> Mask:
    """Nodes with enough of everything the pod asks for; what it does not ask for may be overdrawn."""
    nodes = cluster.nodes
    width = nodes.slots
    mask = np.ones(width, dtype=np.bool_)
    for index, number in cls.asks:
        mask &= nodes.allocatable[index, :width] - nodes.used[index, :width] >= number
    return mask


def fits_one(cluster: Cluster, cls: PodClass, slot: int) -> bool:
    nodes = cluster.nodes
    return all(nodes.allocatable[i, slot] - nodes.used[i, slot] >= number for i, number in cls.asks)


# --- how good is the fit ----------------------------------------------------------------------------------------------


def scores(cluster: Cluster, cls: PodClass, scoring: Scoring) -> Ints:
    """Fit plus balance for every node; meaningful where the pod fits."""
    return _fit_scores(cluster, cls, scoring) + _balance_scores(cluster, cls)


def score_one(cluster: Cluster, cls: PodClass, scoring: Scoring, slot: int) -> int:
    return _fit_one(cluster, cls, scoring, slot) + _balance_one(cluster, cls, slot)


def _asked(cluster: Cluster, cls: PodClass, index: int) -> int:
    """What the pod counts for in scoring: a container without requests counts as a small one."""
    if index == CPU:
        return cls.score_cpu
    if index == MEMORY:
        return cls.score_memory
    return int(cluster.classes.requests[index, cls.id])


def _fit_scores(cluster: Cluster, cls: PodClass, scoring: Scoring) -> Ints:
    nodes = cluster.nodes
    width = nodes.slots
    total = np.zeros(width, dtype=np.int64)
    weights = np.zeros(width, dtype=np.int64)
    for index, weight in scoring.weights:
        asked = _asked(cluster, cls, index)
        if asked == 0 and index not in BALANCED:
            continue
        offered = nodes.allocatable[index, :width]
        wanted = (nodes.filled[index, :width] if index in BALANCED else nodes.used[index, :width]) + asked
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


def _fit_one(cluster: Cluster, cls: PodClass, scoring: Scoring, slot: int) -> int:
    nodes = cluster.nodes
    total = weights = 0
    for index, weight in scoring.weights:
        asked = _asked(cluster, cls, index)
        offered = int(nodes.allocatable[index, slot])
        if offered == 0 or (asked == 0 and index not in BALANCED):
            continue
        wanted = int((nodes.filled if index in BALANCED else nodes.used)[index, slot]) + asked
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


def _balance_scores(cluster: Cluster, cls: PodClass) -> Ints:
    """75 where the pod leaves the balance of cpu and memory as it is, more where it improves it; 0 for pods without requests."""
    nodes = cluster.nodes
    width = nodes.slots
    asks = [int(cluster.classes.requests[index, cls.id]) for index in BALANCED]
    if not any(asks):
        return np.zeros(width, dtype=np.int64)
    offered = nodes.allocatable[: MEMORY + 1, :width]
    used = nodes.used[: MEMORY + 1, :width]
    after = _balance(used + np.array(asks, dtype=np.int64)[:, None], offered)
    return 50 + (50 + after - _balance(used, offered)) // 2


def _balance(wanted: Ints, offered: Ints) -> Ints:
    shares: Floats = np.minimum(wanted / np.maximum(offered, 1), 1.0)
    both = (offered > 0).all(axis=0)
    uneven = np.where(both, np.abs((shares[0] - shares[1]) / 2), 0.0)
    return ((1 - uneven) * 100.0).astype(np.int64)


def _balance_one(cluster: Cluster, cls: PodClass, slot: int) -> int:
    nodes = cluster.nodes
    cpu, memory = (int(cluster.classes.requests[index, cls.id]) for index in BALANCED)
    if not cpu and not memory:
        return 0
    offered = int(nodes.allocatable[CPU, slot]), int(nodes.allocatable[MEMORY, slot])
    used = int(nodes.used[CPU, slot]), int(nodes.used[MEMORY, slot])
    before = _balance_pair(used[0], used[1], *offered)
    return 50 + (50 + _balance_pair(used[0] + cpu, used[1] + memory, *offered) - before) // 2


def _balance_pair(cpu: int, memory: int, all_cpu: int, all_memory: int) -> int:
    if not all_cpu or not all_memory:
        return 100
    return int((1 - abs((min(cpu / all_cpu, 1.0) - min(memory / all_memory, 1.0)) / 2)) * 100.0)
