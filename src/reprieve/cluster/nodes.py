"""The nodes as columns: what they offer, what is used, and the order in which the scheduler visits them.

A node keeps its slot for as long as it exists; every per-node array of the project is indexed by slot.
Nothing here knows about pods except as amounts.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from reprieve.cluster.columns import Ints, Mask, Rows, grown, taller
from reprieve.objects import (
    ContainerImage,
    InvalidObject,
    Node,
    QuantityError,
    ResourceList,
    Taint,
    amount,
    well_known,
)


class ImageTable:
    """Which nodes hold which container image."""

    def __init__(self) -> None:
        self.version = 0
        """Increases whenever a node's images or the number of nodes change."""
        self.holders: dict[str, dict[int, int]] = {}
        """Image name to the slots that hold it, each with the size it states."""

    def replace(self, slot: int, before: Sequence[ContainerImage], after: Sequence[ContainerImage]) -> None:
        """A node holds other images than before."""
        if before == after:
            return
        self.version += 1
        for name in (name for image in before for name in image.names):
            holders = self.holders.get(name, {})
            holders.pop(slot, None)
            if not holders:
                self.holders.pop(name, None)
        for image in after:
            for name in image.names:
                self.holders.setdefault(name, {}).setdefault(slot, image.size_bytes)


CPU, MEMORY, EPHEMERAL, PODS = range(4)
BUILT_IN = ("cpu", "memory", "ephemeral-storage", "pods")

MAX_AMOUNT = 2**53
"""Larger amounts (8 PiB, nine quadrillion) are cut to this, so that a thousand of them add up in 64 bits."""

REGION_LABELS = (well_known.OLD_REGION_LABEL, well_known.REGION_LABEL)
ZONE_LABELS = (well_known.OLD_ZONE_LABEL, well_known.ZONE_LABEL)


class Topology:
    """One label key over all nodes: each distinct value has a number, a node without the label has -1."""

    def __init__(self, slots: int) -> None:
        self.values: list[str] = []
        self.number_of: dict[str, int] = {}
        self.ids: Rows = np.full(slots, -1, dtype=np.int32)

    def set(self, slot: int, value: str | None) -> None:
        self.ids = grown(self.ids, slot + 1, -1)
        if value is None:
            self.ids[slot] = -1
            return
        number = self.number_of.get(value)
        if number is None:
            number = self.number_of[value] = len(self.values)
            self.values.append(value)
        self.ids[slot] = number


