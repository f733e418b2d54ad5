"""Trees, flavors, checks and the workloads with a reservation, as they come, change and go.

Usage is never recomputed for a decision: a reservation is added to its queue's cells once and taken out once.
Objects whose quota makes no sense are set aside with the reason; the rest of the tree keeps working.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from msgspec.structs import replace

from reprieve.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    FairSharing,
    QuantityError,
    ResourceFlavor,
    ResourceGroup,
    Topology,
    find_condition,
    nano,
    well_known,
)
from reprieve.quota.causes import Cause, Refusal
from reprieve.quota.forest import Forest
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.topology.capacity import Capacity
from reprieve.quota.workload_info import WorkloadInfo


class Cache:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.flavors: dict[str, ResourceFlavor] = {}
        self.capacity = Capacity(rules.topology)
        self.checks: dict[str, AdmissionCheck] = {}
        self.workloads: dict[str, WorkloadInfo] = {}
        """The workloads with a reservation, by key."""
        self.inactive: dict[str, list[Refusal]] = {}
        """For each queue that admits nothing: (reason, message), the most important first."""
        self._forest = Forest(rules)
        self._objects: dict[str, ClusterQueue] = {}

    @property
    def queues(self) -> dict[str, QueueNode]:
        return self._forest.queues

    @property
    def forest(self) -> Forest:
        return self._forest

    def put_flavor(self, flavor: ResourceFlavor) -> None:
        self.flavors[flavor.name] = flavor
        self.capacity.put_flavor(flavor)
        self._review_all()

    def drop_flavor(self, name: str) -> None:
        self.flavors.pop(name, None)
        self.capacity.drop_flavor(name)
        self._review_all()

    def put_topology(self, topology: Topology) -> None:
        self.capacity.put_topology(topology)
        self._review_all()

    def drop_topology(self, name: str) -> None:
        self.capacity.drop_topology(name)
        self._review_all()

    def put_check(self, check: AdmissionCheck) -> None:
        self.checks[check.name] = check
        self._review_all()

    def drop_check(self, name: str) -> None:
        self.checks.pop(name, None)
        self._review_all()

    def put_cohort(self, cohort: Cohort) -> None:
        if _cohort_problems(cohort):
            cohort = replace(cohort, spec=replace(cohort.spec, resource_groups=(), fair_sharing=None))
        self._forest.put_cohort(cohort)

    def drop_cohort(self, name: str) -> None:
        self._forest.drop_cohort(name)

    def put_queue(self, queue: ClusterQueue) -> None:
        fresh = queue.name not in self._objects
        self._objects[queue.name] = queue
        if _queue_problems(queue):
            queue = replace(queue, spec=replace(queue.spec, resource_groups=(), fair_sharing=None))
        node = self._forest.put_queue(queue)
        if fresh:
            for info in self.workloads.values():
                if info.queue == queue.name:
                    self._charge(info, node)
        self._review(queue.name)

    def drop_queue(self, name: str) -> None:
        node = self.queues.get(name)
        if node is not None:
            for info in list(node.workloads):
                self._refund(info, node)
        self._objects.pop(name, None)
        self.inactive.pop(name, None)
        self._forest.drop_queue(name)

    def reserve(self, info: WorkloadInfo) -> None:
        """Count the workload's reservation, in place of an older state of the same workload."""
        self.release(info.key)
        self.workloads[info.key] = info
        node = self.queues.get(info.queue)
        if node is not None:
            self._charge(info, node)

    def release(self, key: str) -> WorkloadInfo | None:
        info = self.workloads.pop(key, None)
        if info is not None and info.queue in self.queues:
            node = self.queues[info.queue]
            self._refund(info, node)
            node.generation += 1
        return info

    def refresh(self) -> None:
        """Bring trees and the activity of queues up to date after changes of objects."""
        while self._forest.is_stale:
            for name in self._forest.refresh():
                self._review(name)

    def recount(self) -> None:
        """Count all reservations anew: a decision that failed half-way leaves its suppositions behind."""
        for node in self.queues.values():
            for cell in node.cells.values():
                cell.usage = 0
            for info in node.workloads:
                info.away = False
                for key, amount in info.usage.items():
                    node.cell(key).usage += amount
        self.capacity.recount()
        self._forest.touch_all()
        self.refresh()

    def _charge(self, info: WorkloadInfo, node: QueueNode) -> None:
        node.workloads.add(info)
        for key, amount in info.usage.items():
            node.cell(key).add(amount)
        if info.held:
            self.capacity.reserve(info.key, info.held)

    def _refund(self, info: WorkloadInfo, node: QueueNode) -> None:
        node.workloads.remove(info)
        for key, amount in info.usage.items():
            node.cell(key).remove(amount)
        if info.held:
            self.capacity.release(info.key)

    def _review_all(self) -> None:
        for name in self._objects:
            self._review(name)

    def _review(self, name: str) -> None:
        """Decide whether the queue may admit; an inactive one still lends its quota."""
        reasons = self._reasons(self._objects[name])
        self.inactive.pop(name, None)
        if reasons:
            self.inactive[name] = reasons
        node = self.queues[name]
        if node.active == bool(reasons):
            node.active = not reasons
            self._forest.touch(name)

    def _reasons(self, queue: ClusterQueue) -> list[Refusal]:
        found = _queue_problems(queue)
        if queue.spec.stop_policy not in ("", "None"):
            found.append(Refusal(Cause.STOPPED))
        flavors = _missing((f.name for g in queue.spec.resource_groups for f in g.flavors), self.flavors)
        if flavors:
            found.append(Refusal(Cause.FLAVORS_MISSING, (flavors,)))
        checks = [rule.name for rule in queue.spec.admission_checks_strategy.admission_checks]
        missing = _missing(checks, self.checks)
        if missing:
            found.append(Refusal(Cause.CHECKS_MISSING, (missing,)))
        asleep = tuple(sorted(c for c in checks if c in self.checks and not _is_active(self.checks[c])))
        if asleep:
            found.append(Refusal(Cause.CHECKS_INACTIVE, (asleep,)))
        found += self._missing_topologies(queue, checks)
        if queue.name in self._forest.circular:
            found.append(Refusal(Cause.COHORT_CYCLE, (queue.spec.cohort_name,)))
        return found

    def _missing_topologies(self, queue: ClusterQueue, checks: list[str]) -> Iterator[Refusal]:
        """A manager of other clusters needs no topologies: the others place."""
        if any(
            check in self.checks
            and self.checks[check].spec.controller_name == well_known.MULTIKUEUE_CONTROLLER
            for check in checks
        ):
            return
        for group in queue.spec.resource_groups:
            for flavor in group.flavors:
                if topology := self.capacity.missing_topology(flavor.name):
                    yield Refusal(Cause.TOPOLOGY_MISSING, (topology, flavor.name))


