"""The cluster as one decision sees it: feature gates, current time, importance of each pod.

Importance is computed for all pods at once when a decision begins; nothing is kept between decisions.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reprieve.cluster import NOWHERE, Cluster, Ints, Mask, Rows
from reprieve.config import Configuration
from reprieve.placement import Scoring, resolve_scoring


def groups_rule(config: Configuration) -> bool:
    """Whether the pods of a group are scheduled and preempted with its priority, whatever they say."""
    return config.preemption.algorithm != "kubernetes" and config.gate("WorkloadAwarePreemption")


def limited(view: "View", own: Ints, protected: Ints) -> Ints:
    """Priorities as victims where an administrator limits how many units may be protected, and how long.

    The units that started first keep their protection; of equals, those named first.
    """
    pods, limits = view.cluster.pods, view.config.preemption
    rows = np.flatnonzero((protected > own) & view.placed)
    units: dict[int, list[int]] = {}
    for row in rows.tolist():
        group = int(pods.group[row])
        units.setdefault(group if group >= 0 and view.group_victims else -1 - row, []).append(row)
    ordered = sorted(
        units.values(), key=lambda each: (min(pods.start[each].tolist()), min(pods.keys[row] for row in each))
    )
    longest = int(limits.max_protection * 1_000_000)
    if longest and view.now is not None:
        ordered = [each for each in ordered if min(pods.start[each].tolist()) + longest > view.now]
    if limits.max_protected_units:
        ordered = ordered[: limits.max_protected_units]
    result = own.copy()
    for each in ordered:
        result[each] = protected[each]
    return result


class _Rules(NamedTuple):
    """What a configuration means for every decision about a cluster."""

    config: Configuration
    groups_exist: bool
    gangs: bool
    group_victims: bool
    composites: bool
    faithful: bool
    groups_rule: bool
    limited_protection: bool
    devices: bool
    group_claims: bool
    scoring: Scoring


def _rules(cluster: Cluster, config: Configuration) -> _Rules:
    """Kept with the cluster: a live scheduler asks with the same configuration for every pod."""
    key = ("rules", id(config))
    found: _Rules | None = cluster.lasting.get(key)
    if found is None or found.config is not config:
        gate, limits = config.gate, config.preemption
        groups = gate("GenericWorkload")
        found = cluster.lasting[key] = _Rules(
            config,
            groups_exist=groups,
            gangs=groups and gate("GangScheduling"),
            group_victims=groups and gate("WorkloadAwarePreemption"),
            composites=gate("CompositePodGroup"),
            faithful=limits.algorithm == "kubernetes",
            groups_rule=groups_rule(config),
            limited_protection=bool(limits.max_protected_units or limits.max_protection),
            devices=gate("DynamicResourceAllocation"),
            group_claims=gate("DRAWorkloadResourceClaims"),
            scoring=resolve_scoring(cluster, config.placement.scoring_strategy),
        )
    return found


class View:
    def __init__(
        self,
        cluster: Cluster,
        config: Configuration,
        now: int | None,
        expired: Callable[[], bool] | None = None,
        *,
        explain: bool = True,
    ) -> None:
        self.cluster = cluster
        self.explains = explain
        """Whether somebody reads why a preemptor is refused."""
        self.expired = expired
        """True once a search must end with what it has; None: only its own work limit ends it."""
        self.config = config
        self.now = now
        """Microseconds since 1970; None when the time is not known."""
        self._began = cluster.checkpoint()
        rules = _rules(cluster, config)
        self.groups_exist = rules.groups_exist
        self.gangs = rules.gangs
        self.group_victims = rules.group_victims
        self.trees = rules.composites and bool(cluster.groups.trees.objects)
        """Whether there are composite groups, and they count."""
        self.faithful = rules.faithful
        self.groups_rule = rules.groups_rule
        self.limited_protection = rules.limited_protection
        cluster.devices.enabled = rules.devices
        cluster.devices.group_claims = rules.group_claims
        cluster.devices.evictions_free = not rules.faithful
        cluster.devices.now = now
        self.scoring: Scoring = rules.scoring

    @cached_property
    def home(self) -> Rows:
        """The node of each pod when the decision begins; supposed changes do not affect it."""
        return self.cluster.nodes_at(self._began)

    @cached_property
    def priority(self) -> Ints:
        """Each pod's priority as a victim: its own or its group's, at least that of its preemption class.

        In a tree the priority of the root counts for everything below it.
        """
        pods, groups = self.cluster.pods, self.cluster.groups
        rows = pods.rows
        priority, preemption_class = pods.priority[:rows].copy(), pods.preemption_class[:rows]
        if self.group_victims and len(groups.keys):
            members = np.flatnonzero(pods.group[:rows] >= 0)
            members = members[groups.exists[pods.group[members]]]
            group = groups.root[pods.group[members]] if self.trees else pods.group[members]
            priority[members] = groups.priority[group]
            preemption_class = preemption_class.copy()
            preemption_class[members] = groups.preemption_class[group]
        if (preemption_class >= 0).any():
            protected = np.where(
                preemption_class >= 0, self.cluster.priorities.values[preemption_class], priority
            )
            if self.limited_protection:
                return limited(self, priority, np.maximum(priority, protected))
            priority = np.maximum(priority, protected)
        return priority

    @cached_property
    def start(self) -> Ints:
        """Since when each pod does the work that it would lose: its last checkpoint, or its start.

        kube-scheduler knows no checkpoints.
        """
        pods, groups = self.cluster.pods, self.cluster.groups
        start, saved = pods.start[: pods.rows], pods.checkpoint[: pods.rows]
        if self.faithful or not (saved.any() or groups.checkpoint.any()):
            return start
        group = pods.group[: pods.rows]
        if len(groups.keys):
            saved = np.maximum(saved, np.where(group >= 0, groups.checkpoint[group], 0))
        return np.maximum(start, saved)

    @cached_property
    def leader(self) -> Mask:
        """Leaders of groups whose pods are evicted one by one. kube-scheduler knows none."""
        pods = self.cluster.pods
        leader: Mask = pods.leader[: pods.rows]
        if self.faithful or not self.group_victims or not leader.any():
            return np.zeros(pods.rows, dtype=np.bool_)
        return leader & (pods.group[: pods.rows] >= 0) & ~self.whole

    @cached_property
    def whole(self) -> Mask:
        """Pods that are evicted only together with the rest of their group."""
        return self.unit >= 0

    @cached_property
    def unit(self) -> Rows:
        """The number of the group that is evicted as a whole with each pod, -1 where the pod goes alone.

        In a tree it is the topmost group in mode *all*.
        """
        pods, groups = self.cluster.pods, self.cluster.groups
        group = pods.group[: pods.rows]
        if not self.group_victims or not len(groups.keys):
            return np.full(pods.rows, -1, dtype=np.int32)
        if self.trees:
            return np.where((group >= 0) & self.placed, groups.unit[group], -1).astype(np.int32)
        if not groups.whole.any():
            return np.full(pods.rows, -1, dtype=np.int32)
        whole = (group >= 0) & groups.whole[group] & self.placed
        return np.where(whole, group, -1).astype(np.int32)

    def members(self, unit: int) -> list[int]:
        """The pods of a group, running or not; those of a composite group are in the groups below it."""
        return self.cluster.groups.members_below(unit)

    @cached_property
    def placed(self) -> Mask:
        """Pods that are assigned to a node, known or not."""
        placed: Mask = self.home != NOWHERE
        return placed

    @cached_property
    def within_min_runtime(self) -> Mask:
        """Pods that have not yet run for their `reprieve.dev/min-runtime`."""
        pods = self.cluster.pods
        until = pods.min_runtime_end[: pods.rows]
        if not until.any():
            return np.zeros(pods.rows, dtype=np.bool_)
        return until > (self.now if self.now is not None else 0)

    @cached_property
    def node_order(self) -> Ints:
        """The position of each slot in the scheduler's order of nodes."""
        nodes = self.cluster.nodes
        order = np.full(nodes.slots, len(nodes.order), dtype=np.int64)
        order[nodes.order] = np.arange(len(nodes.order))
        return order

    @cached_property
    def position(self) -> Ints:
        """The position of each pod in the scheduler's list: by node, then in order of arrival."""
        pods = self.cluster.pods
        place = np.append(self.node_order, [len(self.node_order)] * 2)
        order = np.lexsort((pods.sequence[: pods.rows], place[self.home]))
        position = np.empty(pods.rows, dtype=np.int64)
        position[order] = np.arange(pods.rows)
        return position
