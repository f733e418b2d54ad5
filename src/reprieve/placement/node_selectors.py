"""Which nodes a node selector accepts, evaluated for each distinct label value instead of each node.

`at` restricts the result to some slots; None means all of them.
"""

import numpy as np

from reprieve.cluster import Mask, NodeTable, Rows, Topology
from reprieve.objects import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    node_term_matches,
    usable,
)


def selector_mask(nodes: NodeTable, selector: NodeSelector, at: Rows | None = None) -> Mask:
    """Slots that a node selector accepts: its terms are alternatives."""
    mask = np.zeros(_count(nodes, at), dtype=np.bool_)
    for term in selector.node_selector_terms:
        mask |= term_mask(nodes, term, at)
    return mask


def labels_mask(nodes: NodeTable, wanted: dict[str, str], at: Rows | None = None) -> Mask:
    """Slots whose labels hold every pair."""
    mask = np.ones(_count(nodes, at), dtype=np.bool_)
    for key, value in wanted.items():
        topology = nodes.topology(key)
        number = topology.number_of.get(value, -2)
        mask &= _ids(nodes, topology, at) == number
    return mask


def term_mask(nodes: NodeTable, term: NodeSelectorTerm, at: Rows | None = None) -> Mask:
    if not term.match_expressions and not term.match_fields:
        return np.zeros(_count(nodes, at), dtype=np.bool_)
    mask = np.ones(_count(nodes, at), dtype=np.bool_)
    for requirement in term.match_expressions:
        mask &= _requirement_mask(nodes, requirement, at)
    if term.match_fields:
        fields = NodeSelectorTerm(match_fields=term.match_fields)
        names = names_at(nodes, at)
        mask &= np.array([node_term_matches(fields, {}, name) for name in names], dtype=np.bool_)
    return mask


def names_at(nodes: NodeTable, at: Rows | None) -> list[str]:
    return nodes.names if at is None else [nodes.names[slot] for slot in at.tolist()]


def _count(nodes: NodeTable, at: Rows | None) -> int:
    return nodes.slots if at is None else len(at)


def _ids(nodes: NodeTable, topology: Topology, at: Rows | None) -> Rows:
    return topology.ids[: nodes.slots] if at is None else topology.ids[at]


def restricted_names(selector: NodeSelector) -> set[str] | None:
    """The only names the selector can accept when every term pins `metadata.name`, otherwise None."""
    names: set[str] = set()
    for term in selector.node_selector_terms:
        pins = [set(f.values) for f in term.match_fields if f.key == "metadata.name" and f.operator == "In"]
        if not pins:
            return None
        names |= set.intersection(*pins)
    return names if selector.node_selector_terms else None


def _requirement_mask(nodes: NodeTable, requirement: NodeSelectorRequirement, at: Rows | None) -> Mask:
    if not usable(requirement.key, requirement.operator, requirement.values):
        return np.zeros(_count(nodes, at), dtype=np.bool_)
    topology = nodes.topology(requirement.key)
    ids = _ids(nodes, topology, at)
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
