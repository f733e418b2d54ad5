"""Chance for long runs: thousands of throws from a few hundred that Hypothesis draws.

A storm in virtual time throws dice at every request. Drawn one by one that would be more than one example may
draw, so the throws come again from the start when they are used up. A failing run is replayed from them, and
shrinks to zeros: the first choice, the lowest number. They are drawn as bytes: those are equally likely,
while of large integers Hypothesis prefers the small ones.
"""

import random
from typing import Any

from hypothesis import strategies as st


class Dice(random.Random):
    """Everything `random.Random` offers, from these throws of two bytes and nothing else."""

    def __new__(cls, throws: bytes) -> "Dice":
        return super().__new__(cls)

    def __init__(self, throws: bytes) -> None:
        super().__init__()
        self._throws = throws
        self._next = 0

    def __repr__(self) -> str:
        return f"Dice({self._throws!r})"

    def random(self) -> float:
        high, low = (self._throws[(self._next + i) % len(self._throws)] for i in (0, 1))
        self._next += 2
        return (high * 256 + low) / 65536

    def chance(self, probability: float) -> bool:
        """No, when it has shrunk."""
        return self.random() >= 1 - probability

    def getrandbits(self, k: int, /) -> int:
        return sum(int(self.random() * 256) << 8 * byte for byte in range((k + 7) // 8)) & ((1 << k) - 1)

    def _randbelow(self, n: int) -> int:
        return int(self.random() * n)

    def seed(self, *arguments: Any, **more: Any) -> None:
        """There is nothing to seed."""


def dice(least: int = 200, most: int = 1500) -> st.SearchStrategy[Dice]:
    """So many bytes."""
    return st.builds(Dice, st.binary(min_size=least, max_size=most))
