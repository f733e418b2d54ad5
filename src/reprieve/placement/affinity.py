"""InterPodAffinity in both directions: the pod's own terms, and the terms of pods already on nodes."""

import copy
from functools import partial

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, PodClass, Rows, Term
from reprieve.placement.counting import DomainLimit, by_domain, class_table, weights_by_node

HARD_WEIGHT = 1
"""What a required affinity term of a pod on a node counts for in the score of a pod that it selects."""


class _Counts:
    """Pods by domain of one or more topology keys."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._keys: dict[str, tuple[Rows, Ints]] = {}

    def add_nodes(self, key: str, on_nodes: Ints) -> None:
        ids, counts = self._column(key)
        counts[:-1] += by_domain(ids, on_nodes, len(counts) - 1)

    def add(self, key: str, slot: int, delta: int) -> None:
        ids, counts = self._column(key)
        if ids[slot] >= 0:
            counts[ids[slot]] += delta

    def positive(self, key: str) -> Mask:
        ids, counts = self._column(key)
        return counts[ids] > 0

    def at(self, key: str, slot: int) -> int:
        ids, counts = self._column(key)
        return int(counts[ids[slot]])

    def has_key(self, key: str) -> Mask:
        return self._column(key)[0] >= 0

    def by_node(self, key: str) -> Ints:
        """What the domain of each node holds."""
        ids, counts = self._column(key)
        return counts[ids]

    def total(self, key: str) -> int:
        return int(self._column(key)[1].sum())

    @property
    def topology_keys(self) -> list[str]:
        return list(self._keys)

    def copy(self) -> "_Counts":
        twin = _Counts(self._cluster)
        twin._keys = {key: (ids, counts.copy()) for key, (ids, counts) in self._keys.items()}
        return twin

    def any(self) -> bool:
        return any(counts.any() for _, counts in self._keys.values())

    def _column(self, key: str) -> tuple[Rows, Ints]:
        found = self._keys.get(key)
        if found is None:
            nodes = self._cluster.nodes
            topology = nodes.topology(key)
            # The last entry stays 0: nodes without the label (id -1) read it.
            found = (topology.ids[: nodes.slots], np.zeros(len(topology.values) + 1, dtype=np.int64))
            self._keys[key] = found
        return found


def may_refuse(cluster: Cluster, cls: PodClass) -> bool:
    """Whether the filter can refuse a node: the class has required terms, or another class forbids it."""
    return bool(cls.affinity or cls.anti_affinity or _veto_keys(cluster, cls))


def may_score(cluster: Cluster, cls: PodClass) -> bool:
    """Whether some pod's preference can count for or against a node."""
    return bool(_preference_tables(cluster, cls))


