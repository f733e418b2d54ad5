"""Workloads that have quota and look for domains: at once, then again after longer and longer waits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from reprieve.quota.workload_info import WorkloadInfo

LONGEST = timedelta(seconds=30)


class SecondPasses:
    def __init__(self) -> None:
        self._due: dict[str, datetime] = {}
        self._tries: dict[str, int] = {}

    def put(self, key: str, now: datetime) -> None:
        """It needs one; if it waits for its next one already, it goes on waiting."""
        self._due.setdefault(key, now)

    def drop(self, key: str) -> None:
        self._due.pop(key, None)
        self._tries.pop(key, None)

    def again(self, key: str, now: datetime) -> None:
        """It found none: 1 s, 2 s, 4 s and so on until the next look."""
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        self._due[key] = now + min(LONGEST, timedelta(seconds=2 ** min(tries - 1, 5)))

    def next_due(self) -> datetime | None:
        return min(self._due.values()) if self._due else None

    def seconds_left(self, now: datetime) -> float | None:
        """Until the next one is due; None when nobody waits."""
        due = self.next_due()
        return None if due is None else min(due - now, LONGEST).total_seconds()

    def is_due(self, due: datetime, now: datetime) -> bool:
        """Nobody is told to wait for longer than the longest wait: the clock was set back since."""
        return not now < due <= now + LONGEST

    def take(self, workloads: Mapping[str, WorkloadInfo], now: datetime) -> list[WorkloadInfo]:
        """Those whose turn it is, in the order of their names."""
        if not self._due:
            return []
        ready = sorted(key for key, due in self._due.items() if self.is_due(due, now))
        for key in ready:
            del self._due[key]
        return [workloads[key] for key in ready if key in workloads]
