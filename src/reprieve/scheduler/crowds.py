"""Pods that share what quota was given for, and which of them get it when they are too many.

Those that are placed come first, then those whose names come first. One pod that comes, goes or is placed
decides about itself and at most one other, the one at the edge: whoever else is in the crowd is not looked
at, however many they are.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator


class Crowd:
    def __init__(self) -> None:
        self._placed: dict[str, bool] = {}
        self._order: list[tuple[bool, str]] = []
        """Not placed, and the key: whoever gets quota first comes first."""

    def __len__(self) -> int:
        return len(self._placed)

    def __iter__(self) -> Iterator[str]:
        return iter(self._placed)

    def __contains__(self, key: str) -> bool:
        return key in self._placed

    def is_placed(self, key: str) -> bool:
        return self._placed.get(key, False)

    def change(self, key: str, placed: bool | None, most: int | None) -> set[str]:
        """Note that a pod is placed, waits, or is gone (None). Those that may get quota now, or no longer do,
        if it was given for `most` of them (None: for nobody yet)."""
        if self._placed.get(key) is placed:
            return set()
        before = self._edge(most)
        if key in self._placed:
            del self._order[bisect_left(self._order, (not self._placed.pop(key), key))]
        if placed is not None:
            self._placed[key] = placed
            insort(self._order, (not placed, key))
        return before | self._edge(most)

    def _edge(self, most: int | None) -> set[str]:
        """The last one that gets quota, and the first one that does not."""
        if most is None or len(self._order) <= most:
            return set()
        return {key for _, key in self._order[max(0, most - 1) : most + 1]}

    def gets(self, key: str, most: int) -> bool:
        """Whether the pod is among as many as quota was given for."""
        if len(self._order) <= most:
            return True
        return key in self._placed and bisect_left(self._order, (not self._placed[key], key)) < most
