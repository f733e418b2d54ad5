"""Which flavors would a workload get? The flavor scan, for each pod set and each resource group of its queue.

It knows nothing about victims: an `Oracle` says whether preemption could help.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from reprieve.objects import (
    Admission,
    ResourceFlavor,
    amount,
    expanded,
)
from reprieve.quota.assignment import (
    BEST,
    WORST,
    Assignment,
    Attempt,
    Choice,
    GranularMode,
    Mismatch,
    Mode,
    Obstacle,
    PodSetResult,
    PreemptionMode,
    Shortage,
    TooLarge,
    preferred,
)
from reprieve.quota.causes import Cause
from reprieve.quota.demand import PODS, Demand, in_order
from reprieve.quota.flavor_match import static_mismatch
from reprieve.quota.queue import FlavorGroup, QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.tree import FlavorResource, Usage, flavor_resource

_NO_FIT = GranularMode(PreemptionMode.NO_FIT, 0)


class Oracle(Protocol):
    """What preemption could do for one resource of one flavor, and the borrowing height afterwards."""

    def __call__(self, key: FlavorResource, amount: int) -> GranularMode: ...


class TopologyPart(Protocol):
    """What topology has to say about flavors and about an assignment."""

    def mismatch(
        self, demand: Demand, flavor: ResourceFlavor, covered: Collection[str]
    ) -> Mismatch | None: ...

    def is_topology_flavor(self, flavor: str) -> bool: ...

    def complete(self, assignment: Assignment) -> None: ...


PinnedFlavors = Mapping[str, Mapping[str, str]]
"""Flavors that a second look in the same cycle must keep: {pod set: {resource: flavor}}."""
_NOTHING_PINNED: PinnedFlavors = {}
Members = Sequence[tuple[int, Demand]]
"""Pod sets that get their flavors together, with their places in the workload."""


class FlavorAssigner:
    """Finds flavors for the workloads of one queue."""

    __slots__ = ("_flavors", "_oracle", "_topology", "queue", "replaced", "rules")

    def __init__(
        self,
        queue: QueueNode,
        flavors: Mapping[str, ResourceFlavor],
        rules: Rules,
        oracle: Oracle,
        topology: TopologyPart | None = None,
        replaced: Admission | None = None,
    ) -> None:
        self.queue = queue
        self._flavors = flavors
        self.rules = rules
        self._oracle = oracle
        self._topology = topology
        self.replaced = None if replaced is None else {a.name: a for a in replaced.pod_set_assignments}
        """What the slice has whose place this workload takes: only the difference is asked for."""

    def assign(
        self,
        demands: Iterable[Demand],
        resume: Sequence[Mapping[str, int]] = (),
        pinned: PinnedFlavors = _NOTHING_PINNED,
    ) -> Assignment:
        """Flavors for all pod sets; stops at the first pod set without any.

        `resume` has for each pod set and resource the index of the flavor that was tried last.
        """
        if PODS in self.queue.group_of:
            demands = [demand.counting_pods() for demand in demands]
        results: list[PodSetResult] = []
        borrowing = 0
        usage: Usage = {}
        for members in _groups(demands):
            first = members[0][0]
            start = resume[first] if first < len(resume) else {}
            group = self._group(members, start, pinned, usage)
            results += group
            for result in group:
                for resource, choice in result.choices.items():
                    if choice.borrowing > borrowing:
                        borrowing = choice.borrowing
                    key = flavor_resource(choice.flavor, resource)
                    wanted = result.requests.get(resource, 0)
                    if self.replaced is not None:
                        wanted -= self.had(result.name, resource)
                    usage[key] = usage.get(key, 0) + wanted
            if Mode.NO_FIT in [result.mode for result in group]:
                return Assignment(results, borrowing, usage)
        found = Assignment(results, borrowing, usage)
        if self._topology is not None:
            self._topology.complete(found)
        return found

    def had(self, pod_set: str, resource: str) -> int:
        """What the replaced slice has of it."""
        old = self.replaced.get(pod_set) if self.replaced is not None else None
        quantity = old.resource_usage.get(resource) if old is not None else None
        return 0 if quantity is None else amount(resource, quantity)

    def _group(
        self, members: Members, start: Mapping[str, int], pinned: PinnedFlavors, usage: Usage
    ) -> list[PodSetResult]:
        """Flavors of pod sets that get them together; one alone is a group, too."""
        first = members[0][1]
        if len(members) == 1 and first.topology is None and first.held is None:
            alone = PodSetResult(first.name, first.count, first.requests)
            self._scan(alone, members, start, pinned, usage)
            return [alone]
        requests = first.requests
        if len(members) > 1:
            requests = _sum(demand.requests for _, demand in members)
        whole = PodSetResult("", 0, requests)
        for _, demand in members:
            if demand.held is not None:
                for resource, flavor in demand.held.flavors.items():
                    whole.choices[resource] = Choice(flavor, Mode.FIT, 0, -1)
        self._scan(whole, members, start, pinned, usage)
        return [self._member(demand, whole) for _, demand in members]

    def _member(self, demand: Demand, whole: PodSetResult) -> PodSetResult:
        """The part of a group's flavors that the pod set requests; without requests, those with a place."""
        group = demand.topology.pod_set_group_name if demand.topology is not None else None
        result = PodSetResult(demand.name, demand.count, demand.requests, group)
        result.obstacles = list(whole.obstacles)
        result.attempts = whole.attempts
        if demand.requests:
            result.choices = {r: choice for r, choice in whole.choices.items() if r in demand.requests}
        elif group is not None and self._topology is not None:
            result.choices = {
                r: choice
                for r, choice in whole.choices.items()
                if self._topology.is_topology_flavor(choice.flavor)
            }
        if demand.held is not None:
            held = demand.held
            result.delayed = held.delayed_topology_request
            if held.topology_assignment is not None:
                result.placement = expanded(held.topology_assignment)
        return result

    def _scan(
        self,
        result: PodSetResult,
        members: Members,
        start: Mapping[str, int],
        pinned: PinnedFlavors,
        usage: Usage,
    ) -> None:
        for resource, wanted in result.requests.items():
            if resource in result.choices:
                continue
            group = self.queue.group_of.get(resource)
            if group is None:
                if wanted == 0 or self.rules.ignore_undeclared:
                    continue
                result.choices = {}
                missing = Mismatch(Cause.RESOURCE_UNAVAILABLE, (resource,), resource=resource)
                result.obstacles = [missing]
                break
            flavors = {pinned.get(demand.name, {}).get(resource) for _, demand in members} if pinned else None
            scan = _Scan(self, members, result.requests, group, usage)
            choices, obstacles = scan.run(resource, start.get(resource, -1) + 1, flavors)
            result.attempts.append(scan.attempts)
            if not choices:
                result.choices = {}
                result.obstacles = obstacles
                break
            result.choices.update(choices)
            result.obstacles.extend(obstacles)

    def granular_mode(
        self, key: FlavorResource, before: int, request: int
    ) -> tuple[GranularMode, Obstacle | None]:
        """Quota for one resource in one flavor, on top of what earlier pod sets take."""
        queue = self.queue
        cell = queue.cell(key)
        total = before + request
        if total > cell.potential:
            return _NO_FIT, TooLarge(key, before, request, cell.potential)
        height, smaller = cell.lowest_fit(total)
        available = cell.available()
        if total <= available:
            return (GranularMode(PreemptionMode.FIT, height) if height else BEST), None
        shortage = Shortage(key, total - available)
        if cell.subtree >= total or smaller or queue.may_preempt_while_borrowing:
            return self._oracle(key, total), shortage
        return GranularMode(PreemptionMode.NO_FIT, height), shortage

    def mismatch(self, members: Members, flavor: str, group: FlavorGroup) -> Mismatch | None:
        known = self._flavors.get(flavor)
        for _, demand in members:
            found = None
            if self._topology is not None and known is not None:
                found = self._topology.mismatch(demand, known, group.resources)
            found = found or static_mismatch(demand.spec, flavor, known)
            if found is not None:
                return found
        return None


