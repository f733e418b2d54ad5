"""The result of the flavor scan: the flavor of each resource of each pod set, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from reprieve.objects import Placement, Taint
from reprieve.quota import sentences
from reprieve.quota.causes import (
    EXCEEDS_MAX_QUOTA,
    NO_MATCHING_FLAVOR,
    PLACEMENT_FAILED,
    WAITING_FOR_QUOTA,
    Cause,
)
from reprieve.quota.tree import FlavorResource, Usage, flavor_resource

_SEVERITY = {NO_MATCHING_FLAVOR: 4, EXCEEDS_MAX_QUOTA: 3, WAITING_FOR_QUOTA: 2, PLACEMENT_FAILED: 1}

PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


class Mode(IntEnum):
    """What an assignment needs before it can be admitted, worst first."""

    NO_FIT = 0
    PREEMPT = 1
    FIT = 2

    def __str__(self) -> str:
        return ("NoFit", "Preempt", "Fit")[self]


class PreemptionMode(IntEnum):
    """Finer than `Mode`: what preemption could do for a flavor, worst first (Kueue's preemptionMode)."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    def __str__(self) -> str:
        return ("NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit")[self]

    @property
    def mode(self) -> Mode:
        return _MODES[self]


_MODES = (Mode.NO_FIT, Mode.PREEMPT, Mode.PREEMPT, Mode.PREEMPT, Mode.FIT)


class GranularMode(NamedTuple):
    """What preemption could do for a flavor, and the height from which it would borrow (0: not at all)."""

    preemption: PreemptionMode
    borrowing: int


BEST = GranularMode(PreemptionMode.FIT, 0)
WORST = GranularMode(PreemptionMode.NO_FIT, 1 << 62)


def preferred(a: GranularMode, b: GranularMode, preference: str) -> bool:
    """Whether `a` is strictly better than `b`.

    1. anything over no fit
    2. anything over needing preemption without candidates
    3. the better preemption mode, then the lower borrowing height; the other way round for
       PreemptionOverBorrowing
    """
    if a.preemption == PreemptionMode.NO_FIT:
        return False
    if b.preemption == PreemptionMode.NO_FIT:
        return True
    hopeless = PreemptionMode.NO_CANDIDATES
    if (a.preemption == hopeless) != (b.preemption == hopeless):
        return b.preemption == hopeless
    if preference == PREEMPTION_OVER_BORROWING:
        return (a.borrowing, -a.preemption) < (b.borrowing, -b.preemption)
    return (-a.preemption, a.borrowing) < (-b.preemption, b.borrowing)


class Mismatch(NamedTuple):
    """The pods may not use the flavor, or it does not exist; or no flavor covers the resource."""

    cause: Cause
    values: tuple[str, ...]
    flavor: str = ""
    resource: str = ""
    """The one that the queue does not cover."""
    taint: Taint | None = None
    """The one that keeps the pods off the flavor."""

    @property
    def reason(self) -> str:
        return self.cause.reason

    def __str__(self) -> str:
        return self.cause.text(self.values)


class TooLarge(NamedTuple):
    """More than the queue could ever get, even if nothing else was used."""

    key: FlavorResource
    before: int
    request: int
    most: int

    @property
    def reason(self) -> str:
        return EXCEEDS_MAX_QUOTA

    def __str__(self) -> str:
        flavor, resource = self.key
        return sentences.more_than_quota(flavor, resource, self.before, self.request, self.most)


class Shortage(NamedTuple):
    """Not enough is free now."""

    key: FlavorResource
    missing: int

    @property
    def reason(self) -> str:
        return WAITING_FOR_QUOTA

    def __str__(self) -> str:
        flavor, resource = self.key
        return sentences.quota_is_used(flavor, resource, self.missing)


class Unplaced(NamedTuple):
    """Quota would do, but the pods have no place in the topology now."""

    text: str

    @property
    def reason(self) -> str:
        return PLACEMENT_FAILED

    def __str__(self) -> str:
        return self.text


Obstacle = Mismatch | TooLarge | Shortage | Unplaced


class Attempt(NamedTuple):
    """One flavor that was tried."""

    flavor: str
    granular_mode: GranularMode
    obstacles: tuple[Obstacle, ...]

    def __str__(self) -> str:
        preemption, borrowing = self.granular_mode
        return sentences.flavor_considered(
            self.flavor,
            str(preemption),
            preempts=preemption.mode == Mode.PREEMPT,
            borrowing=borrowing,
            obstacles=map(str, self.obstacles),
        )

    @property
    def plain(self) -> bool:
        """It fits without borrowing: nothing to mention."""
        return self.granular_mode.preemption == PreemptionMode.FIT and not self.granular_mode.borrowing


class Choice(NamedTuple):
    """A flavor for one resource."""

    flavor: str
    mode: Mode
    borrowing: int
    tried: int
    """Index of the last flavor tried; -1 when all were."""


class PodSetResult:
    """Flavors of one pod set, or why there are none."""

    __slots__ = (
        "attempts",
        "choices",
        "count",
        "delayed",
        "error",
        "group",
        "name",
        "obstacles",
        "placement",
        "requests",
    )

    def __init__(self, name: str, count: int, requests: Mapping[str, int], group: str | None = None) -> None:
        self.name = name
        self.count = count
        self.requests = requests
        self.choices: dict[str, Choice] = {}
        self.obstacles: list[Obstacle] = []
        self.attempts: list[Sequence[Attempt]] = []
        """For each resource group that was scanned, its flavors in the order of the scan."""
        self.group = group
        """Pod sets of one group share their flavors."""
        self.placement: Placement | None = None
        self.delayed: str | None = None
        """`Pending`: the domains are found later; `Ready`: they were."""
        self.error = ""
        """Why the pods cannot be placed at all."""

    @property
    def mode(self) -> Mode:
        if self.error:
            return Mode.NO_FIT
        if not self.obstacles:
            return Mode.FIT
        if not self.choices:
            return Mode.NO_FIT
        return min([choice.mode for choice in self.choices.values()])


class Assignment:
    """Flavors for a whole workload. Changes nothing by itself."""

    __slots__ = ("borrowing", "mode", "pod_sets", "unplaceable", "usage")

    def __init__(self, pod_sets: list[PodSetResult], borrowing: int, usage: Usage) -> None:
        self.pod_sets = pod_sets
        self.borrowing = borrowing
        """Height of the highest subtree that would lend."""
        self.usage = usage
        self.mode = min([each.mode for each in pod_sets], default=Mode.NO_FIT)
        self.unplaceable = False
        """Not even an empty cluster has a place."""

    def pod_set(self, name: str) -> PodSetResult:
        return next(each for each in self.pod_sets if each.name == name)

    def find_pod_set(self, name: str) -> PodSetResult | None:
        return next((each for each in self.pod_sets if each.name == name), None)

    def set_mode(self, name: str, mode: Mode) -> None:
        """Of all flavors of a pod set, and of those that its group shares with it; and of the whole."""
        own = self.pod_set(name)
        for each in self.pod_sets:
            if each is own or (own.group is not None and each.group == own.group):
                for resource, choice in each.choices.items():
                    if resource in own.choices:
                        each.choices[resource] = choice._replace(mode=mode)
        self.mode = mode

    def fail(self, result: PodSetResult, error: str) -> None:
        result.error = error
        self.mode = min(each.mode for each in self.pod_sets)

    def needing_preemption(self) -> frozenset[FlavorResource]:
        return frozenset(
            [
                flavor_resource(choice.flavor, resource)
                for each in self.pod_sets
                for resource, choice in each.choices.items()
                if choice.mode == Mode.PREEMPT
            ]
        )

    @property
    def unfinished(self) -> bool:
        """Whether there are flavors that were not tried."""
        for each in self.pod_sets:
            for choice in each.choices.values():
                if choice.tried != -1:
                    return True
        return False

    def tried(self) -> tuple[dict[str, int], ...]:
        """Where the next scan resumes."""
        return tuple({name: choice.tried for name, choice in each.choices.items()} for each in self.pod_sets)

    def flavors(self) -> dict[str, dict[str, str]]:
        return {each.name: {r: choice.flavor for r, choice in each.choices.items()} for each in self.pod_sets}

    def message(self) -> str:
        for each in self.pod_sets:
            if each.error:
                return sentences.flavors_failed(each.name, each.error)
        return sentences.no_flavors(
            (each.name, sorted(map(str, each.obstacles))) for each in self.pod_sets if each.obstacles
        )

    def considered(self) -> str:
        """The flavors worth mentioning in an event; empty when there are none."""
        parts = []
        for each in self.pod_sets:
            shown = [str(attempt) for group in each.attempts for attempt in group if not attempt.plain]
            if shown:
                parts.append((each.name, shown))
        return sentences.flavors_considered(parts)

    def no_fit_reason(self) -> str:
        """Worst over pod sets and resource groups; within a group the flavor that came closest counts."""
        if self.unplaceable:
            return PLACEMENT_FAILED
        worst = ""
        for each in self.pod_sets:
            if each.mode != Mode.NO_FIT:
                continue
            reasons = [_closest(group) for group in each.attempts] or [NO_MATCHING_FLAVOR]
            worst = max((worst, *reasons), key=lambda reason: _SEVERITY.get(reason, 0))
        return worst or NO_MATCHING_FLAVOR


def _closest(attempts: Sequence[Attempt]) -> str:
    reasons = [
        max((obstacle.reason for obstacle in attempt.obstacles), key=_SEVERITY.__getitem__)
        for attempt in attempts
        if attempt.granular_mode.preemption == PreemptionMode.NO_FIT and attempt.obstacles
    ]
    return min(reasons, key=_SEVERITY.__getitem__, default="")
