"""Equally important entries of a layout in the order in which kube-scheduler's sort leaves them.

Go's sort is not stable: where it puts equal elements follows from how all elements of a node compare with
each other, and from nothing else. Nodes on which they compare alike are sorted once, in the order of their
pods; the places that the sort gives them hold for all of these nodes.
"""

import numpy as np

from reprieve.cluster import Ints, Mask
from reprieve.preemption.go_sort import INSERTION, go_order
from reprieve.preemption.layout import Layout
from reprieve.preemption.view import View

NOT_SORTED = -1
"""The rank of an entry that is no potential victim."""


def sorted_unstably(layout: Layout, lower: Mask) -> Mask:
    """Nodes with so many potential victims (`lower`, by turn and node) that the sort is not stable."""
    many: Mask = layout.tied & (lower.sum(axis=0) > INSERTION)
    return many


def in_gos_order(view: View, layout: Layout, lower: Mask, nodes: Mask) -> Layout:
    """The layout with the potential victims of some nodes as Go's sort leaves them."""
    columns = np.flatnonzero(nodes)
    here = lower[:, columns]
    rows = layout.rows[:, columns]
    arrival = np.where(here, view.cluster.pods.sequence[rows], np.iinfo(np.int64).max)
    listed = np.argsort(arrival, axis=0, kind="stable")  # the others come last, in their order
    rank = np.where(here, np.cumsum(~layout.equal[:, columns], axis=0), NOT_SORTED)
    places = _places(np.take_along_axis(rank, listed, axis=0))
    turns = np.argsort(~here, axis=0, kind="stable")
    source = np.broadcast_to(np.arange(len(lower))[:, None], lower.shape).copy()
    own = source[:, columns]
    np.put_along_axis(own, turns, np.take_along_axis(listed, places, axis=0), axis=0)
    source[:, columns] = own
    return layout.rearranged(source)


def _places(ranks: Ints) -> Ints:
    """For each column the positions of its ranks as Go's sort leaves them; `NOT_SORTED` ones are the last."""
    known: dict[bytes, list[int]] = {}
    found = []
    for column in np.ascontiguousarray(ranks.T):
        key = column.tobytes()
        if key not in known:
            wanted = column[column != NOT_SORTED].tolist()
            known[key] = [*go_order(wanted), *range(len(wanted), len(column))]
        found.append(known[key])
    return np.array(found, np.int64).T
