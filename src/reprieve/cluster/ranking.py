"""Which priority counts for a pod: its own, or where groups rule that of its group, or of its tree."""

import numpy as np
from msgspec.structs import replace

from reprieve.cluster.columns import Rows
from reprieve.cluster.groups import GroupTable
from reprieve.cluster.pods import PodTable
from reprieve.cluster.priorities import PriorityTable, Resolved, resolve, resolve_spec
from reprieve.objects import Pod, PodSpec


class Ranking:
    """Writes the priority columns of pods; `Cluster` says when."""

    def __init__(self, pods: PodTable, groups: GroupTable, priorities: PriorityTable) -> None:
        self._pods = pods
        self._groups = groups
        self._priorities = priorities
        self.groups_rule = False
        self.without_priority: dict[int, Pod] = {}
        """Pods whose priority only their class says, by row."""

    def describe(self, row: int, pod: Pod) -> None:
        """A pod is new, or has changed; its group is known."""
        self.write(row, self.resolve(pod))
        if pod.spec.priority is None:
            self.without_priority[row] = pod
        elif self.without_priority:
            self.without_priority.pop(row, None)

    def resolve_again(self) -> None:
        """A priority class has changed."""
        for row, pod in self.without_priority.items():
            self.write(row, self.resolve(pod))

    def prioritise(self, group: int, *, rules: bool) -> None:
        """The members of a group count with its priority, or each with its own."""
        pods, rows = self._pods, list(self._groups.members[group])
        pods.priority[rows] = self._groups.ruling_priority(group) if rules else pods.own_priority[rows]

    def let_groups_rule(self, rule: bool) -> Rows:
        """The same for all groups that exist. Returns the pods whose priority is another one now."""
        pods, groups = self._pods, self._groups
        self.groups_rule = rule
        rows = np.flatnonzero(pods.group[: pods.rows] >= 0)
        rows = rows[groups.exists[pods.group[rows]]].astype(np.int32)
        after = groups.priority[groups.root[pods.group[rows]]] if rule else pods.own_priority[rows]
        changed: Rows = rows[pods.priority[rows] != after]
        pods.priority[rows] = after
        return changed

    def resolve(self, pod: Pod) -> Resolved:
        """What its spec, its annotations and the priority classes say."""
        return resolve(pod, self._priorities)

    def resolve_spec(self, spec: PodSpec) -> Resolved:
        """The same for a pod without annotations."""
        return resolve_spec(spec, self._priorities)

    def write(self, row: int, found: Resolved) -> None:
        pods, groups = self._pods, self._groups
        group = pods.group.item(row)
        ruled = self.groups_rule and group >= 0 and groups.exists[group]
        pods.own_priority[row] = found.priority
        pods.priority[row] = groups.ruling_priority(group) if ruled else found.priority
        pods.preemption_class[row] = found.preemption_class
        if pods.info[row].never_preempts != found.never_preempts:
            pods.info[row] = replace(pods.info[row], never_preempts=found.never_preempts)
