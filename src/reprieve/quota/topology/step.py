"""The part that topology has in an assignment: after quota has chosen the flavors, are there domains?

1. quota says no: nothing is placed
2. quota fits: place with the current usage; if that fails, preemption may help
3. preemption may help: place as if no workload held anything; if that fails too, nothing helps

A placement never takes part in the choice of a flavor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reprieve.objects import (
    AdmissionCheck,
    Placement,
    PodSpec,
    ResourceFlavor,
    Workload,
    expanded,
    well_known,
)
from reprieve.quota import sentences
from reprieve.quota.assignment import Assignment, Mismatch, Mode, PodSetResult, Unplaced
from reprieve.quota.causes import Cause
from reprieve.quota.demand import Demand
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import TopologyRules
from reprieve.quota.topology.capacity import Capacity, QueueTopology
from reprieve.quota.topology.held import Held
from reprieve.quota.topology.parameters import has_levels
from reprieve.quota.topology.wish import Wish, Wishes, lost_nodes
from reprieve.quota.workload_info import WorkloadInfo, is_true

if TYPE_CHECKING:
    from reprieve.quota.topology.placing import Limit
    from reprieve.quota.topology.workload_placing import WorkloadPlacer

PENDING, READY = "Pending", "Ready"


def is_elastic(workload: Workload) -> bool:
    return workload.metadata.annotations.get(well_known.ELASTIC_JOB_ANNOTATION) == "true"


def has_unhealthy_node(workload: Workload) -> bool:
    """Whether pods of an admitted workload were sent to a node that failed."""
    failed = {node.name for node in workload.status.unhealthy_nodes}
    if not failed or workload.status.admission is None or not is_true(workload, well_known.ADMITTED):
        return False
    return any(
        domain.values and domain.values[-1] in failed
        for each in workload.status.admission.pod_set_assignments
        if each.topology_assignment is not None
        for domain in expanded(each.topology_assignment).domains
    )


def _most(flavor: str, limit: Limit) -> str:
    if not limit.level:
        return sentences.topology_could_hold_only(flavor, limit.pods, limit.wanted)
    return sentences.no_domain_could_hold(flavor, limit.level, limit.largest, limit.pods, limit.wanted)


def needs_second_pass(workload: Workload) -> bool:
    """Has quota, and is to be placed now: its checks are ready, or one of its nodes failed."""
    if not workload.status.unhealthy_nodes and not workload.topology_pending:
        return False
    if not is_true(workload, well_known.QUOTA_RESERVED) or any(
        is_true(workload, type) for type in (well_known.FINISHED, well_known.EVICTED)
    ):
        return False
    checks = workload.status.admission_checks
    delayed = (
        bool(checks)
        and all(check.state == well_known.READY for check in checks)
        and workload.topology_pending
        and not is_true(workload, well_known.ADMITTED)
    )
    return delayed or has_unhealthy_node(workload)


class TopologyStep:
    """For one workload in one queue, on the capacity as it is when asked."""

    def __init__(
        self,
        info: WorkloadInfo,
        queue: QueueNode,
        capacity: Capacity,
        rules: TopologyRules,
        checks: Mapping[str, AdmissionCheck],
        replaced: WorkloadInfo | None,
    ) -> None:
        self._info = info
        self._queue = queue
        self._capacity = capacity
        self._rules = rules
        self._checks = checks
        self._replaced = replaced
        self._queue_topology: QueueTopology = capacity.of_queue(queue)
        self._known_placer: WorkloadPlacer | None = None

    @property
    def _placer(self) -> WorkloadPlacer:
        if self._known_placer is None:
            from reprieve.quota.topology.workload_placing import WorkloadPlacer

            workload = self._info.workload
            self._known_placer = WorkloadPlacer(
                workload,
                self._capacity.columns,
                self._rules,
                self._rules.keep_single_pods and _owned_by_one_pod(workload),
                self._capacity.seen(self._info.uid),
            )
        return self._known_placer

    # --- which flavors ------------------------------------------------------------------------------

    def mismatch(self, demand: Demand, flavor: ResourceFlavor, covered: Collection[str]) -> Mismatch | None:
        """Why the pods may not use the flavor. Levels count here; whether there is room does not."""
        name = flavor.name
        if not _asks(demand):
            if self._queue_topology.only or not flavor.spec.topology_name:
                return None
            return Mismatch(Cause.FLAVOR_NEEDS_TOPOLOGY, (name,), name)
        if not flavor.spec.topology_name:
            if not any(resource in covered for resource in demand.single):
                return None
            return Mismatch(Cause.FLAVOR_HAS_NO_TOPOLOGY, (name,), name)
        if name not in self._queue_topology.flavors:
            return Mismatch(Cause.FLAVOR_TOPOLOGY_UNKNOWN, (name,), name)
        if demand.topology is None or not has_levels(demand.topology, self._capacity.levels(name)):
            return Mismatch(Cause.FLAVOR_LACKS_LEVEL, (name,), name)
        return None

    def is_topology_flavor(self, flavor: str) -> bool:
        return flavor in self._queue_topology.flavors

    # --- the placement ------------------------------------------------------------------------------

    def complete(self, assignment: Assignment) -> None:
        """Place what quota allows, and correct the mode."""
        if assignment.mode == Mode.NO_FIT:
            return
        wishes = self._wishes(assignment)
        if assignment.mode == Mode.FIT:
            placed = self._placer.place(wishes, explain=True)
            if placed.failure is None:
                self._store(assignment, placed.placements)
            else:
                name = placed.failure.wish.name
                assignment.pod_set(name).obstacles.append(Unplaced(placed.failure.text))
                assignment.set_mode(name, Mode.PREEMPT)
        if assignment.mode == Mode.PREEMPT and not lost_nodes(self._info.workload):
            placed = self._placer.place(wishes, empty=True)
            if placed.failure is None:
                for each in _all(wishes):
                    assignment.set_mode(each.name, Mode.PREEMPT)
            else:
                assignment.set_mode(placed.failure.wish.name, Mode.NO_FIT)
                assignment.unplaceable = True

    def vain(self, assignment: Assignment) -> list[str]:
        """What to tell somebody whose pods no domain could hold, whoever left."""
        if not assignment.unplaceable:
            return []
        return [_most(flavor, limit) for flavor, limit in self._placer.limits(self._wishes(assignment))]

    def fits(self, assignment: Assignment) -> Callable[[], bool] | None:
        """Whether the workload has domains on the capacity as it is when called; None: it needs none."""
        wishes = self._wishes(assignment)
        if not wishes:
            return None
        placer = self._placer
        return lambda: placer.possible(wishes)

    def plan(self, assignment: Assignment, victims: Iterable[tuple[Held, ...]]) -> None:
        """For a workload that preempts: its domains once the victims are gone, or on an empty cluster."""
        if assignment.mode != Mode.PREEMPT or has_unhealthy_node(self._info.workload):
            return
        if not self._queue_topology.only and not any(_asks(demand) for demand in self._info.demands):
            return
        wishes = self._wishes(assignment)
        leaving = list(victims)
        for held in leaving:
            self._capacity.suppose(held, -1)
        placed = self._placer.place(wishes, empty=not leaving)
        for held in leaving:
            self._capacity.suppose(held, 1)
        self._store(assignment, placed.placements)

    def _store(self, assignment: Assignment, placements: Mapping[str, Placement]) -> None:
        for name, placement in placements.items():
            result = assignment.pod_set(name)
            result.placement = placement
            if result.delayed is not None:
                result.delayed = READY

    def _wishes(self, assignment: Assignment) -> Wishes:
        found: dict[str, list[Wish]] = {}
        for demand in self._info.demands:
            result = assignment.find_pod_set(demand.name)
            if result is None or result.error or not result.count:
                continue
            if not _asks(demand) and not self._queue_topology.only:
                continue
            if result.placement is not None and not self._hit(result.placement):
                continue
            wish = self._wish(demand, result)
            if isinstance(wish, str):
                assignment.fail(result, wish)
            elif wish is not None:
                found.setdefault(wish.flavor, []).append(wish)
        return found

    def _hit(self, placement: Placement) -> bool:
        failed = {node.name for node in self._info.workload.status.unhealthy_nodes}
        return any(domain.values[-1] in failed for domain in placement.domains)

    def _wish(self, demand: Demand, result: PodSetResult) -> Wish | str | None:
        """What to place; or a sentence that says why it cannot be placed; or nothing, for now."""
        previous = result.placement
        if is_elastic(self._info.workload) and self._rules.elastic:
            request = demand.topology
            if request is not None and request.required is not None:
                return sentences.REQUIRED_AND_ELASTIC
            if request is not None and request.preferred is not None:
                return sentences.PREFERRED_AND_ELASTIC
            previous = previous or self._previous(demand.name)
        if not self._queue_topology.flavors:
            return sentences.NO_TOPOLOGY_KNOWN
        flavors = sorted(
            {c.flavor for c in result.choices.values() if c.flavor in self._queue_topology.flavors}
        )
        if not flavors:
            return sentences.NO_TOPOLOGY_FLAVOR
        if len(flavors) > 1:
            return sentences.several_topology_flavors(flavors)
        if self._delayed(flavors[0]):
            result.delayed = PENDING
            return None
        spec = self._updated(demand)
        if isinstance(spec, str):
            return spec
        group = demand.topology.pod_set_group_name if demand.topology is not None else None
        implied = not _asks(demand)
        return Wish(
            demand.name,
            flavors[0],
            result.count,
            demand.single,
            spec,
            demand.topology,
            implied,
            group,
            previous,
        )

    def _previous(self, name: str) -> Placement | None:
        admission = self._replaced.workload.status.admission if self._replaced is not None else None
        for each in admission.pod_set_assignments if admission is not None else ():
            if each.name == name and each.topology_assignment is not None:
                return expanded(each.topology_assignment)
        return None

    def _delayed(self, flavor: str) -> bool:
        """Other clusters place what they get; new nodes must exist first."""
        reserved = is_true(self._info.workload, well_known.QUOTA_RESERVED)
        for rule in self._queue.spec.admission_checks_strategy.admission_checks:
            check = self._checks.get(rule.name)
            controller = check.spec.controller_name if check is not None else ""
            if controller == well_known.MULTIKUEUE_CONTROLLER:
                return True
            if (
                controller == well_known.PROVISIONING_CONTROLLER
                and not reserved
                and (not rule.on_flavors or flavor in rule.on_flavors)
            ):
                return True
        return False

    def _updated(self, demand: Demand) -> PodSpec | str:
        """With what ready admission checks add to the pods."""
        spec = demand.spec
        for check in self._info.workload.status.admission_checks:
            for update in check.pod_set_updates if check.state == well_known.READY else ():
                if update.name != demand.name:
                    continue
                for key, value in update.node_selector.items():
                    if spec.node_selector.get(key, value) != value:
                        return sentences.invalid_update(demand.name, key, spec.node_selector[key])
                more = tuple(t for t in update.tolerations if t not in spec.tolerations)
                spec = replace(
                    spec,
                    node_selector={**spec.node_selector, **update.node_selector},
                    tolerations=spec.tolerations + more,
                )
        return spec

    # --- usage --------------------------------------------------------------------------------------

    def held(self, assignment: Assignment) -> tuple[Held, ...]:
        """What the placements take beyond what the workload has already."""
        admission = self._info.workload.status.admission
        had: dict[str, dict[str, int]] = {}
        for each in admission.pod_set_assignments if admission is not None else ():
            if each.topology_assignment is not None:
                counts = had.setdefault(each.name, {})
                for domain in expanded(each.topology_assignment).domains:
                    counts[domain.key] = counts.get(domain.key, 0) + domain.pods
        found = []
        for result in assignment.pod_sets:
            if result.placement is None:
                continue
            flavor = next(
                (c.flavor for c in result.choices.values() if self.is_topology_flavor(c.flavor)), ""
            )
            counts = had.get(result.name, {})
            more = tuple(
                domain._replace(pods=domain.pods - counts.get(domain.key, 0))
                for domain in result.placement.domains
                if domain.pods > counts.get(domain.key, 0)
            )
            single = next(demand.single for demand in self._info.demands if demand.name == result.name)
            if flavor and more:
                found.append(Held(flavor, single, more))
        return tuple(found)


def _asks(demand: Demand) -> bool:
    return demand.topology is not None and demand.topology.explicit


def _all(wishes: Wishes) -> Iterable[Wish]:
    return (wish for flavor in wishes.values() for wish in flavor)


def _owned_by_one_pod(workload: Workload) -> bool:
    owners = workload.metadata.owner_references
    return (
        len(owners) == 1
        and owners[0].kind == "Pod"
        and owners[0].api_version == "v1"
        and workload.metadata.annotations.get(well_known.GROUP_WORKLOAD_ANNOTATION) != "true"
    )
