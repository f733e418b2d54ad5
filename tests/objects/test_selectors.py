"""Selectors match what they match for kube-scheduler, and a broken one matches nothing."""

import msgspec
import pytest

from reprieve.objects.core import NodeSelector, NodeSelectorTerm, Taint, Toleration
from reprieve.objects.meta import LabelSelector
from reprieve.objects.selectors import matches, node_selector_matches, node_term_matches, tolerates

LABELS = {"zone": "a", "cores": "16", "empty": ""}


def expression(key: str, operator: str, *values: str) -> dict[str, object]:
    return {"key": key, "operator": operator, "values": list(values)}


def selector(*expressions: dict[str, object], **labels: str) -> LabelSelector:
    return msgspec.convert({"matchLabels": labels, "matchExpressions": expressions}, LabelSelector)


def term(*expressions: dict[str, object], fields: tuple[dict[str, object], ...] = ()) -> NodeSelectorTerm:
    return msgspec.convert({"matchExpressions": expressions, "matchFields": fields}, NodeSelectorTerm)


def test_no_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert not matches(None, LABELS)
    assert matches(LabelSelector(), {})


COMMON = [
    (expression("zone", "In", "a", "b"), True),
    (expression("zone", "In", "b"), False),
    (expression("none", "In", "a"), False),
    (expression("zone", "NotIn", "b"), True),
    (expression("zone", "NotIn", "a"), False),
    (expression("none", "NotIn", "a"), True),
    (expression("zone", "Exists"), True),
    (expression("none", "Exists"), False),
    (expression("empty", "Exists"), True),
    (expression("none", "DoesNotExist"), True),
    (expression("zone", "DoesNotExist"), False),
]
BROKEN = [
    expression("zone", "in", "a"),
    expression("zone", "In"),
    expression("zone", "NotIn"),
    expression("none", "DoesNotExist", "a"),
    expression("zone", "Exists", "a"),
    expression("not a key!", "DoesNotExist"),
    expression("none", "NotIn", "not a value!"),
]


@pytest.mark.parametrize(("one", "expected"), COMMON)
def test_expressions_mean_the_same_for_pods_and_nodes(one: dict[str, object], expected: bool) -> None:
    assert matches(selector(one), LABELS) is expected
    assert node_term_matches(term(one), LABELS, "n") is expected


@pytest.mark.parametrize("one", BROKEN)
def test_an_expression_that_does_not_parse_matches_nothing(one: dict[str, object]) -> None:
    assert not matches(selector(one), LABELS)
    assert not node_term_matches(term(one), LABELS, "n")


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (expression("cores", "Gt", "8"), True),
        (expression("cores", "Gt", "16"), False),
        (expression("cores", "Lt", "17"), True),
        (expression("cores", "Lt", "16"), False),
        (
            expression("cores", "Gt", "-1"),
            False,
        ),  # no label value begins with a minus sign, so it does not parse
        (expression("zone", "Gt", "1"), False),
        (expression("none", "Gt", "1"), False),
        (expression("none", "Lt", "1"), False),
        (expression("cores", "Gt", "8", "9"), False),
        (expression("cores", "Gt", "eight"), False),
        (expression("cores", "Gt", "8.5"), False),
        (expression("cores", "Lt", "9223372036854775808"), False),
    ],
)
def test_nodes_can_be_compared_with_whole_numbers(one: dict[str, object], expected: bool) -> None:
    assert node_term_matches(term(one), LABELS, "n") is expected
    assert not matches(selector(one), LABELS), "label selectors have no Gt and Lt"


def test_all_expressions_of_a_term_must_hold_and_one_term_is_enough() -> None:
    both = term(expression("zone", "In", "a"), expression("cores", "Gt", "99"))
    assert not node_term_matches(both, LABELS, "n")
    either = NodeSelector(node_selector_terms=(both, term(expression("zone", "Exists"))))
    assert node_selector_matches(either, LABELS, "n")


def test_a_term_without_expressions_and_a_selector_without_terms_match_nothing() -> None:
    assert not node_term_matches(NodeSelectorTerm(), LABELS, "n")
    assert not node_selector_matches(NodeSelector(), LABELS, "n")


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (expression("metadata.name", "In", "n"), True),
        (expression("metadata.name", "In", "other"), False),
        (expression("metadata.name", "NotIn", "other"), True),
        (expression("metadata.name", "NotIn", "n"), False),
        (expression("metadata.name", "In", "n", "other"), False),
        (expression("metadata.name", "Exists"), False),
        (expression("metadata.uid", "In", "n"), False),
    ],
)
def test_the_only_field_of_a_node_is_its_name(field: dict[str, object], expected: bool) -> None:
    assert node_term_matches(term(fields=(field,)), LABELS, "n") is expected


TAINT = Taint(key="gpu", value="yes", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration(operator="Exists"), True),
        (Toleration(key="gpu", operator="Exists"), True),
        (Toleration(key="gpu", value="yes"), True),
        (Toleration(key="gpu", operator="Equal", value="yes", effect="NoSchedule"), True),
        (Toleration(key="gpu", value="no"), False),
        (Toleration(key="cpu", operator="Exists"), False),
        (Toleration(key="gpu", operator="Exists", effect="NoExecute"), False),
        (Toleration(value="yes"), True),
        (Toleration(key="gpu", operator="Lt", value="yes"), False),
        (Toleration(key="gpu", operator="Gt", value="0"), False),
        (Toleration(key="gpu", operator="Matches", value="yes"), False),
        (Toleration(key="gpu", operator="Exists", toleration_seconds=0), True),
    ],
)
def test_tolerations(toleration: Toleration, expected: bool) -> None:
    assert tolerates((toleration,), TAINT) is expected


def test_no_toleration_tolerates_nothing_and_one_of_many_is_enough() -> None:
    assert not tolerates((), TAINT)
    assert tolerates((Toleration(key="x", operator="Exists"), Toleration(operator="Exists")), TAINT)
