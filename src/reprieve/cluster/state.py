"""The cluster in memory: tables that change as objects come and go.

Two kinds of change, never mixed:
- *Observed* changes (`set`, `remove`, `assume`, `forget`, `nominate`) follow the real cluster and stay: one
  by one in `observed`, many at once here.
- *Supposed* changes (`supposed`) answer a what-if and are rolled back to a checkpoint.

The state depends on the objects and the order of their first appearance, not on how they were loaded.
"""

from collections.abc import Iterable
from itertools import islice

import numpy as np

from reprieve.cluster import arrivals
from reprieve.cluster.arrivals import BLOCK, FEW
from reprieve.cluster.columns import LOST
from reprieve.cluster.observed import Observed
from reprieve.objects import InvalidObject, Node, Object, Pod, collector_off


class Cluster(Observed):
    """The cluster; see `Tables` for what there is to read."""

    def set_all(self, objects: Iterable[Object]) -> None:
        """The same as `set` for one after the other; new nodes and new pods are taken in together."""
        left = iter(objects)
        with collector_off():
            while some := list(islice(left, BLOCK)):
                if (pods := self._arrivals.only_new_pods(some)) is not None:
                    self._add_pods(pods)
                elif (nodes := self._arrivals.only_new_nodes(some)) is not None:
                    self._add_nodes(nodes)
                else:
                    self._set_some(some)

    def _set_some(self, objects: Iterable[Object]) -> None:
        """Of everything; what comes between new pods is not overtaken by them."""
        pods: dict[str, Pod] = {}
        for obj in objects:
            if isinstance(obj, Pod) and obj.key not in pods and self._arrivals.is_new(obj):
                pods[obj.key] = obj
                continue
            if pods:
                self._add_pods(pods)
                pods = {}
            self.set(obj)
        self._add_pods(pods)

    def _add_nodes(self, nodes: dict[str, Node]) -> None:
        """New nodes by name."""
        self._begin()
        try:
            slots = self.nodes.add_all(nodes)
        except InvalidObject:  # raised again at the one that is wrong, when those before it count
            for node in nodes.values():
                self.set(node)
            return
        self.touched.extend(slots)
        for slot, name in zip(slots, nodes, strict=True):
            self._node_came(slot, name)

    def _add_pods(self, pods: dict[str, Pod]) -> None:
        """New pods by key."""
        self._begin()
        with_more = arrivals.with_more(pods.values()) if len(pods) >= FEW and self.pods.is_dense else None
        classes = None if with_more is None else self.classes.join_all(pods.values())
        if with_more is None or classes is None:  # few, or one of them is wrong, and its error is raised
            for pod in pods.values():
                self.set(pod)
            return
        self.groups.forget_all_ended(pods)
        rows, slots = self._arrivals.add(pods, classes)
        for pod in with_more:
            self._describe(self.pods.row_of[pod.key], pod)
        known = slots >= 0
        on, at = np.arange(rows.start, rows.stop, dtype=np.int32)[known], slots[known]
        self.pods.node[on] = at
        residents, places = self.residents, at.tolist()
        for row, slot in zip(on.tolist(), places, strict=True):
            residents[slot][row] = None
        self._usage.count_many(on, at, 1)
        self.touched.extend(places)
        self.moved.extend(places)
        if len(on) < len(rows):
            for row, slot, pod in zip(rows, slots.tolist(), pods.values(), strict=True):
                if slot == LOST:
                    self._settle(row, pod, pod.spec.node_name)
