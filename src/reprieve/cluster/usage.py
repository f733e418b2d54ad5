"""Pods counted on nodes and taken off again: resources, what scores read, host ports.

Knows neither why a pod is on a node nor for how long; `state` calls it for observed and for supposed changes.
"""

import numpy as np

from reprieve.cluster.classes import ClassTable
from reprieve.cluster.columns import Ints, Rows, summed
from reprieve.cluster.nodes import NodeTable
from reprieve.cluster.pods import PodTable
from reprieve.cluster.ports import PortTable


class Usage:
    def __init__(self, nodes: NodeTable, pods: PodTable, classes: ClassTable) -> None:
        self._nodes = nodes
        self._pods = pods
        self._classes = classes
        self.ports = PortTable()
        self.touched: list[int] = []
        """Log of slots whose usage changed; caches catch up from where they stopped reading."""
        self._viewed = nodes.used, nodes.filled, nodes.used.data, nodes.filled.data

    def count(self, row: int, slot: int, sign: int) -> None:
        """One pod on a node (`sign` 1), or off it (-1)."""
        if slot < 0:
            return
        cls = self._classes.all[self._pods.cls.item(row)]
        used, filled = self._views()
        for index, number in cls.requested:
            used[index, slot] += sign * number
        cpu, memory = cls.filled
        filled[0, slot] += sign * cpu
        filled[1, slot] += sign * memory
        if cls.ports:
            (self.ports.add if sign > 0 else self.ports.remove)(cls, slot)
        self.touched.append(slot)

    def _views(self) -> tuple[memoryview, memoryview]:
        """The usage of nodes for adding up single numbers, which a view does in half the time of an array."""
        used, filled = self._nodes.used, self._nodes.filled
        if used is not self._viewed[0] or filled is not self._viewed[1]:
            self._viewed = used, filled, used.data, filled.data
        return self._viewed[2:]

    def count_many(self, rows: Rows, slots: Rows, sign: int) -> None:
        """Many pods at once. The caller logs their slots as touched, if anybody is to know of them."""
        if not len(rows):
            return
        classes, width = self._pods.cls[rows], self._nodes.slots
        present = np.flatnonzero(np.bincount(classes))
        pods = np.bincount(slots, minlength=width)

        def total(amounts: Ints) -> Ints | None:
            """What these pods request of one resource, by node."""
            least, most = int(amounts[present].min()), int(amounts[present].max())
            if least < most:
                return summed(slots, amounts, classes, width)
            return most * pods if most else None  # equal pods: their number says it all

        sums = [total(amounts) for amounts in self._classes.requests]
        for column, more in zip(self._nodes.used[:, :width], sums, strict=False):
            if more is not None:
                column += sign * more
        for index, amounts in enumerate(self._classes.filled):  # most pods state their requests
            same = np.array_equal(amounts[present], self._classes.requests[index, present])
            more = sums[index] if same else total(amounts)
            if more is not None:
                self._nodes.filled[index, :width] += sign * more
        self.count_ports(rows, slots, sign)

    def count_ports(self, rows: Rows, slots: Rows, sign: int) -> None:
        if not self._classes.with_ports.any():
            return
        for index in np.flatnonzero(self._classes.with_ports[self._pods.cls[rows]] & (slots >= 0)):
            cls = self._classes.all[self._pods.cls[rows[index]]]
            (self.ports.add if sign > 0 else self.ports.remove)(cls, int(slots[index]))
