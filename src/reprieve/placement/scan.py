"""One pod class over all nodes: where its requests fit and what each node scores, updated as usage changes.

After a placement only the touched node is scored again, so the second pod of a class costs next to nothing.
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass, Rows
from reprieve.placement.preorder import preorder
from reprieve.placement.resources import OneNode, Scoring, fits, scores
from reprieve.placement.static import static_fit

UNFIT = -1
"""The score of a node where the pod does not fit; all others are at least 0."""

MANY = 64
"""Above this many touched nodes, computing all nodes at once is faster than one by one."""

MOST_AHEAD = 512
"""How many of the best nodes are put in order ahead of the pods that take them."""


class Scan:
    def __init__(self, cluster: Cluster, cls: PodClass, scoring: Scoring) -> None:
        self._cluster = cluster
        self._cls = cls
        self._scoring = scoring
        self.one_node = OneNode(cluster, cls, scoring)
        self._read = -1
        self._best: list[int] = []
        """Places of the best nodes in the scheduler's order, the first one last; some may no longer be."""
        self._most = UNFIT
        """Their score."""
        self._ahead = 1
        """How many of them are put in order next."""
        self._compute()

    def _compute(self) -> None:
        cluster, cls = self._cluster, self._cls
        self.static = static_fit(cluster, cls)
        self.fits: Mask = self.static.fine & fits(cluster, cls)
        self.scores: Ints = self.static.images + scores(cluster, cls, self._scoring)
        self._rescored = self.static.rescored
        self._read = len(cluster.touched)
        self._order: Rows | None = None

    @property
    def rescales(self) -> bool:
        """Whether a node that leaves the list of feasible ones may change how the others are scored."""
        return bool(self.static.most_taints or self._cls.preferred_nodes)

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
            fit = static.fine.item(slot) and self.one_node.fits(slot)
            score = static.images.item(slot) + self.one_node.score(slot)
            self.fits[slot] = fit
            self.scores[slot] = score
            if self._order is not None:
                self._rank(self._position.item(slot), score if fit else UNFIT)
        self._read = len(touched)

    def _rank(self, place: int, score: int) -> None:
        """A node in the scheduler's order has another score.

        The best nodes found before stay the best, and in their order, as long as none joins them and the list
        of feasible nodes stays as it is.
        """
        before = self._ranked.item(place)
        self._ranked[place] = score
        if (score == UNFIT) != (before == UNFIT):
            self._seats[place:] += 1 if before == UNFIT else -1
            self._forget_best()
        elif score >= self._most and before != score:
            self._forget_best()

    def _forget_best(self) -> None:
        self._best = []
        self._ahead = 1

    def first(self) -> int | None:
        """The slot of the best node, for pods to which only these scores matter; None without one.

        Pods that follow each other take one of the best nodes after the other, so a few are put in order at a
        time: first one, then more.
        """
        ranked = self._in_order()
        while self._best:
            place = self._best[-1]
            if ranked.item(place) == self._most:
                return self._cluster.nodes.order.item(place)
            self._best.pop()
        if len(ranked) == 1:
            return None
        self._most = ranked.max().item()
        if self._most == UNFIT:
            return None
        self._best = self._best_in_order(ranked[:-1])
        self._ahead = min(8 * self._ahead, MOST_AHEAD)
        return self._cluster.nodes.order.item(self._best[-1])

    def _best_in_order(self, ranked: Ints) -> list[int]:
        """Some of the best nodes as kube-scheduler's heap has them, the first one last."""
        ties = (ranked == self._most).nonzero()[0]
        if len(ties) > 1:
            order = preorder(len(ranked))[self._seats[ties]]
            if self._ahead == 1:
                return [ties.item(order.argmin())]
            if len(ties) > self._ahead:
                some = order.argpartition(self._ahead)[: self._ahead]
                ties, order = ties[some], order[some]
            ties = ties[order.argsort()[::-1]]
        found: list[int] = ties.tolist()
        return found

    def _in_order(self) -> Ints:
        """The score of every node in the scheduler's order; `UNFIT` where the pod does not fit.

        The last one stands for slots without a node, which are in no order.
        """
        order = self._cluster.nodes.order
        if order is not self._order:
            self._order = order
            self._position: Rows = np.full(len(self.fits), len(order), dtype=np.int32)
            self._position[order] = np.arange(len(order), dtype=np.int32)
            self._ranked: Ints = np.append(np.where(self.fits, self.scores, UNFIT)[order], UNFIT)
            self._seats: Ints = np.cumsum(self._ranked[:-1] != UNFIT) - 1
            """The place of every node among the feasible ones."""
            self._forget_best()
        return self._ranked


def scan_of(cluster: Cluster, cls: PodClass, scoring: Scoring) -> Scan:
    """The class's scan for the present usage, cached: classes that differ in labels only share it."""
    key = ("scan", cls.shape, scoring)
    found: Scan | None = cluster.caches.get(key)
    if found is None:
        found = cluster.caches[key] = Scan(cluster, cls, scoring)
    else:
        found.refresh()
    return found
