"""Capacity that more important units gave back not long ago: nobody they could preempt starts in it.

A unit that starts where a more important one has just ended is often preempted before it has saved any work:
the place is in use, and all for nothing. With `preemption.headroom` a unit starts only if what is free next
to it is at least its headroom:

    headroom(p) = max over the last window of held(t) - held(now)
    held(t)     = what units of a higher priority than p held at t, resource by resource

The most important units have none, and nobody preempts where he only has to wait for it. A unit that holds a
nomination, or completes a gang, is not asked. What was held before the first unit of a priority waited, or
before the scheduler started, is not known and does not count.
"""

from collections import deque
from typing import NamedTuple

from reprieve.cluster import Cluster
from reprieve.objects import Duration
from reprieve.scheduler import sentences

Amounts = tuple[tuple[int, int], ...]
"""Resource numbers and what is requested of each."""


class Holding(NamedTuple):
    priority: int
    requested: Amounts


class KeptFree(NamedTuple):
    """Why a unit that fits does not start."""

    text: str
    until: float
    """When less is kept, if nothing happens before."""


class _Above:
    """What units above one priority hold of one resource, and the most they held within the window."""

    def __init__(self) -> None:
        self._held = 0
        self._peaks: deque[tuple[float, int]] = deque()
        """Amounts that were held before, and until when: ever later and ever less."""

    def change(self, amount: int, now: float) -> None:
        if amount < 0:
            self._not_later(now)
            while self._peaks and self._peaks[-1][1] <= self._held:
                self._peaks.pop()
            self._peaks.append((now, self._held))
        self._held += amount

    def _not_later(self, now: float) -> None:
        """A clock that went back keeps nothing for longer than the window."""
        if self._peaks and self._peaks[-1][0] > now:
            self._peaks = deque((min(until, now), amount) for until, amount in self._peaks)

    def given_back(self, now: float, window: float) -> int:
        """How much more was held at some moment within the window."""
        self._not_later(now)
        while self._peaks and self._peaks[0][0] <= now - window:
            self._peaks.popleft()
        return max(0, self._peaks[0][1] - self._held) if self._peaks else 0

    @property
    def given_back_at(self) -> float:
        """When the most of it was."""
        return self._peaks[0][0]


class Headroom:
    def __init__(self, cluster: Cluster, window: Duration) -> None:
        self._cluster = cluster
        self._window = window
        self.on = window > 0
        self._held: dict[str, Holding] = {}
        """The pods on nodes, by key."""
        self._above: dict[int, dict[int, _Above]] = {}
        """By priority of units that waited, then by resource."""

    def look(self, pod: str, now: float) -> None:
        """Something has changed about this pod: whether it holds a place now, or waits for one."""
        before, after = self._held.get(pod), self._holding(pod)
        if before == after:
            return
        if before is not None:
            self._change(before, -1, now)
            del self._held[pod]
        if after is not None:
            self._change(after, 1, now)
            self._held[pod] = after

    def _holding(self, pod: str) -> Holding | None:
        pods = self._cluster.pods
        row = pods.row_of.get(pod)
        if row is None:
            return None
        priority = int(pods.priority[row])
        if pods.node[row] < 0:
            self._above.setdefault(priority, {})
            return None
        return Holding(priority, self._cluster.class_of(row).requested)

    def _change(self, holding: Holding, sign: int, now: float) -> None:
        for priority, above in self._above.items():
            if priority < holding.priority:
                for resource, amount in holding.requested:
                    above.setdefault(resource, _Above()).change(sign * amount, now)

    def kept_free(self, priority: int, requested: dict[int, int], now: float) -> KeptFree | None:
        """What keeps a unit of this priority, which fits, from starting now; `requested` by all its pods."""
        above = self._above.setdefault(priority, {})
        given_back = {each: above[each].given_back(now, self._window) for each in requested if each in above}
        needed = {each: amount for each, amount in given_back.items() if amount}
        if not needed:
            return None
        nodes = self._cluster.nodes
        free = nodes.free(nodes.order).sum(axis=1)
        for resource, amount in needed.items():
            if int(free[resource]) - requested[resource] < amount:
                text = sentences.kept_free(nodes.resources[resource], self._window)
                return KeptFree(text, above[resource].given_back_at + float(self._window))
        return None
