"""One pod class over all nodes: where its requests fit and what each node scores, updated as usage changes.

After a placement only the touched node is scored again, so the second pod of a class costs next to nothing.
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass, Rows
from reprieve.placement.resources import Scoring, fits, fits_one, score_one, scores
from reprieve.placement.static import static_fit

UNFIT = -1
"""The score of a node where the pod does not fit; all others are at least 0."""

MANY = 64
"""Above this many touched nodes, computing all nodes at once is faster than one by one."""


class Scan:
    def __init__(self, cluster: Cluster, cls: PodClass, scoring: Scoring) -> None:
        self._cluster = cluster
        self._cls = cls
        self._scoring = scoring
        self._read = -1
        self._compute()

    def _compute(self) -> None:
        cluster, cls = self._cluster, self._cls
        self.static = static_fit(cluster, cls)
        self.fits: Mask = self.static.fine & fits(cluster, cls)
        self.scores: Ints = self.static.images + scores(cluster, cls, self._scoring)
        self._rescored = self.static.rescored
        self._read = len(cluster.touched)
        self._order: Rows | None = None

    def refresh(self) -> None:
        """Catch up with nodes touched since the last refresh, new and changed ones included."""
        touched = self._cluster.touched
        static = static_fit(self._cluster, self._cls)
        if static.rescored != self._rescored or len(touched) - self._read > MANY:
            self._compute()
            return
        if self._read == len(touched):
            return
        more = self._cluster.nodes.slots - len(self.fits)
        if more:
            self.fits = np.concatenate([self.fits, np.zeros(more, dtype=np.bool_)])
            self.scores = np.concatenate([self.scores, np.zeros(more, dtype=np.int64)])
            self._order = None
        for slot in set(touched[self._read :]):
            fit = bool(static.fine[slot]) and fits_one(self._cluster, self._cls, slot)
            score = static.images.item(slot) + score_one(self._cluster, self._cls, self._scoring, slot)
            self.fits[slot] = fit
            self.scores[slot] = score
            if self._order is not None:
                self._ranked[self._position[slot]] = score if fit else UNFIT
        self._read = len(touched)

    @property
    def ranked(self) -> Ints:
        """The score of every node in the scheduler's order; `UNFIT` where the pod does not fit."""
        order = self._cluster.nodes.order
        if order is not self._order:
            self._order = order
            self._position: Rows = np.full(len(self.fits), len(order), dtype=np.int32)
            self._position[order] = np.arange(len(order), dtype=np.int32)
            # The last place is for slots without a node, which are in no order.
            self._ranked: Ints = np.append(np.where(self.fits, self.scores, UNFIT)[order], UNFIT)
        return self._ranked[:-1]


def scan_of(cluster: Cluster, cls: PodClass, scoring: Scoring) -> Scan:
    """The class's scan for the present usage, cached: classes that differ in labels only share it."""
    key = ("scan", cls.shape, scoring)
    found: Scan | None = cluster.caches.get(key)
    if found is None:
        found = cluster.caches[key] = Scan(cluster, cls, scoring)
    else:
        found.refresh()
    return found
