"""Counting pods by class: tables over pod classes, sums over nodes and topology domains."""

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass, Rows


class DomainLimit(NamedTuple):
    """How many pods, weighted by class, a topology domain may hold next to the pod."""

    weights: Ints
    """What a pod of each class counts for."""
    counted: Mask
    """Nodes whose pods count."""
    terminating: bool
    """Whether a terminating pod counts when it is supposed to go."""
    left: Ints
    """By node: how much more its domain may hold; negative: so much must go."""


def class_table(cluster: Cluster, key: Hashable, weigh: Callable[[PodClass], int]) -> Ints:
    """`weigh` of every class, cached under the key, extended as classes are added, corrected where a number
    stands for another class now."""
    table: Ints
    table, renewed = cluster.lasting.get(key, (_NOTHING, 0))
    classes = cluster.classes
    if len(table) == len(classes.all) and renewed == len(classes.renewed):
        return table
    for number in {each for each in classes.renewed[renewed:] if each < len(table)}:
        table[number] = weigh(classes.all[number])
    fresh = np.array([weigh(each) for each in classes.all[len(table) :]], dtype=np.int64)
    table = np.concatenate([table, fresh])
    cluster.lasting[key] = table, len(classes.renewed)
    return table


def rare_classes(cluster: Cluster, key: Hashable, holds: Callable[[PodClass], bool]) -> Ints:
    """1 for every class of which it holds, cached like `class_table`, but only as their numbers: tables for
    thousands of selectors, each as long as there are classes, would fill the memory."""
    known: tuple[int, int, list[int]] = cluster.lasting.get(key, (0, 0, []))
    seen, renewed, numbers = known
    classes = cluster.classes
    if seen < len(classes.all) or renewed < len(classes.renewed):
        again = {each for each in classes.renewed[renewed:] if each < seen}
        judged = [*(classes.all[each] for each in again), *classes.all[seen:]]
        kept = [each for each in numbers if each not in again]
        numbers = [*kept, *(each.id for each in judged if holds(each))]
        cluster.lasting[key] = len(classes.all), len(classes.renewed), numbers
    table = np.zeros(len(classes.all), dtype=np.int64)
    table[numbers] = 1
    return table


def weights_by_node(cluster: Cluster, table: Ints, *, terminating: bool = True) -> Ints:
    """For each node, the sum of the table over its pods; terminating ones only if `terminating`."""
    pods = cluster.pods
    weights = table[pods.cls[: pods.rows]]
    rows = np.flatnonzero(weights)
    rows = rows[pods.node[rows] >= 0]
    if not terminating:
        rows = rows[~pods.terminating[rows]]
    counts = np.bincount(pods.node[rows], weights=weights[rows], minlength=cluster.nodes.slots)
    return counts.astype(np.int64)


def by_domain(ids: Rows, amounts: Ints, domains: int) -> Ints:
    """Sums over the nodes of each domain; nodes without the label (id -1) count nowhere."""
    inside = ids >= 0
    return np.bincount(ids[inside], weights=amounts[inside], minlength=domains).astype(np.int64)


_NOTHING: Ints = np.zeros(0, dtype=np.int64)
