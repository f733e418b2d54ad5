"""Placing equal pods in waves: all that go to equally good nodes in one step, not one search for each pod.

Possible when only free resources decide where pods of the class may go and how nodes score. The list of
feasible nodes and their totals is kept. A *wave* is a series of pods placed at once: each takes the best node
that is left, and none changes the order of the nodes that the others take.
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows
from reprieve.placement.affinity import may_score as affinity_may_score
from reprieve.placement.filters import PodFilters
from reprieve.placement.preorder import preorder
from reprieve.placement.resources import Scoring, fits, scores
from reprieve.placement.scan import scan_of
from reprieve.placement.single import feasible_list, scaled_totals
from reprieve.placement.spread import soft_constraints

FULL = -1
"""The total of a full node; others have 0 or more."""
LONGEST_STAY = 32
"""How many pods a node is looked at for in one step."""


def goes_in_waves(filters: PodFilters) -> bool:
    """Whether only free resources decide about pods of this class while pods of its shape are placed."""
    cluster, cls = filters.cluster, filters.cls
    if not filters.plain or cls.ports or cluster.nominated:
        return False
    return not soft_constraints(cluster, cls)[0] and not affinity_may_score(cluster, cls)


class Waves:
    def __init__(self, filters: PodFilters, scoring: Scoring, within: Mask | None) -> None:
        self._cluster: Cluster = filters.cluster
        self._cls = filters.cls
        self._scoring = scoring
        self._within = within
        self._list_nodes()

    def take(self, most: int) -> list[int]:
        """The slots of the next pods, fewer than `most` when no node is left. The caller attaches them."""
        if self._read != len(self._cluster.touched):
            self._list_nodes()
        taken: list[int] = []
        while len(taken) < most and self._left:
            taken += self._slots[self._wave(most - len(taken))].tolist()
        return taken

    def _list_nodes(self) -> None:
        cluster = self._cluster
        self._scan = scan_of(cluster, self._cls, self._scoring)
        within = self._scan.fits if self._within is None else self._scan.fits & self._within
        self._slots: Rows = feasible_list(cluster, within)
        self._left = len(self._slots)
        self._rank: Rows = np.arange(self._left, dtype=np.int32)
        """Each node's position among those that are left."""
        self._guests: Ints = np.zeros(self._left, dtype=np.int64)
        """How many pods each node was given since the list was made."""
        self._scaled: Ints = scaled_totals(self._cls, self._scan, self._slots)
        self._rescales = self._scan.rescales
        self._total: Ints = self._scan.scores[self._slots] + self._scaled
        self._read = len(cluster.touched)

    # --- one wave -------------------------------------------------------------------------------------------

    def _wave(self, most: int) -> Rows:
        """Positions in the list of the nodes that get the next pods, one each.

        1. The first of the best nodes stays in the list and is no longer one of the best: the other best ones
           follow in order, up to and including the first that is full or still one of the best afterwards.
        2. It was the first of the list and is full now: the next node moves up to its position and wins in
           turn, as long as it is one of the best and full afterwards, too.
        3. It is full now and was further back: those behind it move up, and the best of them is looked for
           again, as long as that one is full afterwards, too.
        4. It is one of the best afterwards, too: it wins again, until it is full or no longer one of them.
        5. Otherwise that node alone.
        """
        best = int(self._total.max())
        ties = np.flatnonzero(self._total == best).astype(np.int32)
        order = preorder(self._left)[self._rank[ties]]
        first = int(ties[np.argmin(order)])
        after = self._after_one(first)
        if 0 <= after < best and len(ties) > 1 and most > 1:
            return self._follow(ties[np.argsort(order)[:most]], best)
        if after == FULL and self._rank[first] == 0 and not self._rescales:
            return self._fill_from_the_front(best, most)
        if after == FULL and len(ties) > 1 and most > 1 and not self._rescales:
            return self._fill_in_turn(ties, most)
        if after >= best and most > 1:
            return self._stay(first, best, most)
        alone = np.array([first], dtype=np.int32)
        self._give(alone, np.array([after], dtype=np.int64))
        return alone

    def _follow(self, wave: Rows, best: int) -> Rows:
        after = self._after(wave)
        breaks = np.flatnonzero((after == FULL) | (after >= best))
        end = int(breaks[0]) + 1 if len(breaks) else len(wave)
        self._give(wave[:end], after[:end])
        return wave[:end]

    def _fill_from_the_front(self, best: int, most: int) -> Rows:
        listed = np.flatnonzero(self._total != FULL)[:most].astype(np.int32)
        worse = np.flatnonzero(self._total[listed] != best)
        front = listed[: worse[0]] if len(worse) else listed
        after = self._after(front)
        not_full = np.flatnonzero(after != FULL)
        end = int(not_full[0]) if len(not_full) else len(front)
        self._give(front[:end], after[:end])
        return front[:end]

    def _fill_in_turn(self, ties: Rows, most: int) -> Rows:
        after, rank = self._after(ties), self._rank[ties]
        order, gone = np.append(preorder(self._left), 2**62), self._left
        wave: list[int] = []
        while len(wave) < most:
            first = int(order[rank].argmin())
            if rank[first] == gone or after[first] != FULL:
                break
            wave.append(first)
            behind = (rank > rank[first]) & (rank < gone)
            rank[first] = gone
            rank -= behind
        taken = ties[wave]
        self._give(taken, after[wave])
        return taken

    def _stay(self, first: int, best: int, most: int) -> Rows:
        """As with GPUs, which no score counts: the node that won keeps its total, and so its place."""
        guests = self._guests[first] + np.arange(1, min(most, LONGEST_STAY) + 1)
        after = self._totals(np.full(len(guests), first, dtype=np.int32), guests)
        ends = np.flatnonzero(after < best)
        number = int(ends[0]) + 1 if len(ends) else len(guests)
        self._guests[first] += number - 1
        self._give(np.array([first], dtype=np.int32), after[number - 1 : number])
        return np.full(number, first, dtype=np.int32)

    # --- what a pod changes ---------------------------------------------------------------------------------

    def _after(self, positions: Rows) -> Ints:
        """The totals of nodes once they get one more pod."""
        return self._totals(positions, self._guests[positions] + 1)

    def _totals(self, positions: Rows, guests: Ints) -> Ints:
        """The totals of nodes with so many pods more than when the list was made."""
        slots = self._slots[positions]
        fitting = fits(self._cluster, self._cls, slots, guests)
        found = self._scan.static.images[slots] + scores(
            self._cluster, self._cls, self._scoring, slots, guests
        )
        return np.where(fitting, found + self._scaled[positions], FULL)

    def _after_one(self, position: int) -> int:
        slot, guests = int(self._slots[position]), int(self._guests[position]) + 1
        if not self._scan.one_node.fits(slot, guests):
            return FULL
        found = self._scan.one_node.score(slot, guests)
        return int(self._scan.static.images[slot] + self._scaled[position]) + found

    def _give(self, positions: Rows, after: Ints) -> None:
        self._guests[positions] += 1
        self._total[positions] = after
        full = after == FULL
        if full.any():
            self._left -= int(full.sum())
            self._rank = (np.cumsum(self._total != FULL) - 1).astype(np.int32)
            if self._rescales:
                self._scale_again()

    def _scale_again(self) -> None:
        listed = self._total != FULL
        scaled = scaled_totals(self._cls, self._scan, self._slots[listed])
        self._total[listed] += scaled - self._scaled[listed]
        self._scaled[listed] = scaled
