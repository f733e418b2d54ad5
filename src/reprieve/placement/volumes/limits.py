"""NodeVolumeLimits: how many volumes of a driver a node can have, and whether it has the driver at all."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from reprieve.cluster import AttachedTable, Cluster, Ints, Mask, Rows
from reprieve.placement.sentences import volumes as sentences
from reprieve.placement.volumes.csi_nodes import NO_LIMIT, CSINodeColumns, csi_nodes


class Own(NamedTuple):
    """A volume that the pod brings."""

    number: int
    driver: str
    in_tree: bool


class Limits:
    def __init__(self, cluster: Cluster, row: int) -> None:
        self._cluster = cluster
        self._table: AttachedTable = cluster.storage.attached
        self._csi: CSINodeColumns = csi_nodes(cluster)
        self.own = self._own(row)
        self.drivers = sorted({each.driver for each in self.own})
        self.idle = not self.own
        self._local: dict[int, Counter[int]] = {}
        """For nodes that changed: how many pods there use each volume."""
        if self.own:
            self._read()
            self._count(cluster.nodes.slots)

    def _own(self, row: int) -> list[Own]:
        uses, table = self._table.users, self._table
        names = {number: name for name, number in table.drivers.items()}
        found = {}
        for entry in uses.entries_of(row):
            number = int(uses.volume[entry])
            found[number] = Own(number, names[int(table.driver_of[number])], bool(uses.in_tree[entry]))
        return list(found.values())

    def _read(self) -> None:
        """Which volumes are on which nodes now, as far as they count for the pod's drivers."""
        cluster, table, uses = self._cluster, self._table, self._table.users
        self._numbers: Ints = np.array([table.driver(name) for name in self.drivers])
        here = (uses.holder >= 0) & np.isin(table.driver_of[uses.volume], self._numbers)
        entries = np.flatnonzero(here)
        slots = cluster.pods.node[uses.holder[entries]]
        counted = (slots >= 0) & (~uses.in_tree[entries] | self._csi.present[slots])
        self.entries: Ints = entries[counted]
        self._slot: Rows = slots[counted]
        self._volume: Rows = uses.volume[self.entries]
        attached = table.attachments
        there = (attached.holder >= 0) & np.isin(table.driver_of[attached.volume], self._numbers)
        self._attached_slot: Rows = attached.holder[there]
        self._attached_volume: Rows = attached.volume[there]

    def _count(self, width: int) -> None:
        """For each driver: volumes on each node, those of the pod that are new there, and the limit."""
        pairs = self._distinct()
        attached = self._attached_apart()
        self.attached: dict[str, Ints] = {}
        self.new: dict[str, Ints] = {}
        self.limit: dict[str, Ints] = {name: self._csi.limit(name) for name in self.drivers}
        for name, number in zip(self.drivers, self._numbers.tolist(), strict=True):
            driver_of = self._table.driver_of
            slots = self._slot[pairs][driver_of[self._volume[pairs]] == number]
            extra = self._attached_slot[attached][driver_of[self._attached_volume[attached]] == number]
            self.attached[name] = np.bincount(slots, minlength=width) + np.bincount(extra, minlength=width)
            self.new[name] = self._new(name, width)

    def _distinct(self) -> Ints:
        """Entries, without the second user of a volume on a node."""
        users = np.bincount(self._volume, minlength=1)
        if users.max(initial=0) <= 1:
            return np.arange(len(self._volume))
        _, first = np.unique(self._key(self._slot, self._volume), return_index=True)
        return first

    def _attached_apart(self) -> Ints:
        """Attachments of volumes that no pod on the node uses."""
        if not len(self._attached_slot):
            return np.zeros(0, dtype=np.int64)
        used = np.isin(
            self._key(self._attached_slot, self._attached_volume), self._key(self._slot, self._volume)
        )
        return np.flatnonzero(~used)

    def _key(self, slots: Rows, volumes: Rows) -> Ints:
        return slots.astype(np.int64) * len(self._table.driver_of) + volumes

    def _new(self, driver: str, width: int) -> Ints:
        new = np.zeros(width, dtype=np.int64)
        for each in self.own:
            if each.driver != driver:
                continue
            brought = np.ones(width, dtype=np.bool_)
            brought[self._slot[self._volume == each.number]] = False
            new += brought
        return new

    def held(self, driver: str) -> Ints:
        """For each pod the slots that its end would give back: not those of volumes that stay attached.

        A volume that several pods on a node use counts for each of them.
        """
        uses, table = self._table.users, self._table
        freed = table.driver_of[self._volume] == table.driver(driver)
        if len(self._attached_slot):
            keys = self._key(self._slot, self._volume)
            freed &= ~np.isin(keys, self._key(self._attached_slot, self._attached_volume))
        return np.bincount(uses.holder[self.entries[freed]], minlength=self._cluster.pods.rows)

    def slots_of(self, driver: str, row: int) -> int:
        """How many volumes of a driver a pod uses."""
        uses, number = self._table.users, self._table.driver(driver)
        return sum(int(self._table.driver_of[uses.volume[entry]]) == number for entry in uses.entries_of(row))

    @property
    def shared(self) -> Mask:
        """Nodes on which two pods use one volume, or one of the pod's own."""
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        users = np.bincount(self._volume, minlength=1)
        if users.max(initial=0) > 1:
            several = users[self._volume] > 1
            keys, counts = np.unique(
                self._key(self._slot[several], self._volume[several]), return_counts=True
            )
            mask[keys[counts > 1] // len(self._table.driver_of)] = True
        mask[self._slot[np.isin(self._volume, [each.number for each in self.own])]] = True
        return mask

    # --- masks over all nodes -------------------------------------------------------------------------------

    def missing(self) -> dict[str, Mask]:
        """Nodes without a driver that must be there, by the driver that kube-scheduler would name."""
        found: dict[str, Mask] = {}
        seen = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        for name in self.drivers:
            driver = self._cluster.storage.drivers.get(name)
            if driver is None or not driver.spec.prevent_pod_scheduling_if_missing:
                continue
            counts = np.zeros_like(seen)
            for each in self.own:
                if each.driver == name:
                    counts |= self._csi.present if each.in_tree else True
            found[name] = counts & ~self._csi.installed(name) & ~seen
            seen |= found[name]
        return found

    def exceeded(self) -> Mask:
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        for name in self.drivers:
            limit, new = self.limit[name], self.new[name]
            mask |= (limit != NO_LIMIT) & (new > 0) & (self.attached[name] + new > limit)
        for slot in self._local:
            mask[slot] = not self._within(slot)
        return mask

    def unclear(self) -> dict[int, str]:
        """Nodes with a pod whose volumes nobody can count, and why: kube-scheduler's filter fails there."""
        if not self._cluster.storage.faulty or not self.own:
            return {}
        node = self._cluster.pods.node
        return {
            int(node[row]): sentences.volumes_cannot_be_counted(text)
            for row, text in self._cluster.storage.faulty.items()
            if node[row] >= 0 and self._csi.limited[node[row]]
        }

    # --- one node -------------------------------------------------------------------------------------------

    def matters(self, row: int) -> bool:
        return bool(self._volumes_of(row, None))

    def _volumes_of(self, row: int, slot: int | None) -> list[int]:
        uses, driver_of = self._table.users, self._table.driver_of
        return [
            int(uses.volume[entry])
            for entry in uses.entries_of(row)
            if driver_of[uses.volume[entry]] in self._numbers
            and (slot is None or not uses.in_tree[entry] or self._csi.present[slot])
        ]

    def change(self, row: int, slot: int, delta: int) -> None:
        volumes = self._volumes_of(row, slot)
        if volumes:
            here = self._at(slot)
            for volume in volumes:
                here[volume] += delta

    def _at(self, slot: int) -> Counter[int]:
        found = self._local.get(slot)
        if found is None:
            found = self._local[slot] = Counter(self._volume[self._slot == slot].tolist())
        return found

    def _within(self, slot: int) -> bool:
        used = {volume for volume, pods in self._at(slot).items() if pods > 0}
        used_and_attached = used | set(self._attached_volume[self._attached_slot == slot].tolist())
        counts = Counter(self._table.driver_of[list(used_and_attached)].tolist())
        for name, number in zip(self.drivers, self._numbers.tolist(), strict=True):
            limit = int(self.limit[name][slot])
            new = sum(each.driver == name and each.number not in used for each in self.own)
            if limit != NO_LIMIT and new and counts[number] + new > limit:
                return False
        return True

    def allows(self, slot: int) -> bool:
        if slot in self._local:
            return self._within(slot)
        for name in self.drivers:
            limit, new = int(self.limit[name][slot]), int(self.new[name][slot])
            if limit != NO_LIMIT and new and int(self.attached[name][slot]) + new > limit:
                return False
        return True

    def copy(self) -> "Limits":
        twin = object.__new__(Limits)
        twin.__dict__ |= self.__dict__
        twin._local = {slot: counts.copy() for slot, counts in self._local.items()}
        return twin
