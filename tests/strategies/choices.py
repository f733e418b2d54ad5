"""Choices in plain words, each of them drawn by Hypothesis: a failing example shrinks choice by choice."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Draw(Protocol):
    def __call__(self, strategy: st.SearchStrategy[T], /) -> T: ...


class Choices:
    """Wraps `draw` of `st.composite` or of `st.data()`. Shrinking goes to the first value, the lowest
    number, to no.
    """

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def one_of(self, values: Sequence[T]) -> T:
        return values[self._draw(st.integers(0, len(values) - 1))]

    def chance(self, percent: int) -> bool:
        return self._draw(st.integers(1, 100)) > 100 - percent
