"""Where on its node a pod is drawn: pieces of the node's height that nobody else has at that time.

GPUs of a node have no numbers in a simulation, so a pod is given the lowest piece that is large enough, or
the lowest ones together when what is free is in pieces.
"""

from bisect import insort
from collections.abc import Iterator

Piece = tuple[int, int]
"""From, and up to."""


class Lanes:
    def __init__(self, height: int) -> None:
        self._free: list[Piece] = [(0, height)] if height > 0 else []

    def take(self, need: int) -> list[Piece]:
        """At most what is free."""
        for place, (low, high) in enumerate(self._free):
            if high - low >= need:
                self._free[place : place + 1] = [(low + need, high)] if high - low > need else []
                return [(low, low + need)]
        return list(self._pieces(need))

    def _pieces(self, need: int) -> Iterator[Piece]:
        while need > 0 and self._free:
            low, high = self._free.pop(0)
            taken = min(need, high - low)
            if taken < high - low:
                self._free.insert(0, (low + taken, high))
            need -= taken
            yield low, low + taken

    def put_back(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            insort(self._free, piece)
        merged: list[Piece] = []
        for low, high in self._free:
            if merged and merged[-1][1] == low:
                merged[-1] = (merged[-1][0], high)
            else:
                merged.append((low, high))
        self._free = merged
