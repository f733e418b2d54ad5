"""Making way for devices: who holds what the preemptor needs, and who can stay next to it.

A claim gives its devices back when all its users are gone (`cluster.claim_users`), so that users of one claim
count together, wherever they run. Whether a unit can stay is always asked of the whole search for devices:
the preemptor may be served by other devices than those it was served by at first.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from reprieve.cluster import Cluster, Mask, PoolId
from reprieve.placement import Assignment, PodFilters, device_filter
from reprieve.preemption.units import Candidates, VictimUnit
from reprieve.preemption.view import View


def holders(view: View, filters: PodFilters, slot: int) -> list[int]:
    """Pods whose going could free devices for the pod on this node, in the scheduler's order."""
    if filters.devices is None or view.faithful:
        return []
    row_of = view.cluster.pods.row_of
    rows = [row_of[key] for key in filters.devices.holders(slot) if key in row_of]
    return sorted((row for row in rows if view.placed[row]), key=view.position.__getitem__)


def come_free_soon(view: View, rows: Sequence[int], fits: Callable[[], bool]) -> bool:
    """Whether the preemptor fits once claims that nobody uses have given their devices back.

    Then nobody has to make way. Claims whose pods are gone are noticed by the claim controller; what the
    preemptor's own claims got somewhere else is taken back by the scheduler.
    """
    cluster = view.cluster
    idle = [] if view.faithful else [*cluster.abandoned_claims(), *_idle(cluster, rows)]
    if not idle:
        return False
    mark = cluster.checkpoint()
    for key in dict.fromkeys(idle):
        cluster.suppose_freed(key)
    try:
        return fits()
    finally:
        cluster.rollback(mark)


def _idle(cluster: Cluster, rows: Sequence[int]) -> list[str]:
    """Allocated claims of these pods that nobody uses, or only the pod itself that waits."""
    found, table = [], cluster.devices
    for row in rows:
        own = device_filter(cluster, row)
        uid = cluster.pods.info[row].uid
        for key in own.claims if own is not None else ():
            used = any(not uid or each.uid != uid for each in table.claims[key].status.reserved_for)
            if key in table.allocations and key not in table.in_flight and not used:
                found.append(key)
    return found


def matters(view: View, assigned: Sequence[Assignment]) -> bool:
    """Whether victims are to be chosen by the devices that they hold."""
    return not view.faithful and any(each.filters.devices is not None for each in assigned)


def only_devices_and_capacity(assigned: Sequence[Assignment]) -> bool:
    """Whether nothing but devices and free resources decides: units far from both can stay."""
    return all(
        each.filters.spread is None
        and each.filters.affinity is None
        and each.filters.volumes is None
        and not each.filters.cls.ports
        and not each.filters.nominated(each.slot)
        for each in assigned
    )


def near(view: View, candidates: Candidates, assigned: Sequence[Assignment]) -> Mask:
    """Units with a pod on a node of the preemptor, or with devices that one of its pods can reach."""
    rows: set[int] = set()
    for slot, each in {each.slot: each for each in assigned}.items():
        rows.update(view.cluster.residents[slot])
        rows.update(holders(view, each.filters, slot))
    wanted = [row in rows for row in candidates.rows.tolist()]
    return candidates.units_with(np.array(wanted, dtype=np.bool_))


