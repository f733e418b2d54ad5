"""Does it match? Label selectors, node selectors, tolerations.

A selector that Kubernetes could not parse (an unknown operator, `In` without values, `Gt` of a word) matches
nothing.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from reprieve.objects import well_known
from reprieve.objects.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration
from reprieve.objects.labels import label_key, label_value
from reprieve.objects.meta import LabelSelector, LabelSelectorRequirement

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """No selector matches nothing; an empty one matches everything."""
    if selector is None:
        return False
    for key, value in selector.match_labels.items():
        if labels.get(key) != value:
            return False
    return all(_label_requirement_holds(each, labels) for each in selector.match_expressions)


def namespace_labels(name: str, labels: Mapping[str, str] | None = None) -> dict[str, str]:
    """With the one that an API server gives every namespace, its name; manifests seldom have it."""
    return {well_known.NAMESPACE_NAME_LABEL: name, **(labels or {})}


def node_selector_matches(selector: NodeSelector, labels: Mapping[str, str], name: str) -> bool:
    """Terms are alternatives; a selector without a usable term matches no node."""
    return any(node_term_matches(term, labels, name) for term in selector.node_selector_terms)


def node_term_matches(term: NodeSelectorTerm, labels: Mapping[str, str], name: str) -> bool:
    """All expressions and fields of the term hold; a term with neither matches no node."""
    if not term.match_expressions and not term.match_fields:
        return False
    return all(_node_requirement_holds(each, labels) for each in term.match_expressions) and all(
        _field_requirement_holds(each, name) for each in term.match_fields
    )


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    return any(toleration_matches(each, taint) for each in tolerations)


def toleration_matches(toleration: Toleration, taint: Taint) -> bool:
    """Operators `Lt` and `Gt` never match: their upstream gate is off."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def parse_integer(text: str) -> int | None:
    """A base-10 int64, or None."""
    if len(text) > 20 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def whole_number(text: str) -> int | None:
    """What ASCII digits alone say, if it fits an int64; else None.

    For text that anybody may write: `str.isdigit` likes "²", too, and `int` refuses thousands of digits.
    """
    return parse_integer(text) if text.isascii() and text.isdigit() else None


def _label_requirement_holds(requirement: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    if not usable(requirement.key, requirement.operator, requirement.values):
        return False
    if requirement.operator in ("Gt", "Lt"):
        return False
    return _holds(requirement.operator, requirement.values, labels.get(requirement.key))


def _node_requirement_holds(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    if not usable(requirement.key, requirement.operator, requirement.values):
        return False
    return _holds(requirement.operator, requirement.values, labels.get(requirement.key))


def _field_requirement_holds(requirement: NodeSelectorRequirement, name: str) -> bool:
    if requirement.key != "metadata.name" or len(requirement.values) != 1:
        return False
    if requirement.operator == "In":
        return name == requirement.values[0]
    return requirement.operator == "NotIn" and name != requirement.values[0]


@lru_cache(maxsize=16384)
def usable(key: str, operator: str, values: tuple[str, ...]) -> bool:
    """Whether Kubernetes would parse the requirement at all."""
    if label_key(key) is not None or any(label_value(each) is not None for each in values):
        return False
    if operator in ("In", "NotIn"):
        return bool(values)
    if operator in ("Exists", "DoesNotExist"):
        return not values
    return operator in ("Gt", "Lt") and len(values) == 1 and parse_integer(values[0]) is not None


def _holds(operator: str, values: tuple[str, ...], found: str | None) -> bool:
    """`found` is the label's value, None where the label is absent."""
    if operator == "In":
        return found is not None and found in values
    if operator == "NotIn":
        return found is None or found not in values
    if operator == "Exists":
        return found is not None
    if operator == "DoesNotExist":
        return found is None
    number, bound = parse_integer(found or ""), parse_integer(values[0])
    if number is None or bound is None:
        return False
    return number > bound if operator == "Gt" else number < bound
