"""One placement: the pods of a pod set, or of a leader with its workers, in one flavor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from reprieve.objects import Domain, Placement
from reprieve.quota import sentences
from reprieve.quota.rules import TopologyRules
from reprieve.quota.topology.balanced import place_balanced
from reprieve.quota.topology.choosing import Choice, NotFound
from reprieve.quota.topology.columns import Columns, Match, domains_at
from reprieve.quota.topology.counting import Counts, LeafCounts, roll_up
from reprieve.quota.topology.held import Amounts, with_pods
from reprieve.quota.topology.parameters import Parameters, Unusable, parameters
from reprieve.quota.topology.tree import Ints, Tree
from reprieve.quota.topology.wish import Failure, Seen, Wish


class Area(NamedTuple):
    """The only domain in which a replacement may be."""

    level: int
    domain: int


class Limit(NamedTuple):
    """The most pods that fit, if nobody else were there."""

    level: str
    """The label of the level that was required; empty: any domains together."""
    largest: str
    """The domain that holds most."""
    pods: int
    wanted: int


class Placer:
    """Places pod sets of one workload in one flavor; remembers what does not change between what-ifs."""

    def __init__(self, columns: Columns, rules: TopologyRules, seen: Seen | None) -> None:
        self.columns = columns
        self._rules = rules
        self._counts: dict[object, LeafCounts] = {}
        self._seen = seen

    def possible(self, workers: Wish, leader: Wish | None) -> bool:
        """Whether there are domains for all pods now; which ones is not asked."""
        wanted = parameters(workers.request, self.columns.tree.levels, workers.implied)
        if isinstance(wanted, Unusable):
            return False
        return not isinstance(self._choice(workers, leader, wanted).find(), NotFound)

    def _choice(self, workers: Wish, leader: Wish | None, wanted: Parameters) -> Choice:
        tree = self.columns.tree
        match = self.columns.match(workers.spec, self._rules.scored)
        scores = self._scores(workers, match)
        leaf = self._leaf_counts(workers, leader, match, empty=False)
        counts = roll_up(tree, leaf.less({}), wanted, leader is not None, scores)
        return Choice(tree, counts, wanted, workers.pods, int(leader is not None), self._rules.mixed)

    def place(
        self,
        workers: Wish,
        leader: Wish | None,
        assumed: Mapping[str, Amounts],
        empty: bool,
        area: Area | None = None,
        explain: bool = False,
    ) -> dict[str, Placement] | Failure:
        tree = self.columns.tree
        wanted = parameters(workers.request, tree.levels, workers.implied)
        if isinstance(wanted, Unusable):
            return Failure(workers, wanted.text)
        match = self.columns.match(workers.spec, self._rules.scored)
        scores = self._scores(workers, match)
        leaf = self._leaf_counts(workers, leader, match, empty)
        found = leaf.less(assumed)
        if area is not None:
            _keep_inside(tree, found, area)
        pods = found[0].copy() if explain else found[0]
        counts = roll_up(tree, found, wanted, leader is not None, scores)
        choice = Choice(tree, counts, wanted, workers.pods, 1 if leader is not None else 0, self._rules.mixed)
        leaves = self._chosen(choice, wanted)
        if isinstance(leaves, NotFound):
            if not explain:
                return Failure(workers, "")
            told = _Explanation(self.columns, workers, wanted, counts, match, pods)
            return Failure(workers, told.text(leaves, choice.needed, leaf, assumed, area))
        return self._placements(workers, leader, leaves)

    def limit(self, workers: Wish, leader: Wish | None) -> Limit | None:
        """What the domains could hold without any workload of the flavor; None if that cannot be said."""
        tree = self.columns.tree
        wanted = parameters(workers.request, tree.levels, workers.implied)
        if isinstance(wanted, Unusable) or not tree.leaves:
            return None
        match = self.columns.match(workers.spec, scored=False)
        leaf = self._leaf_counts(workers, leader, match, empty=True)
        counts = roll_up(tree, leaf.less({}), wanted, leader is not None, None)
        level = wanted.level if wanted.required else 0
        pods = counts[level].slices * wanted.size if level <= wanted.slice_level else counts[level].pods
        if not wanted.required:
            return Limit("", "", int(pods.sum()), workers.pods)
        best = int(pods.argmax())
        return Limit(tree.levels[level], tree.paths[level][best][-1], int(pods[best]), workers.pods)

    def _scores(self, workers: Wish, match: Match) -> Ints | None:
        """Kueue loses the scores after its first look at a pod set in a cycle, and so do we."""
        if match.scores is None or self._seen is None:
            return match.scores
        key = (self.columns.flavor, workers.name)
        if key in self._seen:
            return None
        self._seen.add(key)
        return match.scores

    def _leaf_counts(self, workers: Wish, leader: Wish | None, match: Match, empty: bool) -> LeafCounts:
        key = (workers.name, leader.name if leader is not None else None, empty)
        found = self._counts.get(key)
        if found is None:
            led = with_pods(leader.single) if leader is not None else None
            found = LeafCounts(self.columns, match, with_pods(workers.single), led, empty)
            self._counts[key] = found
        else:
            found.refresh()
        return found

    def _chosen(self, choice: Choice, wanted: Parameters) -> list[tuple[int, int, int]] | NotFound:
        if self._rules.balanced and not wanted.required and not wanted.unconstrained:
            balanced = place_balanced(choice, wanted)
            if balanced is not None:
                return choice.descend(balanced.level, balanced.domains, balanced=True)
        found = choice.find()
        return found if isinstance(found, NotFound) else choice.descend(found.level, found.domains)

    def _placements(
        self, workers: Wish, leader: Wish | None, leaves: list[tuple[int, int, int]]
    ) -> dict[str, Placement]:
        tree = self.columns.tree
        levels = tree.written_levels
        found = {
            workers.name: Placement(levels, domains_at(tree, [(leaf, pods) for leaf, pods, _ in leaves]))
        }
        if leader is not None:
            led = [(leaf, leaders) for leaf, _, leaders in leaves]
            found[leader.name] = Placement(levels, domains_at(tree, led))
        return found


def _keep_inside(tree: Tree, counts: tuple[Ints, Ints, Ints], area: Area) -> None:
    start, end = _leaves_inside(tree, area)
    for column in counts:
        column[:start] = 0
        column[end:] = 0


def _leaves_inside(tree: Tree, area: Area) -> tuple[int, int]:
    if area.level == tree.depth - 1 and tree.by_host and tree.depth > 1:
        return 0, 0  # upstream compares the bare hostname with whole paths
    return tree.leaves_of(area.level, area.domain)


class _Explanation:
    """Why the pods do not fit, in upstream's words."""

    def __init__(
        self,
        columns: Columns,
        wish: Wish,
        wanted: Parameters,
        counts: list[Counts],
        match: Match,
        pods: Ints,
    ) -> None:
        self._columns = columns
        self._wish = wish
        self._wanted = wanted
        self._counts = counts
        self._match = match
        self._pods = pods

    def text(
        self,
        result: NotFound,
        needed: int,
        leaf: LeafCounts,
        assumed: Mapping[str, Amounts],
        area: Area | None,
    ) -> str:
        tree, topology = self._columns.tree, self._columns.topology
        if result.empty:
            return sentences.no_domains(tree.levels[result.level])
        if self._wanted.inner:
            head = sentences.layers_do_not_fit(topology, self._layers(result.level))
        else:
            slices = self._wanted.size != 1
            head = sentences.topology_is_full(topology, result.fit, needed, slices=slices)
        reasons = self._reasons(leaf, assumed, area)
        return sentences.with_excluded_nodes(head, tree.leaves, reasons) if reasons else head

    def _layers(self, level: int) -> list[tuple[str, int, int]]:
        """For each layer of slices its level, how many fit in the best domain, and how many are needed."""
        counts, tree = self._counts[level], self._columns.tree
        most = counts.slices.max()
        best = min(
            np.flatnonzero(counts.slices == most).tolist(), key=lambda d: ",".join(tree.paths[level][d])
        )
        parts = []
        for layer in self._wish.request.slices if self._wish.request is not None else ():
            target = tree.levels.index(layer.topology)
            part = next(
                ((low, high) for each, low, high in tree.below(level, best, best + 1) if each == target)
            )
            fit = int((self._counts[target].pods[part[0] : part[1]] // layer.size).sum())
            parts.append((layer.topology, fit, self._wish.pods // layer.size))
        return parts

    def _reasons(self, leaf: LeafCounts, assumed: Mapping[str, Amounts], area: Area | None) -> list[str]:
        excluded, mask = self._match.excluded, self._match.mask
        tree = self._columns.tree
        found = [sentences.excluded_by_taint(*each) for each in excluded.taints.items()]
        if excluded.selector:
            found.append(sentences.excluded_by_selector(excluded.selector))
        if excluded.affinity:
            found.append(sentences.excluded_by_affinity(excluded.affinity))
        looked_at = np.ones(tree.leaves, dtype=bool) if mask is None else mask.copy()
        if area is not None:
            start, end = _leaves_inside(tree, area)
            outside = looked_at.copy()
            outside[start:end] = False
            if outside.any():
                found.append(sentences.excluded_by_domain(int(outside.sum())))
            looked_at &= ~outside
        short: dict[str, int] = {}
        for number in np.flatnonzero(looked_at & (self._pods == 0)).tolist():
            resource = self._limiting(number, leaf, assumed)
            short[resource] = short.get(resource, 0) + 1
        found += [sentences.excluded_by_resource(*each) for each in short.items()]
        return sorted(found)

    def _limiting(self, leaf: int, counts: LeafCounts, assumed: Mapping[str, Amounts]) -> str:
        tree = self._columns.tree
        taken = assumed.get(",".join(tree.values(leaf)), {})
        rooms = []
        for resource, number in with_pods(self._wish.single).items():
            if number:
                column = counts.free.get(resource)
                has = (0 if column is None else int(column[leaf])) - taken.get(resource, 0)
                rooms.append((max(0, has // number), resource))
        return min(rooms)[1]


def sorted_domains(tree: Tree, domains: list[Domain]) -> list[Domain]:
    """In the order of their paths."""
    return sorted(domains, key=lambda domain: ",".join(tree.paths[-1][tree.leaf_of[domain.key]]))
