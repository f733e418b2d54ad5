"""One pod class over all nodes: where its requests fit and what each node scores, updated as usage changes.

After a placement only the touched node is scored again, so the second pod of a class costs next to nothing.
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass
from reprieve.placement.resources import Scoring, fits, fits_one, score_one, scores
from reprieve.placement.static import static_fit

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
        for slot in set(touched[self._read :]):
            self.fits[slot] = static.fine[slot] and fits_one(self._cluster, self._cls, slot)
            self.scores[slot] = static.images[slot] + score_one(self._cluster, self._cls, self._scoring, slot)
        self._read = len(touched)


def scan_of(cluster: Cluster, cls: PodClass, scoring: Scoring) -> Scan:
    """The class's scan for the present usage, cached."""
    key = ("scan", cls.id, scoring)
    found: Scan | None = cluster.caches.get(key)
    if found is None:
        found = cluster.caches[key] = Scan(cluster, cls, scoring)
    else:
        found.refresh()
    return found
