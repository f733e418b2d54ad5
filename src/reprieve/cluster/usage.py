"""Pods counted on nodes and taken off again: resources, what scores read, host ports.

Knows neither why a pod is on a node nor for how long; `state` calls it for observed and for supposed changes.
"""

import numpy as np

from reprieve.cluster.classes import ClassTable
from reprieve.cluster.columns import Rows, present_in, sums
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
        classes, width = self._pods.cls.take(rows), self._nodes.slots
        requests, filled, present = self._classes.requests, self._classes.filled, present_in(classes)
        used = sums(slots, requests, classes, present, width)
        stated = np.array_equal(filled[:, present], requests[: len(filled), present])  # as most pods do
        scored = used if stated else sums(slots, filled, classes, present, width)
        for columns, totals in ((self._nodes.used, used), (self._nodes.filled, scored)):
            for column, total in zip(columns[:, :width], totals, strict=False):
                if total is not None:
                    column += sign * total
        self.count_ports(rows, slots, sign)

    def count_ports(self, rows: Rows, slots: Rows, sign: int) -> None:
        if not self._classes.with_ports.any():
            return
        for index in np.flatnonzero(self._classes.with_ports[self._pods.cls[rows]] & (slots >= 0)):
            cls = self._classes.all[self._pods.cls[rows[index]]]
            (self.ports.add if sign > 0 else self.ports.remove)(cls, int(slots[index]))
