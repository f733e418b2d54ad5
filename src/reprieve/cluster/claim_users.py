"""Pods as users of claims: which devices are free once pods are supposed gone.

A claim gives its devices back when its last user is gone. Users are pods, by uid; a pod that no longer exists
does not count. A PodGroup that uses a claim keeps it until the group itself is deleted, and a user of a kind
that is not known here never leaves: such claims stay allocated, whoever is evicted.
"""

from collections.abc import Iterable
from typing import Any

from reprieve.cluster.devices import DeviceTable, is_same
from reprieve.cluster.pods import PodTable

LEFT, RETURNED, HELD, MANY = "left", "returned", "held", "many left"
"""Kinds of entries in the undo log."""

FEW = 16
"""Up to so many pods every change is noted by itself; of more, what was there before."""

Entry = tuple[Any, ...]


class ClaimUsers:
    def __init__(self, devices: DeviceTable, pods: PodTable) -> None:
        self._devices = devices
        self._pods = pods

    def leave(self, rows: Iterable[int], undo: list[Entry]) -> None:
        """Suppose pods gone: claims without a user that is left give their devices back."""
        devices = self._devices
        if not devices.any_users or not devices.evictions_free:
            return
        rows = list(rows)
        keys, info = self._pods.keys, self._pods.info
        if len(rows) > FEW:
            undo.append((MANY, devices.snapshot(), len(devices.pool_changes)))
            freed = []
            for row in rows:
                for key in devices.claims_used_by(keys[row], info[row].uid):
                    devices.leave(key)
                    if key in devices.only_user or self._unused(key):
                        freed.append(key)
            devices.give_back_all(freed)
            return
        for row in rows:
            for key in devices.claims_used_by(keys[row], info[row].uid):
                devices.leave(key)
                undo.append((LEFT, key))
                if key in devices.only_user or self._unused(key):
                    undo.append((HELD, key, devices.suppose(key, None)))

    def come_back(self, row: int, undo: list[Entry]) -> None:
        """Suppose a pod back that was supposed gone, with its devices."""
        devices = self._devices
        if not devices.any_users or not devices.evictions_free:
            return
        for key in devices.claims_used_by(self._pods.keys[row], self._pods.info[row].uid):
            if not devices.gone(key):
                continue  # it was there all the time
            if key in devices.only_user or self._unused(key):
                undo.append((HELD, key, devices.suppose(key, devices.claims[key].status.allocation)))
            devices.leave(key, back=True)
            undo.append((RETURNED, key))

    def abandoned(self) -> list[str]:
        """Claims whose users are all gone: their devices come free as soon as somebody notices."""
        devices, row_of, info = self._devices, self._pods.row_of, self._pods.info
        found = []
        for key in devices.allocations:
            only = devices.only_user.get(key)
            if only is not None:
                row = row_of.get(only[0])
                if row is not None and is_same(info[row].uid, only[1]):
                    continue  # the usual case
            claim = devices.claims.get(key)
            if claim is not None and claim.status.reserved_for and self._unused(key):
                found.append(key)
        return found

    def undo(self, entry: Entry) -> None:
        kind, key, *before = entry
        if kind == MANY:
            self._devices.restore(key, before[0])
        elif kind == HELD:
            self._devices.suppose(key, before[0])
        else:
            self._devices.leave(key, back=kind == LEFT)

    def _unused(self, key: str) -> bool:
        """Whether every user of the claim is supposed gone."""
        claim, pods = self._devices.claims[key], self._pods
        there = 0
        for user in claim.status.reserved_for:
            if user.resource != "pods":
                return False
            row = pods.row_of.get(f"{claim.namespace}/{user.name}")
            there += row is not None and is_same(pods.info[row].uid, user.uid)
        return there == self._devices.gone(key)
