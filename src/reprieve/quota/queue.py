"""A ClusterQueue as the rules use it: a leaf of the quota tree, with policies and ranked workloads."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from reprieve.objects import ClusterQueue, FairSharing, Quantity, ResourceGroup, amount, exact
from reprieve.quota.rules import Rules
from reprieve.quota.tree import UNLIMITED, FlavorResource, Limits, QuotaNode

if TYPE_CHECKING:
    from reprieve.quota.workload_info import WorkloadInfo

NEVER = "Never"
USAGE_BASED = "UsageBasedAdmissionFairSharing"
LOWER_PRIORITY = "LowerPriority"
LOWER_OR_NEWER_EQUAL = "LowerOrNewerEqualPriority"
ANY = "Any"
_MOST_MILLI = UNLIMITED // 1000 * 1000
"""From this many thousandths of a core on, cpu is unlimited."""

Ranked = tuple[int, float, str, str, "WorkloadInfo"]
"""A workload behind its rank. Ranks are unique, so workloads are never compared."""


class FlavorGroup(NamedTuple):
    """Resources that get their flavor together, and the flavors in the order of preference."""

    resources: frozenset[str]
    flavors: tuple[str, ...]


class QueueNode(QuotaNode):
    """A leaf of the tree."""

    __slots__ = (
        "active",
        "borrow_policy",
        "borrow_threshold",
        "generation",
        "group_of",
        "may_preempt_while_borrowing",
        "preference",
        "reclaim_policy",
        "spec",
        "stop_when_borrowing",
        "stop_when_preempting",
        "strict",
        "usage_based",
        "within_policy",
        "workloads",
    )

    def __init__(self, queue: ClusterQueue, rules: Rules) -> None:
        super().__init__(queue.name)
        self.workloads = RankedWorkloads()
        self.generation = 0
        """Grows when the tree's quota changes or a workload leaves: a reason to scan flavors again."""
        self.active = True
        self.configure(queue, rules)

    def configure(self, queue: ClusterQueue, rules: Rules) -> None:
        spec = self.spec = queue.spec
        self.limits = limits_of(spec.resource_groups)
        self.weight = weight_of(spec.fair_sharing)
        self.strict = spec.queueing_strategy == "StrictFIFO"
        self.group_of = _group_of(spec.resource_groups)
        scope = spec.admission_scope
        self.usage_based = (
            rules.usage is not None and scope is not None and scope.admission_mode == USAGE_BASED
        )
        """LocalQueues that used less go first, and those that used more make way first."""
        fungibility = spec.flavor_fungibility
        self.stop_when_borrowing = fungibility.when_can_borrow != "TryNextFlavor"
        self.stop_when_preempting = fungibility.when_can_preempt not in ("", "TryNextFlavor")
        self.preference = fungibility.preference
        policy = spec.preemption
        self.within_policy = policy.within_cluster_queue or NEVER
        self.reclaim_policy = policy.reclaim_within_cohort or NEVER
        self.borrow_policy = policy.borrow_within_cohort.policy or NEVER
        self.borrow_threshold = policy.borrow_within_cohort.max_priority_threshold
        self.may_preempt_while_borrowing = self.borrow_policy != NEVER or (
            rules.fair_sharing and self.reclaim_policy != NEVER
        )

    @property
    def full_path(self) -> str:
        """`/root/…/cohort/queue`, as messages show it."""
        cohorts = [cohort.name for cohort in self.path()]
        return "/" + "/".join([*reversed(cohorts), self.name])

    def fits(self, usage: Mapping[FlavorResource, int]) -> bool:
        for key, wanted in usage.items():  # noqa: SIM110 - asked of every entry of every cycle
            if wanted > self.cell(key).available():
                return False
        return True


class RankedWorkloads:
    """The workloads with a reservation in one queue, in the order in which they would be preempted.

    For each flavor's resource there are two sorted lists: evicted workloads, and the others. A workload is
    in the list of everything it uses. Adding and removing keep the order, so that a decision reads a few
    heads instead of sorting.
    """

    __slots__ = ("evicted", "running", "workloads")

    def __init__(self) -> None:
        self.workloads: dict[str, WorkloadInfo] = {}
        self.evicted: dict[FlavorResource, list[Ranked]] = {}
        self.running: dict[FlavorResource, list[Ranked]] = {}

    def __iter__(self) -> Iterator[WorkloadInfo]:
        return iter(self.workloads.values())

    def add(self, info: WorkloadInfo) -> None:
        self.workloads[info.key] = info
        lists = self.evicted if info.evicted else self.running
        item: Ranked = (*info.rank, info)
        for key in info.usage:
            insort(lists.setdefault(key, []), item)

    def remove(self, info: WorkloadInfo) -> None:
        del self.workloads[info.key]
        lists = self.evicted if info.evicted else self.running
        for key in info.usage:
            ranked = lists[key]
            del ranked[bisect_left(ranked, info.rank)]
            if not ranked:
                del lists[key]

    def using(self, keys: Collection[FlavorResource], evicted: bool) -> Iterable[Ranked]:
        """Workloads that use at least one of the keys, in order."""
        lists = self.evicted if evicted else self.running
        found = [lists[key] for key in keys if key in lists]
        if len(found) < 2:
            return found[0] if found else ()
        return _unique(merge(*found))


def _unique(items: Iterable[Ranked]) -> Iterator[Ranked]:
    last = None
    for item in items:
        if item[-1] is not last:
            last = item[-1]
            yield item


def limits_of(groups: Iterable[ResourceGroup]) -> dict[FlavorResource, Limits]:
    return {
        FlavorResource(flavor.name, quota.name): Limits(
            quota_amount(quota.name, quota.nominal_quota),
            None if quota.borrowing_limit is None else quota_amount(quota.name, quota.borrowing_limit),
            None if quota.lending_limit is None else quota_amount(quota.name, quota.lending_limit),
        )
        for group in groups
        for flavor in group.flavors
        for quota in flavor.resources
    }


def weight_of(fair_sharing: FairSharing | None) -> float:
    return 1.0 if fair_sharing is None else float(exact(fair_sharing.weight))


def _group_of(groups: Iterable[ResourceGroup]) -> dict[str, FlavorGroup]:
    """The first group that covers a resource counts."""
    found: dict[str, FlavorGroup] = {}
    for each in groups:
        group = FlavorGroup(frozenset(each.covered_resources), tuple(flavor.name for flavor in each.flavors))
        for name in each.covered_resources:
            found.setdefault(name, group)
    return found


def quota_amount(resource: str, quantity: Quantity) -> int:
    """A quota as the tree computes with it: cpu in thousandths, everything else in whole units."""
    number = amount(resource, quantity)
    if resource == "cpu" and number >= _MOST_MILLI:
        return UNLIMITED
    return number
