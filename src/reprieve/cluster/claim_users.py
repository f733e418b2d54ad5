"""Pods as users of claims: which devices are free once pods are supposed gone.

A claim gives its devices back when its last user is gone. Users are pods, by uid; a pod that no longer exists
does not count. A PodGroup that uses a claim keeps it until the group itself is deleted, and a user of a kind
that is not known here never leaves: such claims stay allocated, whoever is evicted.
"""

from collections.abc import Iterable
from typing import Any

from reprieve.cluster.devices import DeviceTable
from reprieve.cluster.pods import PodTable

LEFT, RETURNED, HELD = "left", "returned", "held"
"""Kinds of entries in the undo log."""

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
        for row in rows:
            for key in devices.claims_used_by(self._pods.keys[row], self._pods.info[row].uid):
                devices.leave(key)
                undo.append((LEFT, key))
                if self._unused(key):
                    undo.append((HELD, key, devices.suppose(key, None)))

    def come_back(self, row: int, undo: list[Entry]) -> None:
        """Suppose a pod back that was supposed gone, with its devices."""
        devices = self._devices
        if not devices.any_users or not devices.evictions_free:
            return
        for key in devices.claims_used_by(self._pods.keys[row], self._pods.info[row].uid):
            if not devices.gone(key):
                continue  # it was there all the time
            if self._unused(key):
                undo.append((HELD, key, devices.suppose(key, devices.claims[key].status.allocation)))
            devices.leave(key, back=True)
            undo.append((RETURNED, key))

    def abandoned(self) -> list[str]:
        """Claims whose users are all gone: their devices come free as soon as somebody notices."""
        devices = self._devices
        return [
            key
            for key in devices.allocations
            if key in devices.claims and devices.claims[key].status.reserved_for and self._unused(key)
        ]

    def undo(self, entry: Entry) -> None:
        kind, key, *before = entry
        if kind == HELD:
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
            there += row is not None and pods.info[row].uid in ("", user.uid)
        return there == self._devices.gone(key)
