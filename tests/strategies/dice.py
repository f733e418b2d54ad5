"""Chance for long runs: thousands of throws from a few hundred numbers that Hypothesis draws.

A storm in virtual time throws dice at every request. Drawn one by one that would be more than one example may
draw, so the numbers come again from the start when they are used up. A failing run is replayed from them, and
shrinks to zeros: the first choice, the lowest number.
"""

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

SIDES = 4096


class Dice(random.Random):
    """Everything `random.Random` offers, from these numbers (0 to 4095) and nothing else."""

    def __new__(cls, numbers: Sequence[int]) -> "Dice":
        return super().__new__(cls)

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__()
        self._numbers = tuple(numbers)
        self._thrown = 0

    def __repr__(self) -> str:
        return f"Dice({list(self._numbers)})"

    def random(self) -> float:
        number = self._numbers[self._thrown % len(self._numbers)]
        self._thrown += 1
        return number / SIDES

    def chance(self, probability: float) -> bool:
        """No, when it has shrunk."""
        return self.random() >= 1 - probability

    def getrandbits(self, k: int, /) -> int:
        return sum(int(self.random() * 256) << 8 * byte for byte in range((k + 7) // 8)) & ((1 << k) - 1)

    def _randbelow(self, n: int) -> int:
        return int(self.random() * n)

    def seed(self, *arguments: Any, **more: Any) -> None:
        """There is nothing to seed."""


def dice(least: int = 100, most: int = 400) -> st.SearchStrategy[Dice]:
    return st.builds(Dice, st.lists(st.integers(0, SIDES - 1), min_size=least, max_size=most))
