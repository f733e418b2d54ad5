"""Admission fair sharing: what each LocalQueue used lately. Those that used less go first.

    usage = sum over resources of weight x (consumed + penalties) / weight of the LocalQueue

What was consumed fades with a half-life. An admission counts at once, as a penalty of what it will have used
by the next sample; the sample that sees it running takes the penalty over. Amounts are exact billionths, as
Kubernetes computes with quantities; only the sum is a float.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction

from reprieve.objects import LocalQueue, exact, nano
from reprieve.quota.rules import UsageRules

Billionths = dict[str, int]


class _Account:
    __slots__ = ("consumed", "penalties", "since", "weight")

    def __init__(self, since: datetime | None) -> None:
        self.consumed: Billionths = {}
        self.penalties: dict[str, Billionths] = {}
        """By workload."""
        self.since = since
        """When what was consumed was last brought up to date."""
        self.weight = 1.0


class LocalUsage:
    """By key of the LocalQueue."""

    def __init__(self, rules: UsageRules) -> None:
        self._rules = rules
        self._accounts: dict[str, _Account] = {}

    def put(self, queue: LocalQueue, now: datetime) -> None:
        """Its weight; and, the first time, what its status says it has consumed."""
        account = self._accounts.get(queue.key)
        if account is None:
            account = self._accounts[queue.key] = _Account(now)
            sharing = queue.status.fair_sharing
            status = sharing.admission_fair_sharing_status if sharing is not None else None
            if status is not None:
                account.consumed = {name: nano(value) for name, value in status.consumed_resources.items()}
        weight = queue.spec.fair_sharing
        account.weight = 1.0 if weight is None else float(exact(weight.weight))

    def drop(self, queue: str) -> None:
        self._accounts.pop(queue, None)

    def admitted(self, queue: str, workload: str, requests: Mapping[str, int], now: datetime) -> None:
        """`requests` as `amount` counts them: cpu in thousandths."""
        account = self._accounts.setdefault(queue, _Account(now))
        part = _fading(self._rules.interval, self._rules.half_life)
        exactly = {name: number * (10**6 if name == "cpu" else 10**9) for name, number in requests.items()}
        account.penalties[workload] = _times(exactly, part)

    def sample(self, queue: str, running: Mapping[str, int], now: datetime) -> Billionths:
        """Look at what runs; returns what the status is to say."""
        account = self._accounts.setdefault(queue, _Account(now))
        elapsed = 0.0 if account.since is None else max(0.0, (now - account.since).total_seconds())
        account.since = now
        if not self._rules.half_life:
            account.consumed = {}
            return {}
        part = _fading(elapsed, self._rules.half_life)
        exactly = {name: number * (10**6 if name == "cpu" else 10**9) for name, number in running.items()}
        sums = _sum(_times(account.consumed, 1 - part), _times(exactly, part))
        account.consumed = _sum(sums, *account.penalties.values())
        account.penalties.clear()
        return account.consumed

    def usage(self, queue: str) -> float:
        account = self._accounts.get(queue)
        if account is None:
            return 0.0
        if account.weight <= 0:
            return math.inf
        amounts = _sum(account.consumed, *account.penalties.values())
        weights, total = self._rules.weights, 0.0
        for name in sorted(amounts):
            total += weights.get(name, 1.0) * (amounts[name] / 10**9)
        return total / account.weight


def _fading(elapsed: float, half_life: float) -> float:
    """The part of a usage that changes in this time."""
    return 1.0 - 0.5 ** (elapsed / half_life) if half_life else 0.0


def _times(amounts: Mapping[str, int], factor: float) -> Billionths:
    """Rounded down, so that what fades ends at nothing."""
    exactly = Fraction(repr(factor))
    return {name: math.floor(number * exactly) for name, number in amounts.items()}


def _sum(*amounts: Mapping[str, int]) -> Billionths:
    found: Billionths = {}
    for each in amounts:
        for name, number in each.items():
            found[name] = found.get(name, 0) + number
    return found
