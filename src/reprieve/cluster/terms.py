"""Affinity terms and topology spread constraints of a pod, resolved once.

The API server merges `matchLabelKeys` into the selectors; manifests that never went through one are merged
here.
"""

from collections.abc import Mapping
from typing import NamedTuple

from reprieve.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    TopologySpreadConstraint,
    matches,
    namespace_labels,
)


class Term(NamedTuple):
    """One required or preferred (anti-)affinity term of a pod."""

    key: str
    selector: LabelSelector | None
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    weight: int = 0

    def covers(self, namespace: str, home: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        """Whether the term selects a pod with these labels in this namespace, whose labels are `home`."""
        if namespace not in self.namespaces:
            if self.namespace_selector is None:
                return False
            if not matches(self.namespace_selector, namespace_labels(namespace, home)):
                return False
        return matches(self.selector, labels)


class Spread(NamedTuple):
    """One topology spread constraint."""

    key: str
    selector: LabelSelector | None
    max_skew: int
    min_domains: int
    honours_affinity: bool
    honours_taints: bool
    counts_pods: bool
    """An empty selector matches the pod itself but counts no pod on a node."""


def required_terms(side: PodAffinity | None, namespace: str, labels: Mapping[str, str]) -> tuple[Term, ...]:
    if side is None:
        return ()
    terms = side.required_during_scheduling_ignored_during_execution
    return tuple(_term(each, namespace, labels) for each in terms)


def preferred_terms(side: PodAffinity | None, namespace: str, labels: Mapping[str, str]) -> tuple[Term, ...]:
    if side is None:
        return ()
    terms = side.preferred_during_scheduling_ignored_during_execution
    return tuple(
        _term(each.pod_affinity_term, namespace, labels, each.weight) for each in terms if each.weight
    )


def spread_constraints(spec: PodSpec, labels: Mapping[str, str], when: str) -> tuple[Spread, ...]:
    """The pod's constraints whose `whenUnsatisfiable` is `when` (DoNotSchedule or ScheduleAnyway)."""
    return tuple(
        _spread(each, labels)
        for each in spec.topology_spread_constraints
        if (each.when_unsatisfiable or "DoNotSchedule") == when
    )


def _term(term: PodAffinityTerm, namespace: str, labels: Mapping[str, str], weight: int = 0) -> Term:
    selector = _merged(term.label_selector, term.match_label_keys, labels, "In")
    selector = _merged(selector, term.mismatch_label_keys, labels, "NotIn")
    names = frozenset(term.namespaces)
    if not names and term.namespace_selector is None:
        names = frozenset((namespace,))
    return Term(term.topology_key, selector, names, term.namespace_selector, weight)


def _spread(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> Spread:
    selector = _merged(constraint.label_selector, constraint.match_label_keys, labels, "In")
    return Spread(
        key=constraint.topology_key,
        selector=selector,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains if constraint.min_domains is not None else 1,
        honours_affinity=constraint.node_affinity_policy != "Ignore",
        honours_taints=constraint.node_taints_policy == "Honor",
        counts_pods=selector is not None and bool(selector.match_labels or selector.match_expressions),
    )


def _merged(
    selector: LabelSelector | None, keys: tuple[str, ...], labels: Mapping[str, str], operator: str
) -> LabelSelector | None:
    if selector is None or not keys:
        return selector
    extra = [
        LabelSelectorRequirement(key=k, operator=operator, values=(labels[k],)) for k in keys if k in labels
    ]
    fresh = tuple(each for each in extra if each not in selector.match_expressions)
    return LabelSelector(
        match_labels=selector.match_labels, match_expressions=selector.match_expressions + fresh
    )
