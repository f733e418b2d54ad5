"""A ClusterQueue as the rules use it: a leaf of the tree with its policies compiled and its workloads in victim order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reprieve.objects import ClusterQueue, FairSharing, ResourceGroup, exact
from reprieve.quota.amounts import quota_amount
from reprieve.quota.rules import Rules
from reprieve.quota.tree import FlavorResource, Limits, Node
from reprieve.quota.victims.roster import Roster

NEVER = "Never"
LOWER_PRIORITY = "LowerPriority"
LOWER_OR_NEWER_EQUAL = "LowerOrNewerEqualPriority"
ANY = "Any"


class Group(NamedTuple):
    """Resources that get their flavor together, and the flavors in the order of preference."""

    resources: frozenset[str]
    flavors: tuple[str, ...]


class QueueNode(Node):
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
        "roster",
        "spec",
        "stop_when_borrowing",
        "stop_when_preempting",
        "strict",
        "within_policy",
    )

    def __init__(self, queue: ClusterQueue, rules: Rules) -> None:
        super().__init__(queue.name)
        self.roster = Roster()
        self.generation = 0
        """Grows when quota of the tree changes or a workload leaves the queue: a reason to scan flavors anew."""
        self.active = True
        self.configure(queue, rules)

    def configure(self, queue: ClusterQueue, rules: Rules) -> None:
        spec = self.spec = queue.spec
        self.limits = limits_of(spec.resource_groups)
        self.weight = weight_of(spec.fair_sharing)
        self.strict = spec.queueing_strategy == "StrictFIFO"
        self.group_of = _group_of(spec.resource_groups)
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
        return all(amount <= self.cell(key).available() for key, amount in usage.items())


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


def _group_of(groups: Iterable[ResourceGroup]) -> dict[str, Group]:
    """The first group that covers a resource counts."""
    found: dict[str, Group] = {}
    for each in groups:
        group = Group(frozenset(each.covered_resources), tuple(flavor.name for flavor in each.flavors))
        for name in each.covered_resources:
            found.setdefault(name, group)
    return found
