"""Balanced placement: a preferred request spread as evenly as possible over as few domains as possible.

Looks at the siblings below each domain one level above the requested one, keeps only domains that can hold a
threshold of slices, and prefers the highest threshold. Everything happens on the counts themselves; those of
siblings that lost are put back.
"""

from __future__ import annotations

import math

import numpy as np

from reprieve.quota.topology.choosing import Choice, Found
from reprieve.quota.topology.counting import roll_level
from reprieve.quota.topology.parameters import Parameters
from reprieve.quota.topology.tree import Ints

_Saved = list[tuple[int, int, int, tuple[Ints, ...]]]


def place_balanced(choice: Choice, wanted: Parameters) -> Found | None:
    """The domains, with what each gets as its counts; None if there is no balanced placement."""
    return _Balanced(choice, wanted).run()


class _Balanced:
    def __init__(self, choice: Choice, wanted: Parameters) -> None:
        self._choice = choice
        self._tree = choice.tree
        self._counts = choice.counts
        self._wanted = wanted
        self._needed = choice.needed
        self._lead = choice.lead

    def run(self) -> Found | None:
        level = self._wanted.level
        best, fewest = 0, 0
        winner: tuple[Ints, _Saved] | None = None
        for start, end in self._siblings():
            before = self._saved(start, end)
            threshold, domains = self._pruned(start, end, best, before)
            if threshold and (threshold > best or domains < fewest):
                best, fewest = threshold, domains
                winner = np.arange(start, end, dtype=np.int64), self._saved(start, end)
            self._restore(before)
        if winner is None:
            return None
        group, pruned = winner
        before = self._saved(int(group[0]), int(group[-1]) + 1)
        self._restore(pruned)
        found = self._placed(level, group, best)
        if found is None:
            self._restore(before)
        return found

    def _siblings(self) -> list[tuple[int, int]]:
        level = self._wanted.level
        if level == 0:
            return [(0, self._tree.size(0))]
        first = self._tree.first[level - 1]
        return [(int(first[d]), int(first[d + 1])) for d in range(self._tree.size(level - 1))]

    def _saved(self, start: int, end: int) -> _Saved:
        return [
            (level, low, high, tuple(array[low:high].copy() for array in self._counts[level].arrays()))
            for level, low, high in self._tree.below(self._wanted.level, start, end)
        ]

    def _restore(self, saved: _Saved) -> None:
        for level, low, high, arrays in saved:
            for array, old in zip(self._counts[level].arrays(), arrays, strict=True):
                array[low:high] = old

    def _pruned(self, start: int, end: int, best: int, before: _Saved) -> tuple[int, int]:
        """(threshold, domains needed) of the siblings, which are left pruned; threshold 0: no use."""
        level, group = self._wanted.level, np.arange(start, end, dtype=np.int64)
        lower_level, lower = self._lower(level, group)
        fits, used, leader, worker = self._greedy(lower_level, lower)
        if not fits:
            return 0, 0
        counts = self._counts[lower_level]
        threshold = self._needed // used if used else 0
        if leader is not None:
            threshold = min(threshold, int(counts.slices_with_leader[leader]))
        if worker is not None:
            threshold = min(threshold, int(counts.slices[worker]))
        reserved = threshold
        if self._lead and worker is not None:
            reserved = min(threshold, int(counts.slices_with_leader[worker]))
        if threshold < best:
            return 0, 0
        self._prune(start, end, threshold)
        fits, domains, *_ = self._greedy(level, group)
        if not fits and reserved < threshold:
            if reserved <= 0 or reserved < best:
                return 0, 0
            threshold = reserved
            self._restore(before)
            self._prune(start, end, threshold)
            fits, domains, *_ = self._greedy(level, group)
        return (threshold, domains) if fits else (0, 0)

    def _lower(self, level: int, group: Ints) -> tuple[int, Ints]:
        if level < self._wanted.slice_level:
            return level + 1, self._tree.children(level, group.tolist())
        return level, group

    def _greedy(self, level: int, domains: Ints) -> tuple[bool, int, int | None, int | None]:
        """(fits, domains used, last one used with the leader, last one used without)."""
        counts = self._counts[level]
        left, missing, used = self._needed, self._lead, 0
        leader = worker = None
        rest = domains
        if missing:
            order = self._choice.leader_order(level, domains)
            while missing > 0 and used < len(order) and counts.leaders[order[used]] > 0:
                leader = int(order[used])
                missing -= int(counts.leaders[leader])
                left -= int(counts.slices_with_leader[leader])
                used += 1
            rest = np.sort(order[used:])
        if missing > 0:
            return False, 0, None, None
        for number in self._choice.workers_order(level, rest):
            if left <= 0 or counts.slices[number] <= 0:
                break
            worker = int(number)
            left -= int(counts.slices[worker])
            used += 1
        return (False, 0, None, None) if left > 0 else (True, used, leader, worker)

    def _prune(self, start: int, end: int, threshold: int) -> None:
        tree, level = self._tree, self._wanted.level
        if level < tree.depth - 1:
            first = tree.first[level]
            for child in range(int(first[start]), int(first[end])):
                self._prune_one(level + 1, child, threshold)
            ranges = tree.below(level, start, end)
            self._reslice_leaves(ranges[-1][1:])
            for each, low, high in reversed(ranges[:-1]):
                roll_level(tree, self._counts, each, (low, high), self._wanted, self._lead > 0, {})
        else:
            self._reslice_leaves((start, end))
        for domain in range(start, end):
            self._prune_one(level, domain, threshold)

    def _reslice_leaves(self, part: tuple[int, int]) -> None:
        if self._wanted.slice_level == self._tree.depth - 1:
            counts, (low, high) = self._counts[-1], part
            counts.slices[low:high] = counts.pods[low:high] // self._wanted.size
            counts.slices_with_leader[low:high] = counts.pods_with_leader[low:high] // self._wanted.size

    def _prune_one(self, level: int, domain: int, threshold: int) -> None:
        """Too small for the threshold: nothing goes there, or only workers."""
        counts = self._counts[level]
        too_small = counts.slices[domain] < threshold
        if not too_small and not (
            self._lead and counts.leaders[domain] > 0 and counts.slices_with_leader[domain] < threshold
        ):
            return
        for each, low, high in self._tree.below(level, domain, domain + 1):
            here = self._counts[each]
            here.pods_with_leader[low:high] = here.slices_with_leader[low:high] = here.leaders[low:high] = 0
            if too_small:
                here.pods[low:high] = here.slices[low:high] = 0

    # --- placing ------------------------------------------------------------------------------------

    def _placed(self, level: int, group: Ints, threshold: int) -> Found | None:
        domains = group
        if level < self._wanted.slice_level:
            chosen = self._optimal(level, self._by_entropy(level, group))
            if chosen is None:
                return None
            domains = self._tree.children(level, chosen)
            level += 1
        chosen = self._optimal(level, domains)
        if chosen is None or self._needed < len(chosen) * threshold:
            return None
        return self._shared_out(level, chosen, threshold)

    def _shared_out(self, level: int, chosen: list[int], threshold: int) -> Found | None:
        counts, size = self._counts[level], self._wanted.size
        order = self._choice.leader_order(level, np.array(sorted(chosen), dtype=np.int64)).tolist()
        extra, missing = self._needed - len(order) * threshold, self._lead
        for domain in order:
            more, leader = 0, 0
            if missing > 0:
                more = min(int(counts.slices_with_leader[domain]) - threshold, extra)
                leader, missing = 1, missing - 1
            elif extra > 0:
                more = min(int(counts.slices[domain]) - threshold, extra)
            counts.leaders[domain] = leader
            counts.slices[domain] = counts.slices_with_leader[domain] = threshold + more
            counts.pods[domain] = (threshold + more) * size
            counts.pods_with_leader[domain] = counts.pods[domain] - leader
            extra -= more
        return None if extra > 0 or missing > 0 else Found(level, order)

    def _by_entropy(self, level: int, group: Ints) -> Ints:
        """Leaders, then room, then how evenly the room is spread over the children, then the path."""
        counts = self._counts[level]

        def key(domain: int) -> tuple[float, ...]:
            leaders, slices = int(counts.leaders[domain]), int(counts.slices_with_leader[domain])
            return -leaders, -slices, -self._entropy(level, domain), domain

        return np.array(sorted(group.tolist(), key=key), dtype=np.int64)

    def _entropy(self, level: int, domain: int) -> float:
        if level >= self._tree.depth - 1:
            return 0.0
        pods = self._counts[level + 1].pods[self._tree.children(level, [domain])].tolist()
        total, entropy = sum(pods), 0.0
        for number in pods:
            if number > 0:
                part = number / total
                entropy += -part * math.log2(part)
        return entropy

    def _optimal(self, level: int, order: Ints) -> list[int] | None:
        """As few domains as greedy needs, with the least room left over.

        States are (leaders missing, pods missing) for each number of domains used; the first set that
        reaches a state stays.
        """
        fits, most, *_ = self._greedy(level, np.sort(order))
        if not fits:
            return None
        counts = self._counts[level]
        start = (self._lead, self._needed * self._wanted.size)
        states: list[dict[tuple[int, int], tuple[int, ...]]] = [{start: ()}, *({} for _ in range(most))]
        for domain in order.tolist():
            leaders, slices = int(counts.leaders[domain]), int(counts.slices[domain])
            pods, led = int(counts.pods[domain]), int(counts.pods_with_leader[domain])
            for used in range(most, 0, -1):
                for (missing, left), chosen in sorted(states[used - 1].items()):
                    if missing <= 0 and left <= 0:
                        continue
                    if missing > 0 and leaders > 0:
                        states[used].setdefault((missing - leaders, left - led), (*chosen, domain))
                    if slices > 0:
                        states[used].setdefault((missing, left - pods), (*chosen, domain))
        done = [
            (left, chosen) for (missing, left), chosen in states[most].items() if not missing and left <= 0
        ]
        return list(max(done)[1]) if done else None
