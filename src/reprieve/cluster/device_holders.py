"""Which claims hold which devices at present, whether that is written, assumed or supposed."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from reprieve.objects import Allocation, nano

DeviceId = tuple[str, str, str]
"""(driver, pool, name)"""
PoolId = tuple[str, str]
"""(driver, name)"""


class Shares(NamedTuple):
    """A device that several claims hold a part of."""

    holders: int
    consumed: dict[str, int]
    """Billionths of each capacity."""


NOTHING_SHARED = Shares(0, {})


class DeviceHolders:
    def __init__(self) -> None:
        self.allocations: dict[str, Allocation] = {}
        """Present allocations by claim: written, assumed and supposed ones."""
        self.dedicated: dict[DeviceId, int] = {}
        """Devices that a claim holds alone; more than one is a mistake that somebody made."""
        self.shared: dict[DeviceId, Shares] = {}
        self.pool_changes: list[PoolId] = []
        """Pools with changed holders, in order."""
        self._gone: dict[str, int] = {}
        """How many of a claim's users are supposed gone."""
        self._ids: dict[str, tuple[DeviceId, ...]] = {}
        """Of claims whose present allocation gives whole devices only: which."""
        self.used_pools: set[PoolId] = set()
        """Pools that somebody has held devices of; all others are untouched."""

    def _hold(self, key: str, allocation: Allocation | None) -> None:
        before = self.allocations.get(key)
        if before is allocation or before == allocation:
            return
        if before is not None:
            self._give_back(key, before)
        if allocation is None:
            del self.allocations[key]
            return
        self.allocations[key] = allocation
        results = allocation.devices.results
        if any(each.admin_access or each.share_id for each in results):
            self._count(allocation, 1)
            return
        ids = self._ids[key] = tuple((each.driver, each.pool, each.device) for each in results)
        for id in ids:
            self.dedicated[id] = self.dedicated.get(id, 0) + 1
            self.pool_changes.append(id[:2])
            self.used_pools.add(id[:2])

    def _give_back(self, key: str, allocation: Allocation) -> None:
        ids = self._ids.pop(key, None)
        if ids is None:
            self._count(allocation, -1)
            return
        for id in ids:
            if self.dedicated[id] > 1:
                self.dedicated[id] -= 1
            else:
                del self.dedicated[id]
            self.pool_changes.append(id[:2])

    def give_back_all(self, keys: Iterable[str]) -> None:
        """Suppose many claims without their allocations, between `snapshot` and `restore`."""
        allocations, dedicated, changes = self.allocations, self.dedicated, self.pool_changes
        for key in keys:
            ids = self._ids.pop(key, None)
            if ids is None:
                self._hold(key, None)
                continue
            del allocations[key]
            for id in ids:
                changes.append(id[:2])
                if dedicated[id] > 1:
                    dedicated[id] -= 1
                else:
                    del dedicated[id]

    def snapshot(self) -> tuple[dict[Any, Any], ...]:
        """Who holds what, to be restored after many changes at once."""
        now = (self.allocations, self.dedicated, self.shared, self._ids, self._gone)
        return tuple(each.copy() for each in now)

    def restore(self, snapshot: tuple[dict[Any, Any], ...], changes: int) -> None:
        """`changes`: how many changes of pools there were at the snapshot."""
        self.allocations, self.dedicated, self.shared, self._ids, self._gone = snapshot
        self.pool_changes += list(dict.fromkeys(self.pool_changes[changes:]))

    def _count(self, allocation: Allocation, sign: int) -> None:
        for result in allocation.devices.results:
            if result.admin_access:
                continue
            id = (result.driver, result.pool, result.device)
            self.pool_changes.append((result.driver, result.pool))
            self.used_pools.add((result.driver, result.pool))
            if not result.share_id:
                held = self.dedicated.get(id, 0) + sign
                if held:
                    self.dedicated[id] = held
                else:
                    del self.dedicated[id]
                continue
            count, consumed = self.shared.get(id, NOTHING_SHARED)
            consumed = dict(consumed)
            for name, amount in result.consumed_capacity.items():
                consumed[name] = consumed.get(name, 0) + sign * nano(amount)
            if count + sign:
                self.shared[id] = Shares(count + sign, consumed)
            else:
                del self.shared[id]
