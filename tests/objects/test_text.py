"""Values in error messages are short, whatever they are, and so are lists of names."""

from typing import Any

import pytest

from reprieve.objects.structure import Problem
from reprieve.objects.text import counted, shown, some


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "'a'"),
        (5, "5"),
        (None, "None"),
        ({"a": [1]}, "{'a': [1]}"),
        (["x"] * 9, "['x', 'x', 'x', 'x', 'x', 'x', ...]"),
    ],
)
def test_small_values_are_shown_whole_and_long_lists_begin(value: Any, text: str) -> None:
    assert shown(value) == text


def test_no_value_is_shown_at_length() -> None:
    nested: Any = "x" * 10**6
    for _ in range(50):
        nested = [nested] * 50
    for value in ("x" * 10**7, nested, {str(n): nested for n in range(1000)}, 10**10_000, b"x" * 10**6):
        assert len(shown(value)) <= 120


def test_a_problem_shows_its_value_once() -> None:
    assert str(Problem("a.b", 5, "must be at least 6, got 5")) == "a.b: must be at least 6, got 5"
    assert str(Problem("a.b", "x", "is there twice")) == "a.b: is there twice (got 'x')"
    assert str(Problem("a.b", None, "is required")) == "a.b: is required"
    assert str(Problem("", "x", "no")) == "no (got 'x')"


def test_some_of_many_names() -> None:
    names = ["a", "b", "c"]
    assert some(names, 3) == "a, b, c"
    assert some(names, 2) == "a, b and 1 more"
    assert some(names, 1, "nodes") == "a and 2 more nodes"
    assert some([], 3) == ""


def test_numbers_with_their_nouns() -> None:
    assert [counted(number, "pod") for number in (0, 1, 2)] == ["0 pods", "1 pod", "2 pods"]
