"""Who asks: the pod or gang a plan is made for, and whether it may be scheduled at all."""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.cluster import LOST, NOWHERE, Cluster, resolve
from reprieve.objects import PodGroup, ReprieveError, well_known
from reprieve.placement import EVERYWHERE, Domain, domains_of
from reprieve.preemption.gangs import Gang
from reprieve.preemption.view import View


class UnknownTarget(ReprieveError):
    """A plan was asked for something that is not there."""


class Preemptor(NamedTuple):
    """A group with its waiting and running pods."""

    group: PodGroup
    number: int
    waiting: tuple[int, ...]
    """In queue order: as they came, then by name."""
    running: tuple[int, ...]
    gang: Gang
    domains: Sequence[Domain]
    """Where it may go: everywhere, or one of the domains of its topology constraint."""


def parse_target(for_: str) -> tuple[str, str]:
    """(kind, key) of `Pod/NAMESPACE/NAME` or `PodGroup/NAMESPACE/NAME`."""
    kind, _, key = for_.partition("/")
    if kind not in ("Pod", "PodGroup") or key.count("/") != 1 or not all(key.split("/")):
        raise UnknownTarget(
            f"cannot plan for {for_!r}: expected Pod/NAMESPACE/NAME or PodGroup/NAMESPACE/NAME"
        )
    return kind, key


def find_pod(cluster: Cluster, key: str) -> int:
    row = cluster.pods.row_of.get(key)
    if row is None:
        near = ", ".join(sorted(cluster.pods.row_of)[:5]) or "none"
        raise UnknownTarget(f"there is no pod {key!r} that could still run; known pods: {near}")
    return row


def find_group(view: View, key: str) -> Preemptor:
    cluster = view.cluster
    group = cluster.groups.get(key)
    if group is None:
        known = sorted(k for k, g in zip(cluster.groups.keys, cluster.groups.objects, strict=True) if g)
        raise UnknownTarget(f"there is no PodGroup {key!r}; known groups: {', '.join(known[:5]) or 'none'}")
    number = cluster.groups.number_of[key]
    pods = cluster.pods
    members = sorted(cluster.groups.members[number], key=lambda row: (pods.sequence[row], pods.keys[row]))
    waiting = tuple(row for row in members if pods.node[row] == NOWHERE and not pods.terminating[row])
    running = tuple(row for row in members if pods.node[row] >= 0 or pods.node[row] == LOST)
    minimum = group.min_count if view.gangs else 1
    gang = Gang(waiting, int(cluster.groups.priority[number]), minimum, len(running))
    return Preemptor(group, number, waiting, running, gang, _domains(view, group, running))


def _domains(view: View, group: PodGroup, running: Sequence[int]) -> Sequence[Domain]:
    constraints = group.spec.scheduling_constraints
    if (
        constraints is None
        or not constraints.topology
        or not view.config.gate("TopologyAwareWorkloadScheduling")
    ):
        return EVERYWHERE
    slots = [int(view.cluster.pods.node[row]) for row in running]
    return domains_of(view.cluster, constraints.topology[0].key, slots)


def never_preempts(view: View, asker: Preemptor) -> bool:
    """With gate PodGroupPreemptionPolicy the group decides, otherwise any pod that says Never does."""
    if view.config.gate("PodGroupPreemptionPolicy"):
        return _group_never_preempts(view, asker)
    return any(view.cluster.pods.info[row].never_preempts for row in asker.waiting)


def _group_never_preempts(view: View, asker: Preemptor) -> bool:
    return resolve(asker.group, view.cluster.priorities).never_preempts


def why_invalid(view: View, asker: Preemptor) -> str:
    """What keeps the scheduler from even trying a group; empty when nothing does."""
    cluster = view.cluster
    members = (*asker.waiting, *asker.running)
    schedulers = sorted({cluster.pods.info[row].scheduler or well_known.DEFAULT_SCHEDULER for row in members})
    if len(schedulers) > 1:
        return (
            "all pods in a single pod group should have the same .spec.schedulerName set, "
            f'got: "{schedulers[0]}" and "{schedulers[1]}"'
        )
    for row in members:
        own = int(cluster.pods.priority[row])
        if own != asker.gang.priority:
            return (
                "all pods in a single pod group should have the same priority as the pod group's priority, "
                f"got {own} and {asker.gang.priority} ({cluster.pods.keys[row]})"
            )
    policies = {cluster.pods.info[row].never_preempts for row in members}
    if view.config.gate("PodGroupPreemptionPolicy"):
        if policies - {_group_never_preempts(view, asker)}:
            return (
                "all pods in a single pod group should have the same preemption policy as the pod group's preemption policy, "
                "got Never and PreemptLowerPriority"
            )
    elif len(policies) > 1:
        return "all pods in a single pod group should have the same preemption policy, got Never and PreemptLowerPriority"
    return ""
