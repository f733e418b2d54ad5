"""May pods of this spec use a flavor at all? Its taints and labels against theirs; nothing about quota."""

from __future__ import annotations

from collections.abc import Iterable

from reprieve.objects import (
    NodeSelector,
    NodeSelectorTerm,
    PodSpec,
    ResourceFlavor,
    Taint,
    node_selector_matches,
    tolerates,
)
from reprieve.quota.assignment import Mismatch
from reprieve.quota.causes import Cause


def static_mismatch(spec: PodSpec, name: str, flavor: ResourceFlavor | None) -> Mismatch | None:
    """Why pods of this spec may not use the flavor, or None; nothing about quota.

    A flavor stands for nodes with its labels and taints. Only selector keys that are among the flavor's own
    labels are compared: the nodes may have labels that the flavor does not name.
    """
    if flavor is None:
        return Mismatch(Cause.FLAVOR_NOT_FOUND, (name,), name)
    taint = _untolerated(spec, flavor)
    if taint is not None:
        values = (taint.key, taint.value, taint.effect, name)
        return Mismatch(Cause.FLAVOR_TAINTED, values, name, taint=taint)
    if not _selected(spec, flavor.spec.node_labels):
        return Mismatch(Cause.FLAVOR_NOT_SELECTED, (name,), name)
    return None


def _untolerated(spec: PodSpec, flavor: ResourceFlavor) -> Taint | None:
    if not flavor.spec.node_taints:
        return None
    tolerations = spec.tolerations + flavor.spec.tolerations
    for taint in flavor.spec.node_taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(tolerations, taint):
            return taint
    return None


def _selected(spec: PodSpec, labels: dict[str, str]) -> bool:
    for key, value in spec.node_selector.items():
        if labels.get(key, value) != value:
            return False
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    if required is None or not required.node_selector_terms:
        return True
    terms = [_own_part(term, labels) for term in required.node_selector_terms]
    if not all(term.match_expressions for term in terms):
        return True  # terms are alternatives, and one without conditions always holds
    return node_selector_matches(NodeSelector(node_selector_terms=tuple(terms)), labels, "")


def _own_part(term: NodeSelectorTerm, keys: Iterable[str]) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=tuple(e for e in term.match_expressions if e.key in keys))