def _missing(names: Iterable[str], known: Container[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name not in known}))


def _is_active(check: AdmissionCheck) -> bool:
    condition = find_condition(check.status.conditions, well_known.ACTIVE)
    return condition is not None and condition.status == "True"


def _queue_problems(queue: ClusterQueue) -> list[Refusal]:
    """Why the ClusterQueue can neither admit nor lend; empty when it can."""
    return [*_group_problems(queue.spec.resource_groups), *_weight_problems(queue.spec.fair_sharing)]


def _cohort_problems(cohort: Cohort) -> list[Refusal]:
    """Why the Cohort's own quota does not count; empty when it does."""
    return [*_group_problems(cohort.spec.resource_groups), *_weight_problems(cohort.spec.fair_sharing)]


def _group_problems(groups: Iterable[ResourceGroup]) -> Iterator[Refusal]:
    home: dict[str, int] = {}
    for index, group in enumerate(groups):
        for flavor in group.flavors:
            path = f"spec.resourceGroups[{index}].flavors[{flavor.name}]"
            if home.setdefault(flavor.name, index) != index:
                yield Refusal(Cause.FLAVOR_IN_TWO_GROUPS, (path, flavor.name, home[flavor.name]))
            for quota in flavor.resources:
                place = f"{path}.resources[{quota.name}]"
                if quota.name not in group.covered_resources:
                    yield Refusal(Cause.RESOURCE_NOT_COVERED, (place, quota.name))
                yield from _amount_problems(f"{place}.nominalQuota", quota.nominal_quota)
                if quota.borrowing_limit is not None:
                    yield from _amount_problems(f"{place}.borrowingLimit", quota.borrowing_limit)
                if quota.lending_limit is not None:
                    yield from _amount_problems(f"{place}.lendingLimit", quota.lending_limit)


def _weight_problems(fair_sharing: FairSharing | None) -> Iterator[Refusal]:
    return _amount_problems("spec.fairSharing.weight", fair_sharing.weight if fair_sharing else "1")


def _amount_problems(path: str, quantity: str | int | float) -> Iterator[Refusal]:
    try:
        if nano(quantity) < 0:
            yield Refusal(Cause.NEGATIVE_AMOUNT, (path, str(quantity)))
    except QuantityError as error:
        yield Refusal(Cause.UNREADABLE_AMOUNT, (path, str(error)))
