"""What a workload would get now: flavors, victims and domains, and what they become in its status.

Nothing is entered in the state: cycles, plans and explanations ask the same question.
"""

from __future__ import annotations

from collections.abc import Sequence

from reprieve.objects import Admission, PodSetAssignment, compressed, format_amount, well_known
from reprieve.quota.assignment import Assignment, Mode
from reprieve.quota.demand import Demand
from reprieve.quota.flavor_assigner import FlavorAssigner, Oracle, PinnedFlavors
from reprieve.quota.partial_admission import can_shrink, largest_that_works
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.state import Quota
from reprieve.quota.topology.held import Held
from reprieve.quota.topology.step import TopologyStep
from reprieve.quota.victims.candidates import Victim
from reprieve.quota.victims.finder import VictimFinder
from reprieve.quota.workload_info import WorkloadInfo, has_quota


def find_assignment(
    quota: Quota,
    info: WorkloadInfo,
    queue: QueueNode,
    resume: Sequence[dict[str, int]] = (),
    pinned: PinnedFlavors = {},  # noqa: B006 - a read-only mapping
    *,
    partial: bool = True,
    oracle: Oracle | None = None,
) -> tuple[Assignment, list[Victim]]:
    """Flavors and victims for a workload: for all its pods if possible, else for as many as possible.

    A slice that takes another's place has that one as its first victim: it is finished, not evicted. An
    `oracle` that is given answers in place of the search for victims, and there are none.
    """
    rules, capacity = quota.rules, quota.cache.capacity
    replaced = replaced_slice(info, queue, rules)
    first = [Victim(replaced, "", queue, capacity)] if replaced is not None else []
    topology = topology_step(quota, info, queue, replaced)
    protected = quota.preemption_limit.protected_from(info.key)
    usage_of = quota.usage_of if rules.usage is not None else None
    finder = VictimFinder(info, queue, rules, protected, topology, capacity, usage_of)
    old = replaced.workload.status.admission if replaced is not None else None
    assigner = FlavorAssigner(queue, quota.cache.flavors, rules, oracle or finder, topology, old)
    demands = demands_of(info)

    def attempt(demands: Sequence[Demand]) -> tuple[Assignment, list[Victim]] | None:
        found = assigner.assign(demands, resume, pinned)
        if found.mode == Mode.FIT:
            return found, []
        victims = finder.victims_for(found) if found.mode == Mode.PREEMPT else []
        return (found, victims) if victims else None

    whole = assigner.assign(demands, resume, pinned)
    found, victims = whole, first
    if whole.mode != Mode.FIT:
        others = finder.victims_for(whole) if whole.mode == Mode.PREEMPT and oracle is None else []
        victims = [*first, *others] if others else []
        if not others and partial and rules.partial_admission and can_shrink(demands):
            reduced = largest_that_works(demands, attempt)
            if reduced is not None:
                found, victims = reduced[0], [*first, *reduced[1]]
    if topology is not None:
        topology.plan(found, [victim.info.held for victim in victims])
    return found, victims


def topology_step(
    quota: Quota, info: WorkloadInfo, queue: QueueNode, replaced: WorkloadInfo | None
) -> TopologyStep | None:
    """None where neither the workload nor the queue knows topologies."""
    rules, capacity = quota.rules.topology, quota.cache.capacity
    if not rules.enabled or (capacity.unused and not info.names_topology):
        return None
    return TopologyStep(info, queue, capacity, rules, quota.cache.checks, replaced)


def vain_wait(quota: Quota, info: WorkloadInfo, queue: QueueNode, assignment: Assignment) -> list[str]:
    """Sentences for a workload whose pods no domain could hold; none for others."""
    step = topology_step(quota, info, queue, None) if assignment.unplaceable else None
    return step.vain(assignment) if step is not None else []


def held_by(quota: Quota, info: WorkloadInfo, queue: QueueNode, assignment: Assignment) -> tuple[Held, ...]:
    """What the assignment takes of domains."""
    if quota.cache.capacity.unused or all(each.placement is None for each in assignment.pod_sets):
        return ()
    step = topology_step(quota, info, queue, None)
    return step.held(assignment) if step is not None else ()


def replaced_slice(info: WorkloadInfo, queue: QueueNode, rules: Rules) -> WorkloadInfo | None:
    """The admitted workload whose place this one takes."""
    key = info.workload.metadata.annotations.get(well_known.SLICE_REPLACEMENT_ANNOTATION)
    if not key or not rules.elastic:
        return None
    found = queue.workloads.workloads.get(key)
    return found if found is not None and found.workload.namespace == info.workload.namespace else None


def demands_of(info: WorkloadInfo) -> Sequence[Demand]:
    """What is to be assigned. A workload that has quota keeps its flavors."""
    admission = info.workload.status.admission
    if admission is None or not has_quota(info.workload):
        return info.demands
    held = {each.name: each for each in admission.pod_set_assignments}
    return [d.with_held(held[d.name]) if d.name in held else d for d in info.demands]


def admission_of(queue: QueueNode, assignment: Assignment) -> Admission:
    return Admission(
        cluster_queue=queue.name,
        pod_set_assignments=tuple(
            PodSetAssignment(
                name=each.name,
                flavors={resource: choice.flavor for resource, choice in each.choices.items()},
                resource_usage={r: format_amount(r, each.requests.get(r, 0)) for r in each.choices},
                count=each.count,
                topology_assignment=None if each.placement is None else compressed(each.placement),
                delayed_topology_request=each.delayed,
            )
            for each in assignment.pod_sets
        ),
    )


def checks_of(queue: QueueNode, assignment: Assignment) -> frozenset[str]:
    """Names of the admission checks that apply to the assigned flavors."""
    flavors = {key.flavor for key in assignment.usage}
    return frozenset(
        rule.name
        for rule in queue.spec.admission_checks_strategy.admission_checks
        if not rule.on_flavors or flavors & set(rule.on_flavors)
    )