class DeviceTrial:
    """Tries units next to a preemptor with claims: its pods are served anew, in the order of their places."""

    def __init__(self, view: View, assigned: Sequence[Assignment], home: dict[int, int]) -> None:
        self._cluster: Cluster = view.cluster
        self._assigned = assigned
        self._home = home
        self._mates: list[list[int]] = []
        self._slots_of: dict[PoolId, set[int]] = {}
        on_slot: dict[int, list[int]] = {}
        for each in assigned:
            self._mates.append(list(on_slot.get(each.slot, ())))
            on_slot.setdefault(each.slot, []).append(each.row)
            devices = each.filters.devices
            for pool in devices.inventory.pools(each.slot) if devices is not None else ():
                self._slots_of.setdefault(pool.id, set()).add(each.slot)
        claims = [claim for each in assigned if each.filters.devices for claim in each.filters.devices.claims]
        self._together = (
            len(claims) > len(set(claims))
            or any(len(slots) > 1 for slots in self._slots_of.values())
            or not only_devices_and_capacity(assigned)
        )
        """Whether a pod of the preemptor on one node may feel what happens on another."""
        self._spare: dict[int, int] = {} if self._together else self._spare_devices()
        """Nodes with devices that one claim holds alone, and how many more are free than the preemptor needs
        at the very least: a unit that holds more of them cannot stay, whatever a search would find."""

    def _spare_devices(self) -> dict[int, int]:
        dedicated, spare = self._cluster.devices.dedicated, {}
        for each in self._assigned:
            devices = each.filters.devices
            if devices is None:
                continue
            if each.slot not in spare:
                entries = [e for pool in devices.inventory.pools(each.slot) for e in pool.entries]
                if any(e.model.shareable for e in entries):
                    continue
                spare[each.slot] = sum(e.id not in dedicated for e in entries)
            spare[each.slot] -= devices.fewest_devices(each.slot)
        return spare

    def stays(self, unit: VictimUnit) -> bool:
        cluster = self._cluster
        returning = self._returning(unit) if self._spare else {}
        if any(number > self._spare[slot] for slot, number in returning.items()):
            return False
        mark = cluster.checkpoint()
        touched = self._touched(unit)
        for row in unit.rows:
            cluster.attach(row, self._home[row])
        self._count(unit, 1)
        if self._stands(touched):
            for slot, number in returning.items():
                self._spare[slot] -= number
            return True
        cluster.rollback(mark)
        self._count(unit, -1)
        return False

    def _returning(self, unit: VictimUnit) -> dict[int, int]:
        """How many devices on nodes of the preemptor the unit holds alone once it is back."""
        pods, table = self._cluster.pods, self._cluster.devices
        found: dict[int, int] = {}
        keys = {
            key: None
            for row in unit.rows
            for key in table.claims_used_by(pods.keys[row], pods.info[row].uid)
            if key not in table.allocations
        }
        for key in keys:
            for device in table.whole_devices(key):
                for slot in self._slots_of.get(device[:2], ()):
                    if slot in self._spare:
                        found[slot] = found.get(slot, 0) + 1
        return found

    def served(self) -> list[Assignment]:
        """The places with the devices that each pod gets there now."""
        mark, found = self._cluster.checkpoint(), []
        for each in self._assigned:
            devices = each.filters.devices
            found.append(each._replace(devices=devices.take(each.slot) if devices is not None else {}))
        self._cluster.rollback(mark)
        return found

    def _touched(self, unit: VictimUnit) -> set[int] | None:
        """Nodes of the preemptor that the unit can matter to; None: all of them."""
        if self._together:
            return None
        pods, devices = self._cluster.pods, self._cluster.devices
        slots = {self._home[row] for row in unit.rows}
        for row in unit.rows:
            for pool in devices.pools_of(pods.keys[row], pods.info[row].uid):
                slots |= self._slots_of.get(pool, set())
        return slots

    def _stands(self, touched: set[int] | None) -> bool:
        """Whether every pod of the preemptor is still served, each next to those before it."""
        mark = self._cluster.checkpoint()
        try:
            for each, mates in zip(self._assigned, self._mates, strict=True):
                if touched is not None and each.slot not in touched:
                    continue
                if not each.filters.allows(each.slot, mates):
                    return False
                if each.filters.devices is not None and (self._together or len(self._mates) > 1):
                    each.filters.devices.take(each.slot)
            return True
        finally:
            self._cluster.rollback(mark)

    def _count(self, unit: VictimUnit, delta: int) -> None:
        for each in self._assigned:
            if each.filters.spread is not None or each.filters.affinity is not None:
                for row in unit.rows:
                    each.filters.change(row, self._home[row], delta)


def held_by(view: View, rows: Iterable[int]) -> list[str]:
    """Devices that these pods hold, as plans name them."""
    pods, devices = view.cluster.pods, view.cluster.devices
    keys = {key for row in rows for key in devices.claims_used_by(pods.keys[row], pods.info[row].uid)}
    return [
        f"{each.driver}/{each.pool}/{each.device}"
        for key in sorted(keys)
        if (allocation := devices.allocations.get(key)) is not None
        for each in allocation.devices.results
        if not each.admin_access
    ]
