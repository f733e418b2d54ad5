"""Which flavors would a workload get? The scan over flavors, pod set by pod set, resource group by resource group.

It decides nothing about victims: whether preemption could help is asked of an `Oracle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from reprieve.objects import (
    NodeSelector,
    NodeSelectorTerm,
    PodSpec,
    ResourceFlavor,
    Taint,
    node_selector_matches,
    tolerates,
)
from reprieve.quota.assignment import (
    BEST,
    WORST,
    Assignment,
    Attempt,
    Choice,
    Mismatch,
    Mode,
    Obstacle,
    Outlook,
    PodSetResult,
    Prospect,
    Shortage,
    TooLarge,
    preferred,
)
from reprieve.quota.demand import PODS, Demand
from reprieve.quota.queue import Group, QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.tree import FlavorResource, Usage

_NO_FIT = Outlook(Prospect.NO_FIT, 0)


class Oracle(Protocol):
    """What preemption could do for one resource of one flavor, and the borrowing height afterwards."""

    def __call__(self, key: FlavorResource, amount: int) -> Outlook: ...


class Nominated(NamedTuple):
    """Flavors that a second look in the same cycle must stay with: {resource: flavor} for each pod set."""

    flavors: Sequence[Mapping[str, str]]


class Assigner:
    """Looks for flavors for the workloads of one queue."""

    __slots__ = ("_flavors", "_oracle", "_queue", "_rules")

    def __init__(
        self, queue: QueueNode, flavors: Mapping[str, ResourceFlavor], rules: Rules, oracle: Oracle
    ) -> None:
        self._queue = queue
        self._flavors = flavors
        self._rules = rules
        self._oracle = oracle

    def assign(
        self,
        demands: Iterable[Demand],
        resume: Sequence[Mapping[str, int]] = (),
        nominated: Nominated | None = None,
    ) -> Assignment:
        """Flavors for all pod sets; later ones are not looked at when one finds none.

        `resume` tells for each pod set and resource the index of the flavor that was tried last.
        """
        if PODS in self._queue.group_of:
            demands = [demand.counting_pods() for demand in demands]
        results: list[PodSetResult] = []
        borrowing, usage = 0, dict[FlavorResource, int]()
        for index, demand in enumerate(demands):
            start = resume[index] if index < len(resume) else {}
            pinned = nominated.flavors[index] if nominated and index < len(nominated.flavors) else None
            result = self._pod_set(demand, start, pinned, usage)
            results.append(result)
            for resource, choice in result.choices.items():
                borrowing = max(borrowing, choice.borrowing)
                key = FlavorResource(choice.flavor, resource)
                usage[key] = usage.get(key, 0) + demand.requests[resource]
            if result.mode == Mode.NO_FIT:
                break
        return Assignment(results, borrowing, usage)

    def _pod_set(
        self, demand: Demand, start: Mapping[str, int], pinned: Mapping[str, str] | None, usage: Usage
    ) -> PodSetResult:
        result = PodSetResult(demand.name, demand.count, demand.requests)
        for resource, amount in demand.requests.items():
            if resource in result.choices:
                continue
            group = self._queue.group_of.get(resource)
            if group is None:
                if amount == 0 or self._rules.ignore_undeclared:
                    continue
                result.choices = {}
                result.obstacles = [Mismatch(f"resource {resource} unavailable in ClusterQueue")]
                break
            flavor = pinned.get(resource) if pinned is not None else None
            scan = _Scan(self, demand, group, usage)
            choices, obstacles = scan.run(resource, start.get(resource, -1) + 1, pinned is not None, flavor)
            result.attempts.append(scan.attempts)
            if not choices:
                result.choices = {}
                result.obstacles = obstacles
                break
            result.choices.update(choices)
            result.obstacles.extend(obstacles)
        return result

    def outlook(self, key: FlavorResource, before: int, request: int) -> tuple[Outlook, Obstacle | None]:
        """Quota for one resource in one flavor, on top of what earlier pod sets take."""
        queue = self._queue
        cell = queue.cell(key)
        total = before + request
        if total > cell.potential:
            return _NO_FIT, TooLarge(key, before, request, cell.potential)
        height, smaller = cell.lowest_fit(total)
        available = cell.available()
        if total <= available:
            return Outlook(Prospect.FIT, height), None
        shortage = Shortage(key, total - available)
        if cell.subtree >= total or smaller or queue.may_preempt_while_borrowing:
            return self._oracle(key, total), shortage
        return Outlook(Prospect.NO_FIT, height), shortage

    def mismatch(self, demand: Demand, flavor: str) -> Mismatch | None:
        return mismatch(demand.spec, flavor, self._flavors.get(flavor))

    @property
    def rules(self) -> Rules:
        return self._rules

    @property
    def queue(self) -> QueueNode:
        return self._queue


class _Scan:
    """One walk over the flavors of a resource group for one pod set."""

    __slots__ = ("_assigner", "_demand", "_group", "_requests", "_usage", "attempts")

    def __init__(self, assigner: Assigner, demand: Demand, group: Group, usage: Usage) -> None:
        self._assigner = assigner
        self._demand = demand
        self._group = group
        self._usage = usage
        self._requests = [(r, n) for r, n in demand.requests.items() if r in group.resources]
        self.attempts: list[Attempt] = []

    def run(
        self, resource: str, start: int, only_pinned: bool, pinned: str | None
    ) -> tuple[dict[str, Choice], list[Obstacle]]:
        """(flavors of the group's resources, what stood in the way); no flavors: none will do."""
        flavors = self._group.flavors
        scan_flavors = self._assigner.rules.scan_flavors
        best: dict[str, tuple[str, Outlook]] = {}
        best_outlook, last = WORST, -1
        obstacles: list[Obstacle] = []
        for index in range(start if scan_flavors else 0, len(flavors)):
            last, flavor = index, flavors[index]
            refused = self._refused(resource, flavor, only_pinned, pinned)
            if refused is not None:
                obstacles.append(refused)
                self.attempts.append(Attempt(flavor, _NO_FIT, (refused,)))
                continue
            outlook, found = self._try(flavor, obstacles)
            if not self._keep_looking(outlook):
                best, best_outlook = found, outlook
                break
            if self._better(outlook, best_outlook):
                best, best_outlook = found, outlook
        tried = -1 if last == len(flavors) - 1 else last
        choices = {
            r: Choice(flavor, outlook.prospect.mode, outlook.borrowing, tried)
            for r, (flavor, outlook) in best.items()
        }
        return choices, [] if best_outlook.prospect == Prospect.FIT else obstacles

    def _refused(self, resource: str, flavor: str, only_pinned: bool, pinned: str | None) -> Mismatch | None:
        if only_pinned and flavor != pinned:
            return Mismatch(
                f"skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}"
            )
        return self._assigner.mismatch(self._demand, flavor)

    def _try(self, flavor: str, obstacles: list[Obstacle]) -> tuple[Outlook, dict[str, tuple[str, Outlook]]]:
        """The flavor as a whole is what its least preferred resource is."""
        preference = self._assigner.queue.preference
        whole = BEST
        found: dict[str, tuple[str, Outlook]] = {}
        own: list[Obstacle] = []
        for resource, request in self._requests:
            key = FlavorResource(flavor, resource)
            outlook, obstacle = self._assigner.outlook(key, self._usage.get(key, 0), request)
            if obstacle is not None:
                own.append(obstacle)
            if preferred(whole, outlook, preference):
                whole = outlook
            if whole.prospect != Prospect.NO_FIT:
                found[resource] = (flavor, outlook)
        obstacles.extend(own)
        self.attempts.append(Attempt(flavor, whole, tuple(own)))
        return whole, found

    def _keep_looking(self, outlook: Outlook) -> bool:
        queue = self._assigner.queue
        prospect, borrowing = outlook
        if prospect <= Prospect.NO_CANDIDATES:
            return True
        if not self._assigner.rules.scan_flavors:
            return prospect != Prospect.FIT
        if prospect != Prospect.FIT and not queue.stop_when_preempting:
            return True
        return borrowing != 0 and not queue.stop_when_borrowing

    def _better(self, outlook: Outlook, best: Outlook) -> bool:
        if not self._assigner.rules.scan_flavors:
            return outlook.prospect > best.prospect
        return preferred(outlook, best, self._assigner.queue.preference)


def mismatch(spec: PodSpec, name: str, flavor: ResourceFlavor | None) -> Mismatch | None:
    """Why pods of this spec cannot use the flavor, or None."""
    if flavor is None:
        return Mismatch(f"flavor {name} not found")
    taint = _untolerated(spec, flavor)
    if taint is not None:
        shown = f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"
        return Mismatch(f"untolerated taint {shown} in flavor {name}")
    if not _selected(spec, flavor.spec.node_labels):
        return Mismatch(f"flavor {name} doesn't match node affinity")
    return None


def _untolerated(spec: PodSpec, flavor: ResourceFlavor) -> Taint | None:
    tolerations = spec.tolerations + flavor.spec.tolerations
    for taint in flavor.spec.node_taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(tolerations, taint):
            return taint
    return None


def _selected(spec: PodSpec, labels: dict[str, str]) -> bool:
    if any(labels.get(key, value) != value for key, value in spec.node_selector.items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    if required is None or not required.node_selector_terms:
        return True
    terms = [_own_part(term, labels) for term in required.node_selector_terms]
    if not all(term.match_expressions for term in terms):
        return True  # terms are alternatives, and one without conditions always holds
    return node_selector_matches(NodeSelector(node_selector_terms=tuple(terms)), labels, "")


def _own_part(term: NodeSelectorTerm, keys: Iterable[str]) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=tuple(e for e in term.match_expressions if e.key in keys))


T = TypeVar("T")


def can_shrink(demands: Sequence[Demand]) -> bool:
    return any(demand.min_count is not None and demand.min_count < demand.count for demand in demands)


def largest_that_works(
    demands: Sequence[Demand], attempt: Callable[[Sequence[Demand]], T | None]
) -> T | None:
    """Shrink all pod sets in proportion, as little as needed; a binary search, so `attempt` should be monotonic."""
    deltas = [
        0 if demand.min_count is None else max(0, demand.count - demand.min_count) for demand in demands
    ]
    total = sum(deltas)
    low, high, best = 0, total + 1, None
    while low < high:
        middle = (low + high) // 2
        reduced = [
            demand.scaled(demand.count - delta * middle // total)
            for demand, delta in zip(demands, deltas, strict=True)
        ]
        found = attempt(reduced)
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    return best
