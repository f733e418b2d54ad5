"""PodTopologySpread: hard constraints as a filter over counts that follow pods, soft ones as a score."""

import copy
import math

import msgspec
import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass, Rows, Spread
from reprieve.objects import matches, well_known
from reprieve.placement.counting import DomainLimit, by_domain, class_table, rare_classes, weights_by_node
from reprieve.placement.static import selected_mask, tolerated_mask

SYSTEM_DEFAULTS = ((well_known.HOSTNAME_LABEL, 3), (well_known.ZONE_LABEL, 5))
_NOT_YET = 2**31 - 1


class Minimum:
    """The smallest count over domains, as kube-scheduler caches it: the two least domains and no more.

    When a third domain becomes the least one kube-scheduler does not notice; `exact` does. Of several equal
    domains kube-scheduler caches an arbitrary one; here it is the first by name.
    """

    def __init__(self, counts: dict[int, int], names: list[str], exact: bool) -> None:
        self._counts = counts
        self._exact = exact
        self._least: list[tuple[int, int]] = [(_NOT_YET, -2), (_NOT_YET, -2)]
        for domain, number in sorted(counts.items(), key=lambda item: (item[1], names[item[0]])):
            self.update(domain, number)

    def copy(self, counts: dict[int, int]) -> "Minimum":
        """The same cached domains over other counts."""
        twin = copy.copy(self)
        twin._counts = counts
        return twin

    @property
    def value(self) -> int:
        if self._exact:
            return min(self._counts.values(), default=0)
        return self._least[0][0]

    def update(self, domain: int, number: int) -> None:
        first, second = self._least
        if domain == first[1]:
            first = (number, domain)
        elif domain == second[1]:
            second = (number, domain)
        elif number < first[0]:
            self._least = [(number, domain), first]
            return
        elif number < second[0]:
            second = (number, domain)
        self._least = [second, first] if first[0] > second[0] else [first, second]


class _Hard:
    """One hard constraint with its counts."""

    def __init__(self, cluster: Cluster, cls: PodClass, index: int, every_key: Mask, exact: bool) -> None:
        self.rule = cls.spread[index]
        self.cls = cls
        topology = cluster.nodes.topology(self.rule.key)
        self.ids: Rows = topology.ids[: cluster.nodes.slots]
        self.counted: Mask = every_key & _included(cluster, cls, self.rule)
        self.table = _matching(cluster, cls, self.rule, ("spread", cls, index))
        self.adds_itself = int(matches(self.rule.selector, cls.labels))
        counts = np.zeros(len(topology.values), dtype=np.int64)
        if self.rule.counts_pods:
            here = weights_by_node(cluster, self.table, terminating=False)
            counts = by_domain(self.ids, np.where(self.counted, here, 0), len(topology.values))
        self.counts: dict[int, int] = {
            d: int(counts[d]) for d in sorted(set(self.ids[self.counted].tolist()))
        }
        self.minimum = Minimum(self.counts, topology.values, exact)
        self.exact = exact

    def copy(self) -> "_Hard":
        twin = copy.copy(self)
        twin.counts = dict(self.counts)
        twin.minimum = self.minimum.copy(twin.counts)
        return twin

    @property
    def floor(self) -> int:
        return self.minimum.value if len(self.counts) >= self.rule.min_domains else 0

    def change(self, cls: int, terminating: bool, slot: int, delta: int) -> None:
        """A pod comes or goes. kube-scheduler counts it even if it terminates or the selector is empty."""
        if self.exact and (terminating or not self.rule.counts_pods):
            return
        if self.table[cls] and self.counted[slot]:
            domain = int(self.ids[slot])
            self.counts[domain] = self.counts.get(domain, 0) + delta
            self.minimum.update(domain, self.counts[domain])

    def too_skewed(self) -> Mask:
        most = self.rule.max_skew + self.floor - self.adds_itself
        over = np.zeros(max(int(self.ids.max(initial=-1)), -1) + 2, dtype=np.bool_)
        for domain, count in self.counts.items():
            over[domain] = count > most
        if most < 0:
            absent = np.ones(len(over), dtype=np.bool_)
            absent[list(self.counts)] = False
            over |= absent
        return over[self.ids]

    def limit(self) -> DomainLimit:
        """The constraint as numbers, while pods of one domain come and go.

        A domain may hold so many more than the least of the others. Below that it is the least itself, and
        the pod next to it is never too much.
        """
        lowest = sorted(self.counts.values())[:2] if len(self.counts) >= self.rule.min_domains else (0, 0)
        least, second = (*lowest, _NOT_YET, _NOT_YET)[:2]
        left = np.full(max(int(self.ids.max(initial=-1)), -1) + 2, least, dtype=np.int64)
        for domain, count in self.counts.items():
            left[domain] = (second if count == least else least) - count
        left += self.rule.max_skew - self.adds_itself
        left[-1] = -_NOT_YET  # nodes without the label
        counts = self.rule.counts_pods or not self.exact
        return DomainLimit(self.table * counts, self.counted, not self.exact, left[self.ids])

    def refuses(self, slot: int) -> bool:
        return self.ids[slot] < 0 or self.skew(slot) > self.rule.max_skew

    def skew(self, slot: int) -> int:
        """How far the node's domain would be above the least crowded one, with the pod there."""
        return self.counts.get(int(self.ids[slot]), 0) + self.adds_itself - self.floor