class NodeTable:
    def __init__(self) -> None:
        self.resources: list[str] = list(BUILT_IN)
        self.resource_index: dict[str, int] = {name: i for i, name in enumerate(BUILT_IN)}
        self.slot_of: dict[str, int] = {}
        self.names: list[str] = []
        self.objects: list[Node | None] = []
        self.allocatable: Ints = np.zeros((len(BUILT_IN), 0), dtype=np.int64)
        self.used: Ints = np.zeros((len(BUILT_IN), 0), dtype=np.int64)
        self.filled: Ints = np.zeros((2, 0), dtype=np.int64)
        """cpu and memory in use for scoring, where a container without requests counts as a small one."""
        self.taint_set: Rows = np.zeros(0, dtype=np.int32)
        """Index of each node's taints and cordon in `taint_sets`: few nodes differ."""
        self.taint_sets: list[tuple[bool, tuple[Taint, ...]]] = []
        self.changes: list[int] = []
        """Slots whose labels, taints or cordon changed, in order: static filters recompute only these."""
        self.images = ImageTable()
        self._sequence: Ints = np.zeros(0, dtype=np.int64)
        self._zone: Rows = np.zeros(0, dtype=np.int32)
        self._zones: dict[tuple[str, str], int] = {}
        self._next = 0
        self._free: list[int] = []
        self._order: Rows | None = None
        self._topologies: dict[str, Topology] = {}
        self._taint_numbers: dict[tuple[bool, tuple[Taint, ...]], int] = {}

    def __len__(self) -> int:
        return len(self.slot_of)

    @property
    def slots(self) -> int:
        """Length of every per-node array; some slots may be empty."""
        return len(self.names)

    def set(self, node: Node) -> int:
        """Add or update a node; returns its slot. Raises `InvalidObject` before anything has changed."""
        slot = self.slot_of.get(node.name)
        old = None if slot is None else self.objects[slot]
        if slot is not None and old is not None and _reads_the_same(old, node):
            self.objects[slot] = node
            return slot
        offered = read_amounts(node.status.allocatable or node.status.capacity, node)
        if slot is None:
            slot = self._take_slot(node.name)
            self.images.version += 1
        self.objects[slot] = node
        self.images.replace(slot, old.status.images if old is not None else (), node.status.images)
        self._set_zone(slot, node)
        if old is not None:
            self.allocatable[:, slot] = 0
        for name, number in offered.items():
            index = self.resource(name)  # which may make another array of it
            self.allocatable[index, slot] = number
        self.taint_set[slot] = self._taint_number(node)
        for key, topology in self._topologies.items():
            topology.set(slot, node.metadata.labels.get(key))
        self.changes.append(slot)
        return slot

    def add_all(self, nodes: Mapping[str, Node]) -> range:
        """Slots for many new nodes by name, one after the other; only while no slot is free in between.

        Raises `InvalidObject` before anything has changed.
        """
        views = nodes.values()
        offered = [read_amounts(each.status.allocatable or each.status.capacity, each) for each in views]
        slots = range(self.slots, self.slots + len(nodes))
        span = slice(slots.start, slots.stop)
        self._reserve(slots.stop)
        self.names += nodes
        self.objects += views
        self.slot_of.update(zip(nodes, slots, strict=True))
        self._sequence[span] = np.arange(self._next, self._next + len(slots))
        self._next += len(slots)
        self._zone[span] = list(map(self._zone_number, views))
        self.taint_set[span] = list(map(self._taint_number, views))
        rows = [self.resource(name) for each in offered for name in each]
        at = np.repeat(np.arange(slots.start, slots.stop), [len(each) for each in offered])
        self.allocatable[rows, at] = [number for each in offered for number in each.values()]
        for slot, node in zip(slots, views, strict=True):
            self.images.replace(slot, (), node.status.images)
            for key, topology in self._topologies.items():
                topology.set(slot, node.metadata.labels.get(key))
        self.images.version += len(slots)
        self._order = None
        self.changes.extend(slots)
        return slots

    @property
    def is_dense(self) -> bool:
        """Whether every slot holds a node."""
        return not self._free

    def remove(self, name: str) -> int | None:
        slot = self.slot_of.pop(name, None)
        if slot is None:
            return None
        self.names[slot] = ""
        old, self.objects[slot] = self.objects[slot], None
        self.images.replace(slot, old.status.images if old is not None else (), ())
        for column in (self.allocatable, self.used, self.filled):
            column[:, slot] = 0
        for topology in self._topologies.values():
            topology.set(slot, None)
        self._free.append(slot)
        self._order = None
        self.images.version += 1
        self.changes.append(slot)
        return slot

    def resource(self, name: str) -> int:
        """The row of a resource; new names get a new row."""
        index = self.resource_index.get(name)
        if index is None:
            index = self.resource_index[name] = len(self.resources)
            self.resources.append(name)
            self.allocatable = taller(self.allocatable, index + 1)
            self.used = taller(self.used, index + 1)
        return index

    def topology(self, key: str) -> Topology:
        """The column of a label key, kept up to date from the first use."""
        found = self._topologies.get(key)
        if found is None:
            found = self._topologies[key] = Topology(self.slots)
            for slot, node in enumerate(self.objects):
                found.set(slot, None if node is None else node.metadata.labels.get(key))
        return found

    @property
    def order(self) -> Rows:
        """Slots in the order in which the scheduler visits them.

        1. Zones (region and zone labels together) in the order of their oldest node.
        2. The first node of each zone, then the second of each zone, and so on.
        3. Inside a zone, nodes in order of arrival.
        """
        if self._order is None:
            slots = np.fromiter(self.slot_of.values(), dtype=np.int32, count=len(self.slot_of))
            slots = slots[np.argsort(self._sequence[slots])]
            zones, oldest, zone = np.unique(self._zone[slots], return_index=True, return_inverse=True)
            by_zone = np.argsort(zone, kind="stable")
            count = np.bincount(zone, minlength=len(zones))
            turn = np.empty(len(slots), dtype=np.int64)
            turn[by_zone] = np.arange(len(slots)) - np.repeat(np.cumsum(count) - count, count)
            self._order = slots[np.lexsort((oldest[zone], turn))]
        return self._order

    @property
    def known(self) -> Mask:
        """Which slots hold a node."""
        mask = np.zeros(self.slots, dtype=np.bool_)
        mask[self.order] = True
        return mask

    def free(self, slots: Rows | slice = slice(None)) -> Ints:
        """What is left of every resource (rows) on every node (columns)."""
        width = self.slots
        return self.allocatable[:, :width][:, slots] - self.used[:, :width][:, slots]

    def _take_slot(self, name: str) -> int:
        if self._free:
            slot = self._free.pop()
            self.names[slot] = name
        else:
            slot = len(self.names)
            self.names.append(name)
            self.objects.append(None)
            if slot >= len(self._sequence):
                self._reserve(slot + 1)
        self._sequence[slot] = self._next
        self._next += 1
        self.slot_of[name] = slot
        self._order = None
        return slot

    def _reserve(self, size: int) -> None:
        self._sequence = grown(self._sequence, size)
        self._zone = grown(self._zone, size)
        self.allocatable = grown(self.allocatable, size)
        self.used = grown(self.used, size)
        self.filled = grown(self.filled, size)
        self.taint_set = grown(self.taint_set, size)

    def _taint_number(self, node: Node) -> int:
        key = (node.spec.unschedulable, node.spec.taints)
        number = self._taint_numbers.get(key)
        if number is None:
            number = self._taint_numbers[key] = len(self.taint_sets)
            self.taint_sets.append(key)
        return number

    def _set_zone(self, slot: int, node: Node) -> None:
        number = self._zone_number(node)
        if self._zone[slot] != number:
            self._zone[slot] = number
            self._order = None

    def _zone_number(self, node: Node) -> int:
        labels = node.metadata.labels
        key = _first(labels, REGION_LABELS), _first(labels, ZONE_LABELS)
        return self._zones.setdefault(key, len(self._zones))


def _first(labels: Mapping[str, str], keys: Iterable[str]) -> str:
    """The value of the first of these labels that there is."""
    for key in keys:
        if key in labels:
            return labels[key]
    return ""


def _reads_the_same(old: Node, new: Node) -> bool:
    return (old.metadata.labels, old.spec, old.status) == (new.metadata.labels, new.spec, new.status)


def read_amounts(offered: ResourceList, node: Node) -> dict[str, int]:
    """What a node offers. Raises `InvalidObject` for text that is no quantity, and for negative amounts."""
    amounts: dict[str, int] = {}
    for name, quantity in offered.items():
        try:
            number = amount(name, quantity)
        except QuantityError as wrong:
            raise _wrong_amount(name, quantity, str(wrong), node) from None
        if number < 0:
            raise _wrong_amount(name, quantity, f"must not be negative, is {quantity}", node)
        amounts[name] = min(number, MAX_AMOUNT)
    return amounts


def _wrong_amount(name: str, quantity: str | int | float, why: str, node: Node) -> InvalidObject:
    return InvalidObject(f"status.allocatable[{name}]", quantity, why, f"Node/{node.name}")
