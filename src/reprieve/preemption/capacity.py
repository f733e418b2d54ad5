"""Reprieve where only room counts: all nodes at once, one rank after the other.

Single pods on different nodes do not compete, so the n-th most important pod of every node is tried in one step. Laid out as (rank on
the node, resource, node) a whole reprieve is a handful of array operations.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows, add_at
from reprieve.placement import Assignment

UNLIMITED = 2**62
"""Slack of a resource that no pod of the preemptor asks for."""


class Ranked(NamedTuple):
    """Pods sorted by node and, on each node, in the order in which they are tried."""

    rows: Rows
    column: Rows
    """Which column of the slack each pod draws on."""
    rank: Rows
    """Its turn on its node, from 0."""


def ranked(rows: Rows, columns: Rows, keys: Sequence[Ints]) -> Ranked | None:
    """Pods by column and then by `keys` (the first one decides first); None when two pods of a column are equal."""
    order = np.lexsort([*reversed(keys), columns.astype(np.int64)])
    sorted_columns = columns[order]
    same = sorted_columns[1:] == sorted_columns[:-1]
    equal = same.copy()
    for key in keys:
        equal &= key[order[1:]] == key[order[:-1]]
    if equal.any():
        return None
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    counts = np.diff(np.append(starts, len(order)))
    rank = np.arange(len(order), dtype=np.int32) - np.repeat(starts, counts).astype(np.int32)
    return Ranked(rows[order], sorted_columns, rank)


def stays(cluster: Cluster, pods: Ranked, slack: Ints) -> Mask:
    """Which of the pods can stay. `slack` (resources by columns) is what is left next to the preemptor; it is used up."""
    kept = np.zeros(len(pods.rows), dtype=np.bool_)
    if not len(pods.rows):
        return kept
    demand = cluster.demand(pods.rows)
    by_turn = np.argsort(pods.rank, kind="stable")
    ends = np.cumsum(np.bincount(pods.rank))
    for start, end in zip(np.concatenate([[0], ends[:-1]]), ends, strict=True):
        turn = by_turn[start:end]
        columns, wanted = pods.column[turn], demand[:, turn]
        fits = (wanted <= slack[:, columns]).all(axis=0)
        kept[turn] = fits
        slack[:, columns] -= np.where(fits, wanted, 0)
    return kept


def slack_next_to(cluster: Cluster, assigned: Sequence[Assignment]) -> tuple[Rows, Ints]:
    """(slots that hold a pod of the preemptor, what is left there of each resource it asks for)."""
    places = np.array([each.slot for each in assigned], dtype=np.int32)
    slots = np.unique(places)
    column = np.searchsorted(slots, places).astype(np.int32)
    classes = cluster.pods.cls[np.array([each.row for each in assigned], dtype=np.int32)]
    slack = cluster.nodes.free(slots)
    for left, requests in zip(slack, cluster.classes.requests, strict=True):
        add_at(left, column, -requests, classes)
        asked = np.bincount(column[requests[classes] > 0], minlength=len(slots))
        left[asked == 0] = UNLIMITED
    return slots, slack
