"""What is free in every leaf of a flavor's tree, kept as it changes.

`free` is what nodes have to give less what pods outside the topology hold; `left` is that less what workloads
hold. A journal of the leaves that changed lets counts be brought up to date instead of computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reprieve.objects import (
    Domain,
    NodeSelector,
    PodSpec,
    Taint,
    Toleration,
    amount,
    node_selector_matches,
    node_term_matches,
    tolerates,
)
from reprieve.quota.topology.held import PODS, Amounts, Held
from reprieve.quota.topology.tree import Ints, Tree

MOST = 2**31 - 1
_SHORT_JOURNAL = 4096
Mask = npt.NDArray[np.bool_]


class Excluded(NamedTuple):
    """Why leaves do not match a pod: how many for which reason."""

    taints: Mapping[str, int]
    selector: int
    affinity: int


class Match(NamedTuple):
    mask: Mask | None
    """The leaves on which the pods may run; None: all."""
    excluded: Excluded
    scores: Ints | None
    """Weights of preferred node affinity."""


class Columns:
    """One flavor's capacity."""

    def __init__(self, flavor: str, topology: str, tree: Tree, tolerations: tuple[Toleration, ...]) -> None:
        self.flavor = flavor
        self.topology = topology
        self.tree = tree
        self.tolerations = tolerations
        self.free: dict[str, Ints] = {}
        for leaf, nodes in enumerate(tree.nodes):
            for node in nodes:
                for resource, quantity in node.status.allocatable.items():
                    self._column(resource)[leaf] += amount(resource, quantity)
        self.left = {resource: column.copy() for resource, column in self.free.items()}
        self.journal: list[Ints] = []
        self.epoch = 0
        """Counts made before it changed are of no use."""
        self._labels: dict[str, tuple[Ints, list[str | None]]] = {}
        self._taints = _taint_kinds(tree)
        self._matches: dict[object, Match] = {}

    def _column(self, resource: str) -> Ints:
        found = self.free.get(resource)
        if found is None:
            found = self.free[resource] = np.zeros(self.tree.leaves, dtype=np.int64)
        return found

    # --- usage --------------------------------------------------------------------------------------

    def outside(self, node: str, amounts: Amounts, sign: int) -> None:
        """A pod outside the topology comes to (1) or leaves (-1) a node."""
        leaf = self.tree.leaf_of_node.get(node)
        if leaf is None:
            return
        for resource, number in amounts.items():
            if resource in self.free:
                self.free[resource][leaf] -= sign * number
                self.left[resource][leaf] -= sign * number
        self._changed(np.array([leaf], dtype=np.int64))

    def hold(self, held: Held, sign: int) -> None:
        """Pods of a workload come (1) or leave (-1); leaves that are gone are passed over."""
        leaf_of = self.tree.leaf_of
        if len(held.domains) == 1:
            leaf = leaf_of.get(held.domains[0].key)
            if leaf is not None:
                self._hold_one(leaf, held, held.domains[0].pods * sign)
            return
        counts: dict[int, int] = {}
        for domain in held.domains:
            leaf = leaf_of.get(domain.key)
            if leaf is not None:
                counts[leaf] = counts.get(leaf, 0) + domain.pods
        if not counts:
            return
        leaves = np.fromiter(counts, dtype=np.int64, count=len(counts))
        times = np.fromiter(counts.values(), dtype=np.int64, count=len(counts)) * sign
        for resource, number in held.single.items():
            if resource in self.left and number:
                self.left[resource][leaves] -= times * number
        if PODS in self.left:
            self.left[PODS][leaves] -= times
        self._changed(leaves)

    def _hold_one(self, leaf: int, held: Held, times: int) -> None:
        for resource, number in held.single.items():
            column = self.left.get(resource)
            if column is not None:
                column[leaf] -= times * number
        if PODS in self.left:
            self.left[PODS][leaf] -= times
        self._changed(np.array([leaf], dtype=np.int64))

    def _changed(self, leaves: Ints) -> None:
        if len(self.journal) >= _SHORT_JOURNAL:
            self.journal = []
            self.epoch += 1
        self.journal.append(leaves)

    def fits(self, held: Held) -> bool:
        """Whether every domain has what its pods request; the number of pods is not looked at here."""
        for domain in held.domains:
            leaf = self.tree.leaf_of.get(domain.key)
            if leaf is None:
                return False
            for resource, number in held.single.items():
                has = int(self.left[resource][leaf]) if resource in self.left else 0
                if number and max(0, has) // number < domain.pods:
                    return False
        return True

    # --- how many pods ------------------------------------------------------------------------------

    def count(self, request: Amounts, columns: Mapping[str, Ints], leaves: Ints | None = None) -> Ints:
        """How many such pods each leaf (or each of `leaves`) has room for."""
        size = self.tree.leaves if leaves is None else len(leaves)
        found: Ints | None = None
        for resource, number in request.items():
            if number == 0:
                continue
            column = columns.get(resource)
            if column is None:
                return np.zeros(size, dtype=np.int64)
            has = column if leaves is None else column[leaves]
            here = has // number if number != 1 else has
            found = here if found is None else np.minimum(found, here)
        if found is None:
            return np.full(size, MOST, dtype=np.int64)
        return np.minimum(np.maximum(found, 0), MOST)

    # --- which leaves -------------------------------------------------------------------------------

    def match(self, spec: PodSpec, scored: bool) -> Match:
        """Leaves on which the pods may run. Only hosts have taints and labels that a pod can be held to."""
        if not self.tree.by_host:
            return Match(None, Excluded({}, 0, 0), None)
        affinity = spec.affinity.node_affinity if spec.affinity is not None else None
        key = (spec.tolerations, tuple(sorted(spec.node_selector.items())), affinity, scored)
        try:
            found = self._matches.get(key)
        except TypeError:  # a selector of no hashable form
            return self._match(spec, scored)
        if found is None:
            found = self._matches[key] = self._match(spec, scored)
        return found

    def _match(self, spec: PodSpec, scored: bool) -> Match:
        tree = self.tree
        mask = np.ones(tree.leaves, dtype=bool)
        taints: dict[str, int] = {}
        kinds, ids = self._taints
        tolerations = spec.tolerations + self.tolerations
        for number, kind in enumerate(kinds):
            hard = next((t for t in kind if not tolerates(tolerations, t)), None)
            if hard is not None:
                hit = ids == number
                text = f"{hard.key}={hard.value}:{hard.effect}" if hard.value else f"{hard.key}:{hard.effect}"
                taints[text] = taints.get(text, 0) + int(np.count_nonzero(hit))
                mask &= ~hit
        before = int(np.count_nonzero(mask))
        for label, value in spec.node_selector.items():
            numbers, values = self._label(label)
            mask &= numbers == (values.index(value) if value in values else -1)
        selected = int(np.count_nonzero(mask))
        affinity = spec.affinity.node_affinity if spec.affinity is not None else None
        scores = None
        if affinity is not None:
            required = affinity.required_during_scheduling_ignored_during_execution
            if required is not None:
                mask &= self._selected(required)
            preferred = affinity.preferred_during_scheduling_ignored_during_execution
            if scored and preferred:
                scores = np.zeros(tree.leaves, dtype=np.int64)
                for term in preferred:
                    holds = self._selected(NodeSelector(node_selector_terms=(term.preference,)))
                    scores += np.where(holds & mask, term.weight, 0)
        after = int(np.count_nonzero(mask))
        excluded = Excluded(taints, before - selected, selected - after)
        return Match(None if after == tree.leaves else mask, excluded, scores)

    def _label(self, label: str) -> tuple[Ints, list[str | None]]:
        """A label as a column of numbers, and the value of each number."""
        found = self._labels.get(label)
        if found is None:
            numbers: dict[str | None, int] = {}
            column = [
                numbers.setdefault(nodes[0].metadata.labels.get(label), len(numbers))
                for nodes in self.tree.nodes
            ]
            found = self._labels[label] = (np.array(column, dtype=np.int64), list(numbers))
        return found

    def _selected(self, selector: NodeSelector) -> Mask:
        """Each combination of values of the labels that the selector reads is looked at once."""
        terms = selector.node_selector_terms
        nodes = self.tree.nodes
        if any(term.match_fields for term in terms):
            found = [node_selector_matches(selector, n[0].metadata.labels, n[0].name) for n in nodes]
            return np.array(found, dtype=bool)
        keys = sorted({e.key for term in terms for e in term.match_expressions})
        columns = [self._label(key) for key in keys]
        if not columns:
            return np.full(len(nodes), any(node_term_matches(term, {}, "") for term in terms), dtype=bool)
        combined = np.zeros(len(nodes), dtype=np.int64)
        for numbers, values in columns:
            combined = combined * len(values) + numbers
        _, examples, inverse = np.unique(combined, return_index=True, return_inverse=True)
        holds = [
            node_selector_matches(selector, nodes[leaf][0].metadata.labels, "") for leaf in examples.tolist()
        ]
        result: Mask = np.array(holds, dtype=bool)[inverse]
        return result


def _taint_kinds(tree: Tree) -> tuple[list[tuple[Taint, ...]], Ints]:
    """The different sets of taints that keep pods away, and which one each leaf has."""
    kinds: dict[tuple[Taint, ...], int] = {}
    ids = []
    for nodes in tree.nodes:
        taints = tuple(t for t in nodes[0].spec.taints if t.effect in ("NoSchedule", "NoExecute"))
        ids.append(kinds.setdefault(taints, len(kinds)))
    return list(kinds), np.array(ids, dtype=np.int64)


def domains_at(tree: Tree, leaves: Sequence[tuple[int, int]]) -> tuple[Domain, ...]:
    """(leaf, pods) as an assignment lists them: in the order of paths, empty ones left out."""
    return tuple(Domain(tree.values(leaf), count) for leaf, count in sorted(leaves) if count)