class SpreadState:
    """Counts of the filter for one pod by domain; `change` keeps them up to date."""

    def __init__(self, cluster: Cluster, cls: PodClass, exact: bool = False) -> None:
        self._cluster = cluster
        self._cls = cls
        every_key = cluster.nodes.known
        for rule in cls.spread:
            every_key &= cluster.nodes.topology(rule.key).ids[: cluster.nodes.slots] >= 0
        self._every_key = every_key
        self._hard = [_Hard(cluster, cls, i, every_key, exact) for i in range(len(cls.spread))]

    def copy(self) -> "SpreadState":
        twin = copy.copy(self)
        twin._hard = [each.copy() for each in self._hard]
        return twin

    def change(self, row: int, slot: int, delta: int) -> None:
        """A pod comes (+1) or goes (-1)."""
        pods = self._cluster.pods
        if self._every_key[slot]:
            for each in self._hard:
                each.change(int(pods.cls[row]), bool(pods.terminating[row]), slot, delta)

    def refused(self) -> tuple[Mask, Mask]:
        """(nodes that lack a label, nodes that would be too skewed), by the first constraint that objects."""
        missing = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        skewed = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        for each in self._hard:
            missing |= (each.ids < 0) & ~skewed
            skewed |= (each.ids >= 0) & each.too_skewed() & ~missing
        return missing, skewed

    def allows(self, slot: int) -> bool:
        return not any(each.refuses(slot) for each in self._hard)

    def limits(self) -> list[DomainLimit]:
        """The constraints as numbers, while pods of one node come and go."""
        return [each.limit() for each in self._hard]

    def skews(self, slot: int) -> dict[str, int]:
        """For each topology key that the node has: the skew with the pod there, by the strictest rule."""
        found: dict[str, int] = {}
        for each in self._hard:
            if each.ids[slot] >= 0:
                found[each.rule.key] = max(found.get(each.rule.key, 0), each.skew(slot))
        return found

    def missing_keys(self, slot: int) -> list[str]:
        """The topology keys that the node lacks."""
        return list(dict.fromkeys(each.rule.key for each in self._hard if each.ids[slot] < 0))


