"""The preemptor: the pod or gang a plan is made for, whether it is valid, and whether it may preempt now."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reprieve.cluster import LOST, NOWHERE, Cluster, Rows, resolve
from reprieve.objects import CompositePodGroup, PodGroup, ReprieveError, well_known
from reprieve.placement import EVERYWHERE, UNRESOLVABLE, Domain, domains_of, nominated_slot
from reprieve.preemption import sentences
from reprieve.preemption.gangs import Gang, place_in_domains
from reprieve.preemption.trees import tree_of
from reprieve.preemption.view import View


class UnknownTarget(ReprieveError):
    """The target of a plan does not exist."""


class Preemptor(NamedTuple):
    """A group, or the root of a tree, with its waiting and running pods."""

    group: PodGroup | CompositePodGroup
    number: int
    waiting: tuple[int, ...]
    """In queue order: by arrival, then by name."""
    running: tuple[int, ...]
    gang: Gang
    domains: Sequence[Domain]
    """Where it may go: everywhere, or one of the domains of its topology constraint."""


def find_pod(cluster: Cluster, key: str) -> int:
    row = cluster.pods.row_of.get(key)
    if row is None:
        raise UnknownTarget(sentences.no_such_pod(key, list(cluster.pods.row_of)))
    return row


def group_number(cluster: Cluster, key: str) -> int:
    if cluster.groups.get(key) is None:
        known = [k for k, g in zip(cluster.groups.keys, cluster.groups.objects, strict=True) if g]
        raise UnknownTarget(sentences.no_such_group(key, known))
    return cluster.groups.number_of[key]


def find_group(view: View, key: str) -> Preemptor:
    cluster = view.cluster
    number = group_number(cluster, key)
    group = cluster.groups.objects[number]
    assert group is not None
    pods, rows = cluster.pods, np.array(list(cluster.groups.members[number]), dtype=np.int32)
    rows = rows[np.argsort(pods.sequence[rows])]
    node = pods.node[rows]
    waiting = tuple(rows[(node == NOWHERE) & ~pods.terminating[rows]].tolist())
    running = tuple(rows[(node >= 0) | (node == LOST)].tolist())
    minimum = group.min_count if view.gangs else 1
    placed = len(running) + cluster.groups.ended(number, len(running))
    gang = Gang(waiting, int(cluster.groups.priority[number]), minimum, placed)
    return Preemptor(group, number, waiting, running, gang, _domains(view, group, running))


def find_composite(view: View, key: str) -> int:
    """The number of a composite group."""
    known = view.cluster.groups.trees.number_of
    if key not in known:
        raise UnknownTarget(sentences.no_such_composite(key, list(known)))
    return known[key]


def whole_tree(view: View, number: int) -> Preemptor:
    """The tree below a root."""
    groups = view.cluster.groups
    tree, group = tree_of(view, number), groups.trees.objects[number]
    waiting = tuple(row for leaf in tree.leaves() for row in leaf.rows)
    gang = Gang(waiting, int(groups.priority[number]), 1, 0, tree)
    return Preemptor(group, number, waiting, tree.placed, gang, EVERYWHERE)


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


def never_preempts(view: View, preemptor: Preemptor) -> bool:
    """The group decides where groups rule or have a policy of their own, else any pod with policy Never."""
    if view.groups_rule or view.config.gate("PodGroupPreemptionPolicy"):
        return _group_never_preempts(view, preemptor)
    return any(view.cluster.pods.info[row].never_preempts for row in preemptor.waiting)


def _group_never_preempts(view: View, preemptor: Preemptor) -> bool:
    return resolve(preemptor.group, view.cluster.priorities).never_preempts


def why_invalid(view: View, preemptor: Preemptor) -> str:
    """Why the scheduler would not even try the group; empty when it would."""
    cluster = view.cluster
    members = (*preemptor.waiting, *preemptor.running)
    schedulers = sorted({cluster.pods.info[row].scheduler or well_known.DEFAULT_SCHEDULER for row in members})
    if len(schedulers) > 1:
        return sentences.schedulers_differ(schedulers[0], schedulers[1])
    if view.groups_rule:
        return ""  # priority and policy are the group's
    for row in members:
        own = int(cluster.pods.priority[row])
        if own != preemptor.gang.priority:
            return sentences.priority_differs(cluster.pods.keys[row], own, preemptor.gang.priority)
    policies = {cluster.pods.info[row].never_preempts for row in members}
    if view.config.gate("PodGroupPreemptionPolicy"):
        if policies - {_group_never_preempts(view, preemptor)}:
            return sentences.POLICY_DIFFERS_FROM_GROUP
    elif len(policies) > 1:
        return sentences.POLICIES_DIFFER
    return ""


def pod_refusal(view: View, row: int, codes: Rows) -> str:
    """Why a pod may not preempt now; empty when it may.

    1. Its policy is Never.
    2. On its nominated node a less important pod is terminating for it. Unless that node can no longer help
       (KEP-5710: unless the pod would still not fit there afterwards).
    """
    if view.cluster.pods.info[row].never_preempts:
        return sentences.NEVER_PREEMPTS
    slot = nominated_slot(view.cluster, row)
    if slot is None or codes[slot] == UNRESOLVABLE:
        return ""
    own = int(view.cluster.pods.priority[row])
    waits = making_way(view, slot, own) and (
        view.faithful or _waiting_helps(view, Gang((row,), own, 1, 0), EVERYWHERE)
    )
    return sentences.VICTIM_IS_TERMINATING if waits else ""


def must_wait(view: View, preemptor: Preemptor) -> bool:
    """Whether less important pods are terminating on a nominated node of one of the gang's pods.

    KEP-5710 adds: the gang must fit once they are gone. When it will not, it starts from scratch.
    """
    slots = {slot for row in preemptor.waiting if (slot := nominated_slot(view.cluster, row)) is not None}
    if not any(making_way(view, slot, preemptor.gang.priority) for slot in slots):
        return False
    return view.faithful or _waiting_helps(view, preemptor.gang, preemptor.domains)


def _waiting_helps(view: View, gang: Gang, domains: Sequence[Domain]) -> bool:
    """Whether the preemptor fits, on its nominated nodes or elsewhere, once all preempted pods are gone."""
    cluster = view.cluster
    leaving = np.flatnonzero(cluster.pods.preempted[: cluster.pods.rows] & (view.home >= 0)).astype(np.int32)
    mark = cluster.checkpoint()
    cluster.detach_all(leaving)
    placement = place_in_domains(view, gang, domains)
    cluster.rollback(mark)
    return placement.feasible


def making_way(view: View, slot: int, below: int) -> bool:
    """Whether a less important pod on the node is terminating because it was preempted."""
    preempted, priority = view.cluster.pods.preempted, view.priority
    return any(preempted[row] and priority[row] < below for row in view.cluster.residents[slot])
