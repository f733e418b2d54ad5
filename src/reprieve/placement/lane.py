"""Placing equal pods one after the other: a queue of the best nodes instead of a search for each pod.

Usable when only free resources change where pods of the class may go and how nodes score. The list of feasible nodes and their totals
are kept; placing a pod gives one node a new number. Only when a node drops out does the list (and with it the order of equal
nodes) have to be made again.
"""

import numpy as np

from reprieve.cluster import Cluster
from reprieve.cluster.columns import Ints, Mask, Rows
from reprieve.placement.affinity import may_score as affinity_may_score
from reprieve.placement.choose import feasible_list, preorder, totals
from reprieve.placement.cycle import Cycle
from reprieve.placement.resources import Scoring
from reprieve.placement.scan import scan_of
from reprieve.placement.spread import soft_constraints


def has_lane(cycle: Cycle) -> bool:
    """Whether nothing but resources decides about pods of this class, now and while its gang is placed."""
    cluster, cls = cycle.cluster, cycle.cls
    if not cycle.plain or cls.ports or cluster.nominated:
        return False
    return not soft_constraints(cluster, cls)[0] and not affinity_may_score(cluster, cls)


class Lane:
    def __init__(self, cycle: Cycle, scoring: Scoring, within: Mask | None) -> None:
        self._cluster: Cluster = cycle.cluster
        self._cls = cycle.cls
        self._scoring = scoring
        self._within = within
        self._read = 0
        self._most = 0
        self._dropping = False
        self._queue: list[int] = []
        """Positions of the best nodes, the very best last."""
        self._list_again()

    def best(self) -> int | None:
        """The slot the next pod goes to, or None when no node is left."""
        self._catch_up()
        if not self._left:
            return None
        if not self._queue:
            self._fill_queue()
        return int(self._slots[self._queue[-1]])

    def _fill_queue(self) -> None:
        """The best nodes; only the very best one while nodes keep dropping out, since that changes the order of the others."""
        self._most = int(self._total.max())
        ties = np.flatnonzero(self._total == self._most)
        order = preorder(len(self._slots))[self._rank[ties]]
        if self._dropping:
            self._queue = [int(ties[np.argmin(order)])]
            self._dropping = False
        else:
            self._queue = ties[np.argsort(-order)].tolist()

    def _catch_up(self) -> None:
        touched = self._cluster.touched
        if self._read == len(touched):
            return
        self._scan.refresh()
        for slot in touched[self._read :]:
            position = int(self._position[slot])
            fits = self._scan.fits[slot] and (self._within is None or self._within[slot])
            if fits and position >= 0:
                self._rescore(position, int(self._scan.scores[slot]) + int(self._fixed[position]))
            elif position >= 0 and not self._scaled:
                self._drop(slot, position)
            elif fits or position >= 0:
                self._list_again()
                return
        self._read = len(touched)

    def _rescore(self, position: int, total: int) -> None:
        self._total[position] = total
        if not self._queue:
            return
        if total > self._most:
            self._queue = []
        elif self._queue[-1] == position:
            if total < self._most:
                self._queue.pop()
        elif total == self._most or position in self._queue:
            self._queue = []

    def _drop(self, slot: int, position: int) -> None:
        """A node is full: it leaves the list, and those after it move up."""
        self._total[position] = -1
        self._rank[position + 1 :] -= 1
        self._position[slot] = -1
        self._left -= 1
        self._queue = []
        self._dropping = True

    def _list_again(self) -> None:
        cluster = self._cluster
        self._scan = scan_of(cluster, self._cls, self._scoring)
        fits = self._scan.fits if self._within is None else self._scan.fits & self._within
        self._slots: Rows = feasible_list(cluster, fits)
        self._left = len(self._slots)
        self._total: Ints = totals(cluster, self._cls, self._scan, self._slots)
        self._fixed: Ints = self._total - self._scan.scores[self._slots]
        """What usage does not change: taints and preferences, scaled over the feasible nodes."""
        static = self._scan.static
        self._scaled = bool(static.most_taints or self._cls.preferred_nodes)
        """Whether a node that leaves may change how the others are scaled."""
        self._position: Rows = np.full(cluster.nodes.slots, -1, dtype=np.int32)
        self._position[self._slots] = np.arange(len(self._slots), dtype=np.int32)
        self._rank: Rows = np.arange(len(self._slots), dtype=np.int32)
        """Each node's place among those that are left."""
        self._dropping = False
        self._queue = []
        self._read = len(cluster.touched)
