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
    """`weigh` of every class, cached under the key and extended as classes are added."""
    table: Ints = cluster.lasting.get(key, _NOTHING)
    classes = cluster.classes.all
    if len(table) < len(classes):
        fresh = np.array([weigh(each) for each in classes[len(table) :]], dtype=np.int64)
        table = cluster.lasting[key] = np.concatenate([table, fresh])
    return table


def rare_classes(cluster: Cluster, key: Hashable, holds: Callable[[PodClass], bool]) -> Ints:
    """1 for every class of which it holds, cached like `class_table`, but only as their numbers: tables for
    thousands of selectors, each as long as there are classes, would fill the memory."""
    known: tuple[int, list[int]] = cluster.lasting.get(key, (0, []))
    seen, numbers = known
    classes = cluster.classes.all
    if seen < len(classes):
        numbers = [*numbers, *(each.id for each in classes[seen:] if holds(each))]
        cluster.lasting[key] = len(classes), numbers
    table = np.zeros(len(classes), dtype=np.int64)
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
