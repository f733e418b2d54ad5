"""Which nodes a selector picks, worked out once for each distinct label value instead of once for each node."""

import numpy as np

from reprieve.cluster.columns import Mask
from reprieve.cluster.nodes import NodeTable
from reprieve.objects.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from reprieve.objects.selectors import node_term_matches, usable


def selector_mask(nodes: NodeTable, selector: NodeSelector) -> Mask:
    """Slots that a node selector accepts: its terms are alternatives."""
    mask = np.zeros(nodes.slots, dtype=np.bool_)
    for term in selector.node_selector_terms:
        mask |= term_mask(nodes, term)
    return mask


def labels_mask(nodes: NodeTable, wanted: dict[str, str]) -> Mask:
    """Slots whose labels hold every pair."""
    mask = np.ones(nodes.slots, dtype=np.bool_)
    for key, value in wanted.items():
        topology = nodes.topology(key)
        number = topology.number_of.get(value, -2)
        mask &= topology.ids[: nodes.slots] == number
    return mask


def term_mask(nodes: NodeTable, term: NodeSelectorTerm) -> Mask:
    if not term.match_expressions and not term.match_fields:
        return np.zeros(nodes.slots, dtype=np.bool_)
    mask = np.ones(nodes.slots, dtype=np.bool_)
    for requirement in term.match_expressions:
        mask &= _requirement_mask(nodes, requirement)
    if term.match_fields:
        fields = NodeSelectorTerm(match_fields=term.match_fields)
        mask &= np.array([node_term_matches(fields, {}, name) for name in nodes.names], dtype=np.bool_)
    return mask


def restricted_names(selector: NodeSelector) -> set[str] | None:
    """The only names the selector can pick, when every term pins `metadata.name`; None when one does not."""
    names: set[str] = set()
    for term in selector.node_selector_terms:
        pins = [set(f.values) for f in term.match_fields if f.key == "metadata.name" and f.operator == "In"]
        if not pins:
            return None
        names |= set.intersection(*pins)
    return names if selector.node_selector_terms else None


def _requirement_mask(nodes: NodeTable, requirement: NodeSelectorRequirement) -> Mask:
    if not usable(requirement.key, requirement.operator, requirement.values):
        return np.zeros(nodes.slots, dtype=np.bool_)
    topology = nodes.topology(requirement.key)
    ids = topology.ids[: nodes.slots]
    match requirement.operator:
        case "Exists":
            return ids >= 0
        case "DoesNotExist":
            return ids < 0
        case "In" | "NotIn":
            listed = [
                topology.number_of[value] for value in requirement.values if value in topology.number_of
            ]
            found: Mask = np.isin(ids, listed)
            return found if requirement.operator == "In" else ~found
        case _:
            term = NodeSelectorTerm(match_expressions=(requirement,))
            holds = [node_term_matches(term, {requirement.key: value}, "") for value in topology.values]
            return np.array([*holds, False], dtype=np.bool_)[ids]