class AffinityState:
    """Counts of the filter for one pod; `change` keeps them up to date."""

    def __init__(self, cluster: Cluster, cls: PodClass) -> None:
        self._cluster = cluster
        self._cls = cls
        self.near = _Counts(cluster)
        self.apart = _Counts(cluster)
        self.vetoes = _Counts(cluster)
        for key, table in _veto_tables(cluster, cls).items():
            self.vetoes.add_nodes(key, weights_by_node(cluster, table))
        if cls.affinity:
            here = weights_by_node(cluster, _near_table(cluster, cls))
            for term in cls.affinity:
                self.near.add_nodes(term.key, here)
        for number, term in enumerate(cls.anti_affinity):
            self.apart.add_nodes(term.key, weights_by_node(cluster, _apart_table(cluster, cls, number)))
        self._matches_itself = all(covers(cluster, term, cls) for term in cls.affinity)

    def copy(self) -> "AffinityState":
        twin = copy.copy(self)
        twin.near, twin.apart, twin.vetoes = self.near.copy(), self.apart.copy(), self.vetoes.copy()
        return twin

    @property
    def idle(self) -> bool:
        """Nothing to check: kube-scheduler then skips the filter for the rest of the cycle."""
        return not self._cls.affinity and not self._cls.anti_affinity and not self.vetoes.any()

    def change(self, row: int, slot: int, delta: int) -> None:
        """A pod comes (+1) or goes (-1)."""
        cluster, cls = self._cluster, self._cls
        other = cluster.class_of(row)
        for term in other.anti_affinity:
            if covers(cluster, term, cls):
                self.vetoes.add(term.key, slot, delta)
        if cls.affinity and all(covers(cluster, term, other) for term in cls.affinity):
            for term in cls.affinity:
                self.near.add(term.key, slot, delta)
        for term in cls.anti_affinity:
            if covers(cluster, term, other):
                self.apart.add(term.key, slot, delta)

    def refused(self) -> tuple[Mask, Mask, Mask]:
        """(affinity unmet, own anti-affinity violated, another pod's violated), each over all nodes."""
        slots = self._cluster.nodes.slots
        unmet, violated, vetoed = (np.zeros(slots, dtype=np.bool_) for _ in range(3))
        if self._cls.affinity:
            keyed = np.ones(slots, dtype=np.bool_)
            met = np.ones(slots, dtype=np.bool_)
            for term in self._cls.affinity:
                keyed &= self.near.has_key(term.key)
                met &= self.near.positive(term.key)
            unmet = ~(keyed & (met | self._may_be_first()))
        for term in self._cls.anti_affinity:
            violated |= self.apart.positive(term.key)
        for key in self.vetoes.topology_keys:
            vetoed |= self.vetoes.positive(key)
        return unmet, violated, vetoed

    def allows(self, slot: int) -> bool:
        if self._cls.affinity:
            if not all(self.near.has_key(term.key)[slot] for term in self._cls.affinity):
                return False
            met = all(self.near.at(term.key, slot) > 0 for term in self._cls.affinity)
            if not met and not self._may_be_first():
                return False
        if any(self.apart.at(term.key, slot) > 0 for term in self._cls.anti_affinity):
            return False
        return not any(self.vetoes.at(key, slot) > 0 for key in self.vetoes.topology_keys)

    def limits(self) -> list[DomainLimit]:
        """Anti-affinity, own and others', as numbers: none of these pods may stay in the node's domain."""
        cluster, cls = self._cluster, self._cls
        found = [(self.vetoes, key, table) for key, table in _veto_tables(cluster, cls).items()]
        own: dict[str, Ints] = {}
        for number, term in enumerate(cls.anti_affinity):
            own[term.key] = own.get(term.key, 0) + _apart_table(cluster, cls, number)
        found += [(self.apart, key, table) for key, table in own.items()]
        return [
            DomainLimit(table, counts.has_key(key), True, -counts.by_node(key))
            for counts, key, table in found
        ]

    @property
    def near_weights(self) -> Ints | None:
        """By class: whether a pod is one that the required affinity looks for; None without such terms."""
        return _near_table(self._cluster, self._cls) if self._cls.affinity else None

    def met_without(self, leaving: Ints) -> Mask:
        """Nodes whose required affinity is met once so many of the pods it looks for left them, each node by
        itself. Pods that return to the node cannot change that: they are near.
        """
        slots = self._cluster.nodes.slots
        keyed, met, first = (np.ones(slots, dtype=np.bool_) for _ in range(3))
        for term in self._cls.affinity:
            keyed &= self.near.has_key(term.key)
            met &= self.near.by_node(term.key) > leaving
            first &= self.near.total(term.key) == leaving
        return keyed & (met | (first & self._matches_itself))

    def _may_be_first(self) -> bool:
        """The first pod of a group with affinity to itself has no pod to be near yet."""
        return self._matches_itself and not self.near.any()


def covers(cluster: Cluster, term: Term, cls: PodClass) -> bool:
    """Whether the term selects pods of this class."""
    return term.covers(cls.namespace, cluster.namespaces.get(cls.namespace, {}), cls.labels)


def _namespaces_key(cluster: Cluster) -> tuple[tuple[str, int], ...]:
    """Part of the key of cached tables that read namespace labels."""
    return tuple(
        (name, hash(tuple(sorted(labels.items())))) for name, labels in sorted(cluster.namespaces.items())
    )


