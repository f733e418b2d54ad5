"""Which labels a node or a pod would need to be selected. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reprieve.objects import (
    LabelSelector,
    NodeSelectorTerm,
    PodSpec,
    matches,
    node_selector_matches,
    node_term_matches,
    usable,
    well_known,
)

MACHINE_PREFIXES = (
    "kubernetes.io/",
    "beta.kubernetes.io/",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "failure-domain.beta.kubernetes.io/",
)


def describes_the_machine(key: str) -> bool:
    """Labels that say what or where a node is: to change one would be a lie."""
    return key.startswith(MACHINE_PREFIXES)


class Wanted(NamedTuple):
    """Labels that are to be set, and labels that are to be taken off."""

    labels: dict[str, str]
    absent: list[str]


def node_labels_for(spec: PodSpec, labels: Mapping[str, str], name: str) -> Wanted | None:
    """The fewest changes of a node's labels after which the pod selects it; None when no labels would do."""
    best: Wanted | None = None
    for term in _terms(spec):
        wanted = _for_term(term, dict(labels) | spec.node_selector)
        changed = {k: v for k, v in (spec.node_selector | wanted.labels).items() if labels.get(k) != v}
        found = Wanted(changed, [key for key in wanted.absent if key in labels])
        after = {k: v for k, v in (dict(labels) | changed).items() if k not in found.absent}
        selected = all(after.get(k) == v for k, v in spec.node_selector.items())
        if selected and (term is None or node_term_matches(term, after, name)):
            size = len(found.labels) + len(found.absent)
            if best is None or size < len(best.labels) + len(best.absent):
                best = found
    return best


def _terms(spec: PodSpec) -> list[NodeSelectorTerm | None]:
    """The alternatives of the required node affinity; one None for a pod without any."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return [None] if required is None else [*required.node_selector_terms]


def _for_term(term: NodeSelectorTerm | None, labels: dict[str, str]) -> Wanted:
    wanted = Wanted({}, [])
    for each in term.match_expressions if term is not None else ():
        now = {**labels, **wanted.labels}
        if not node_term_matches(NodeSelectorTerm(match_expressions=(each,)), now, ""):
            value = _value_for(each.operator, each.values)
            if value is None:
                wanted.absent.append(each.key)
            else:
                wanted.labels[each.key] = value
    return wanted


def _value_for(operator: str, values: tuple[str, ...]) -> str | None:
    """A value with which the requirement holds; None: without the label it does."""
    if operator == "In":
        return values[0] if values else ""
    if operator == "Exists":
        return "true"
    if operator in ("Gt", "Lt") and usable("k", operator, values):
        return str(int(values[0]) + (1 if operator == "Gt" else -1))
    return None


def missing_from_selector(spec: PodSpec, labels: Mapping[str, str], name: str) -> tuple[list[str], bool]:
    """(keys of the node selector that the node does not have so, whether node affinity refuses it)."""
    keys = [key for key, value in spec.node_selector.items() if labels.get(key) != value]
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return keys, required is not None and not node_selector_matches(required, labels, name)


def pod_labels_for(selectors: Iterable[LabelSelector | None]) -> dict[str, str] | None:
    """Labels of a pod that all the selectors match; None when there are none."""
    listed = list(selectors)
    labels: dict[str, str] = {}
    for selector in listed:
        if selector is None:
            return None
        labels |= selector.match_labels
        for each in selector.match_expressions:
            if not matches(LabelSelector(match_expressions=(each,)), labels):
                value = _value_for(each.operator, each.values)
                if value is not None:
                    labels[each.key] = value
    return labels if all(matches(selector, labels) for selector in listed) else None


def namespace_labels_for(selector: LabelSelector | None, labels: Mapping[str, str]) -> dict[str, str] | None:
    """Labels to add to a namespace so that the selector matches it; None when none would do."""
    if selector is None:
        return None
    added = {k: v for k, v in selector.match_labels.items() if labels.get(k) != v}
    for each in selector.match_expressions:
        if not matches(LabelSelector(match_expressions=(each,)), {**labels, **added}):
            value = _value_for(each.operator, each.values)
            if value is None:
                return None
            added[each.key] = value
    fixed = well_known.NAMESPACE_NAME_LABEL in added
    return added if not fixed and matches(selector, {**labels, **added}) else None