def _included(cluster: Cluster, cls: PodClass, rule: Spread) -> Mask:
    """Nodes that the constraint's inclusion policies count."""
    mask = np.ones(cluster.nodes.slots, dtype=np.bool_)
    if rule.honours_affinity:
        mask &= selected_mask(cluster.nodes, cls)
    if rule.honours_taints:
        mask &= tolerated_mask(cluster.nodes, cls)
    return mask


def _matching(cluster: Cluster, cls: PodClass, rule: Spread, key: tuple[object, ...]) -> Ints:
    return class_table(
        cluster, key, lambda other: other.namespace == cls.namespace and matches(rule.selector, other.labels)
    )


# --- score --------------------------------------------------------------------------------------------------


def soft_constraints(cluster: Cluster, cls: PodClass) -> tuple[tuple[Spread, ...], bool]:
    """The constraints to score by, and whether a node must carry all their labels to get a score.

    A pod without constraints gets the system defaults: over hosts and zones, with the selector of its service
    or controller.
    """
    if cls.has_spread:
        return cls.soft_spread, True
    selector = cluster.selectors.of(cls)
    if selector is None:
        return (), False
    return tuple(Spread(key, selector, skew, 1, True, False, True) for key, skew in SYSTEM_DEFAULTS), False


def spread_scores(cluster: Cluster, cls: PodClass, slots: Rows) -> Ints | None:
    """0 to 100 for each feasible node, None when no constraint applies."""
    rules, need_all = soft_constraints(cluster, cls)
    if not rules:
        return None
    nodes = cluster.nodes
    columns = [nodes.topology(rule.key).ids[: nodes.slots] for rule in rules]
    complete = np.ones(nodes.slots, dtype=np.bool_)
    for ids in columns:
        complete &= ids >= 0
    judged: Mask = complete[slots] if need_all else np.ones(len(slots), dtype=np.bool_)
    raw = np.zeros(len(slots), dtype=np.float64)
    for number, (rule, ids) in enumerate(zip(rules, columns, strict=True)):
        if not number or cls.has_spread:  # both defaults count the same pods
            on_node = _on_nodes(cluster, cls, rule, number)
        counts, size = _soft_counts(
            cluster, cls, rule, on_node, ids, slots[judged], complete if need_all else None
        )
        here = ids[slots]
        raw += np.where(here >= 0, counts[slots] * math.log(size + 2) + (rule.max_skew - 1), 0.0)
    total = np.floor(raw + 0.5).astype(np.int64)
    most = int(total[judged].max(initial=0))
    least = int(total[judged].min(initial=2**62))
    final = 100 * (most + least - total) // most if most else np.full(len(slots), 100, dtype=np.int64)
    return np.where(judged, final, 0)


def _on_nodes(cluster: Cluster, cls: PodClass, rule: Spread, number: int) -> Ints:
    """How many matching pods each node holds."""
    if not rule.counts_pods:
        return np.zeros(cluster.nodes.slots, dtype=np.int64)
    if cls.has_spread:
        table = _matching(cluster, cls, rule, ("soft", cls, number))
    else:
        table = rare_classes(
            cluster,
            ("by default", cls.namespace, msgspec.json.encode(rule.selector)),
            lambda other: other.namespace == cls.namespace and matches(rule.selector, other.labels),
        )
    return weights_by_node(cluster, table, terminating=False)


def _soft_counts(
    cluster: Cluster,
    cls: PodClass,
    rule: Spread,
    on_node: Ints,
    ids: Rows,
    judged: Rows,
    complete: Mask | None,
) -> tuple[Ints, int]:
    """For each node, how many matching pods its domain holds; and how many domains there are."""
    if rule.key == well_known.HOSTNAME_LABEL:
        return on_node, len(judged)
    domains = set(ids[judged].tolist())
    counted = _included(cluster, cls, rule) & cluster.nodes.known
    if complete is not None:
        counted &= complete
    sums = by_domain(ids, np.where(counted, on_node, 0), int(ids.max(initial=-1)) + 1)
    return np.append(sums, 0)[ids], len(domains)