class _Scan:
    """One walk over the flavors of a resource group for one pod set."""

    __slots__ = ("_assigner", "_group", "_members", "_requests", "_usage", "attempts")

    def __init__(
        self,
        assigner: FlavorAssigner,
        members: Members,
        requests: Mapping[str, int],
        group: FlavorGroup,
        usage: Usage,
    ) -> None:
        self._assigner = assigner
        self._members = members
        self._group = group
        self._usage = usage
        self._requests = [(r, n) for r, n in requests.items() if r in group.resources]
        self.attempts: list[Attempt] = []

    def run(
        self, resource: str, start: int, pinned: Collection[str | None] | None
    ) -> tuple[dict[str, Choice], list[Obstacle]]:
        """(flavors of the group's resources, what stood in the way); no flavors when none fits."""
        flavors = self._group.flavors
        scan_flavors = self._assigner.rules.scan_flavors
        best: dict[str, tuple[str, GranularMode]] = {}
        best_mode, last = WORST, -1
        obstacles: list[Obstacle] = []
        for index in range(start if scan_flavors else 0, len(flavors)):
            last, flavor = index, flavors[index]
            refused = self._refused(resource, flavor, pinned)
            if refused is not None:
                obstacles.append(refused)
                self.attempts.append(Attempt(flavor, _NO_FIT, (refused,)))
                continue
            granular_mode, found = self._try(flavor, obstacles)
            if not self._keep_looking(granular_mode):
                best, best_mode = found, granular_mode
                break
            if self._better(granular_mode, best_mode):
                best, best_mode = found, granular_mode
        tried = -1 if last == len(flavors) - 1 else last
        choices = {
            r: Choice(flavor, granular_mode.preemption.mode, granular_mode.borrowing, tried)
            for r, (flavor, granular_mode) in best.items()
        }
        return choices, [] if best_mode.preemption == PreemptionMode.FIT else obstacles

    def _refused(self, resource: str, flavor: str, pinned: Collection[str | None] | None) -> Mismatch | None:
        if pinned is not None and flavor not in pinned:
            return Mismatch(Cause.FLAVOR_NOT_NOMINATED, (flavor, resource))
        return self._assigner.mismatch(self._members, flavor, self._group)

    def _try(
        self, flavor: str, obstacles: list[Obstacle]
    ) -> tuple[GranularMode, dict[str, tuple[str, GranularMode]]]:
        """The mode of a flavor is that of its least preferred resource."""
        preference = self._assigner.queue.preference
        whole = BEST
        found: dict[str, tuple[str, GranularMode]] = {}
        own: list[Obstacle] = []
        for resource, request in self._requests:
            key = flavor_resource(flavor, resource)
            if self._assigner.replaced is not None:
                other = self._other_flavor(resource, flavor)
                if other is not None:
                    whole = _NO_FIT
                    own.append(other)
                request -= sum(self._assigner.had(demand.name, resource) for _, demand in self._members)
            granular_mode, obstacle = self._assigner.granular_mode(key, self._usage.get(key, 0), request)
            if obstacle is not None:
                own.append(obstacle)
            if granular_mode is not whole and preferred(whole, granular_mode, preference):
                whole = granular_mode
            if whole.preemption != PreemptionMode.NO_FIT:
                found[resource] = (flavor, granular_mode)
        obstacles.extend(own)
        self.attempts.append(Attempt(flavor, whole, tuple(own)))
        return whole, found

    def _other_flavor(self, resource: str, flavor: str) -> Mismatch | None:
        """A slice that takes another's place keeps its flavors."""
        for _, demand in self._members:
            old = (self._assigner.replaced or {}).get(demand.name)
            before = old.flavors.get(resource, "") if old is not None else ""
            if before != flavor:
                return Mismatch(Cause.FLAVOR_DIFFERS, (flavor, before), flavor)
        return None

    def _keep_looking(self, granular_mode: GranularMode) -> bool:
        queue = self._assigner.queue
        preemption, borrowing = granular_mode
        if preemption <= PreemptionMode.NO_CANDIDATES and not self._stops_without_candidates(preemption):
            return True
        if not self._assigner.rules.scan_flavors:
            return preemption != PreemptionMode.FIT
        if preemption != PreemptionMode.FIT and not queue.stop_when_preempting:
            return True
        return borrowing != 0 and not queue.stop_when_borrowing

    def _stops_without_candidates(self, preemption: PreemptionMode) -> bool:
        return preemption == PreemptionMode.NO_CANDIDATES and self._assigner.rules.stop_without_candidates

    def _better(self, granular_mode: GranularMode, best: GranularMode) -> bool:
        if not self._assigner.rules.scan_flavors:
            return granular_mode.preemption > best.preemption
        return preferred(granular_mode, best, self._assigner.queue.preference)


def _groups(demands: Iterable[Demand]) -> list[list[tuple[int, Demand]]]:
    listed = list(demands)
    if len(listed) == 1:
        return [[(0, listed[0])]]
    found: dict[object, list[tuple[int, Demand]]] = {}
    for index, demand in enumerate(listed):
        group = demand.topology.pod_set_group_name if demand.topology is not None else None
        found.setdefault(index if group is None else group, []).append((index, demand))
    return list(found.values())


def _sum(requests: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in requests:
        for resource, number in each.items():
            found[resource] = found.get(resource, 0) + number
    return in_order(found)
