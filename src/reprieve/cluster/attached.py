"""Volumes that CSI drivers attach, as columns: which pod uses which volume, and which are attached anyway.

A volume is a number, the same for everybody who uses it. Where a pod is, the pods' own columns say, so
supposing a pod elsewhere changes nothing here; what a pod uses is found out again only when its claims,
their volumes or their classes changed.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from reprieve.cluster.columns import Mask, Rows, grown

UNUSED = -1


class Use(NamedTuple):
    """A volume that a pod uses, by driver and handle."""

    driver: str
    handle: str
    in_tree: bool
    """It counts only on nodes that have a CSINode."""


class AttachedTable:
    def __init__(self) -> None:
        self.driver_of: Rows = np.zeros(0, dtype=np.int32)
        """The number of each volume's driver."""
        self.drivers: dict[str, int] = {}
        self._names: dict[tuple[str, str], int] = {}
        self._name_of: list[tuple[str, str]] = []
        self._references: Counter[int] = Counter()
        self._free_volumes: list[int] = []
        self.users: Uses = Uses()
        """Pods (by row) and the volumes that they use."""
        self.attachments: Uses = Uses()
        """Nodes (by slot) and the volumes attached there, whoever uses them."""

    def number(self, driver: str, handle: str) -> int | None:
        """The number of a volume, None when nobody uses it."""
        return self._names.get((driver, handle))

    def driver(self, name: str) -> int:
        return self.drivers.setdefault(name, len(self.drivers))

    def set(self, uses: "Uses", holder: int, found: tuple[Use, ...]) -> None:
        """What a holder uses from now on."""
        before = uses.volumes_of(holder)
        numbers = [self._take(each) for each in dict.fromkeys(found)]
        uses.replace(holder, numbers, [each.in_tree for each in dict.fromkeys(found)])
        for number in before:
            self._release(number)

    def _take(self, use: Use) -> int:
        name = use.driver, use.handle
        number = self._names.get(name)
        if number is None:
            number = self._free_volumes.pop() if self._free_volumes else len(self._name_of)
            if number == len(self._name_of):
                self._name_of.append(name)
                self.driver_of = grown(self.driver_of, number + 1)
            self._names[name] = number
            self._name_of[number] = name
            self.driver_of[number] = self.driver(use.driver)
        self._references[number] += 1
        return number

    def _release(self, number: int) -> None:
        self._references[number] -= 1
        if not self._references[number]:
            del self._references[number]
            del self._names[self._name_of[number]]
            self._free_volumes.append(number)


class Uses:
    """Pairs of a holder and a volume."""

    def __init__(self) -> None:
        self._holder: Rows = np.full(0, UNUSED, dtype=np.int32)
        self._volume: Rows = np.zeros(0, dtype=np.int32)
        self._in_tree: Mask = np.zeros(0, dtype=np.bool_)
        self._of: dict[int, list[int]] = {}
        self._free: list[int] = []
        self._length = 0

    def __bool__(self) -> bool:
        return bool(self._of)

    @property
    def holder(self) -> Rows:
        """`UNUSED` where a pair has gone."""
        return self._holder[: self._length]

    @property
    def volume(self) -> Rows:
        return self._volume[: self._length]

    @property
    def in_tree(self) -> Mask:
        return self._in_tree[: self._length]

    def volumes_of(self, holder: int) -> list[int]:
        return [int(self._volume[entry]) for entry in self._of.get(holder, ())]

    def entries_of(self, holder: int) -> list[int]:
        return self._of.get(holder, [])

    def replace(self, holder: int, volumes: list[int], in_tree: list[bool]) -> None:
        for entry in self._of.pop(holder, ()):
            self._holder[entry] = UNUSED
            self._free.append(entry)
        if volumes:
            self._of[holder] = [self._add(holder, *each) for each in zip(volumes, in_tree, strict=True)]

    def _add(self, holder: int, volume: int, in_tree: bool) -> int:
        entry = self._free.pop() if self._free else self._length
        if entry == self._length:
            self._length += 1
            self._holder = grown(self._holder, self._length, UNUSED)
            self._volume = grown(self._volume, self._length)
            self._in_tree = grown(self._in_tree, self._length)
        self._holder[entry], self._volume[entry], self._in_tree[entry] = holder, volume, in_tree
        return entry