def _veto_keys(cluster: Cluster, cls: PodClass) -> tuple[str, ...]:
    """Topology keys of the required anti-affinity terms of all classes that forbid this one."""
    hosts = cluster.classes.anti_affine
    if not hosts:
        return ()
    key = ("veto keys", cls, len(hosts), _namespaces_key(cluster))
    keys: tuple[str, ...] | None = cluster.lasting.get(key)
    if keys is None:
        found = (term.key for host in hosts for term in host.anti_affinity if covers(cluster, term, cls))
        keys = cluster.lasting[key] = tuple(dict.fromkeys(found))
    return keys


def _veto_tables(cluster: Cluster, cls: PodClass) -> dict[str, Ints]:
    """For each topology key, how many required anti-affinity terms of each class forbid this one."""
    marker = _namespaces_key(cluster)
    return {
        name: class_table(cluster, ("veto", cls, name, marker), partial(_vetoes, cluster, cls, name))
        for name in _veto_keys(cluster, cls)
    }


def _vetoes(cluster: Cluster, cls: PodClass, key: str, host: PodClass) -> int:
    return sum(term.key == key and covers(cluster, term, cls) for term in host.anti_affinity)


def _near_table(cluster: Cluster, cls: PodClass) -> Ints:
    return class_table(
        cluster,
        ("near", cls, _namespaces_key(cluster)),
        lambda other: all(covers(cluster, term, other) for term in cls.affinity),
    )


def _apart_table(cluster: Cluster, cls: PodClass, number: int) -> Ints:
    term = cls.anti_affinity[number]
    key = ("apart", cls, number, _namespaces_key(cluster))
    return class_table(cluster, key, lambda other: covers(cluster, term, other))


# --- score --------------------------------------------------------------------------------------------------


def affinity_scores(cluster: Cluster, cls: PodClass, slots: Rows) -> Ints | None:
    """0 to 100 for each feasible node, None when no preference applies."""
    total: Ints | None = None
    nodes = cluster.nodes
    for key, table in _preference_tables(cluster, cls).items():
        on_nodes = weights_by_node(cluster, table)
        if not on_nodes.any():
            continue
        topology = nodes.topology(key)
        ids = topology.ids[: nodes.slots]
        sums = np.append(by_domain(ids, on_nodes, len(topology.values)), 0)
        total = sums[ids[slots]] if total is None else total + sums[ids[slots]]
    if total is None:
        return None
    least, most = int(total.min()), int(total.max())
    if least == most:
        return np.zeros(len(slots), dtype=np.int64)
    return (100.0 * ((total - least).astype(np.float64) / float(most - least))).astype(np.int64)


def _preference_tables(cluster: Cluster, cls: PodClass) -> dict[str, Ints]:
    """For each topology key, how much a pod of each class adds to the score of nodes in its domain."""
    own = (*cls.preferred_affinity, *cls.preferred_anti_affinity)
    if not own and not cluster.classes.with_terms:
        return {}
    marker = _namespaces_key(cluster)
    key = ("liking keys", cls, len(cluster.classes.with_terms), marker)
    keys: tuple[str, ...] | None = cluster.lasting.get(key)
    if keys is None:
        found = [term.key for term in own]
        for other in cluster.classes.with_terms:
            found += [term.key for term, _ in _weighted_terms(other) if covers(cluster, term, cls)]
        keys = cluster.lasting[key] = tuple(dict.fromkeys(found))
    return {
        name: class_table(cluster, ("liking", cls, name, marker), partial(_preference, cluster, cls, name))
        for name in keys
    }


def _weighted_terms(cls: PodClass) -> list[tuple[Term, int]]:
    """Terms with the weight each adds to the score of a pod that it selects."""
    return [
        *((term, HARD_WEIGHT) for term in cls.affinity),
        *((term, term.weight) for term in cls.preferred_affinity),
        *((term, -term.weight) for term in cls.preferred_anti_affinity),
    ]


def _preference(cluster: Cluster, cls: PodClass, key: str, other: PodClass) -> int:
    mine = [(term, term.weight) for term in cls.preferred_affinity]
    mine += [(term, -term.weight) for term in cls.preferred_anti_affinity]
    total = sum(weight for term, weight in mine if term.key == key and covers(cluster, term, other))
    theirs = _weighted_terms(other)
    return total + sum(weight for term, weight in theirs if term.key == key and covers(cluster, term, cls))
