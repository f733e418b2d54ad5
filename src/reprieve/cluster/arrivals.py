"""Many new pods at once, as a list or a file brings them: the columns are filled in one pass.

The result is the same as if they came one by one (`Cluster.set`), down to the numbers of rows and classes.
Pods that say more than most (devices, volumes, annotations of ours, being deleted) are not for this module.
"""

from collections.abc import Sequence

import numpy as np

from reprieve.cluster.classes import ClassTable
from reprieve.cluster.columns import LOST, NOWHERE, Rows
from reprieve.cluster.groups import GroupTable
from reprieve.cluster.nodes import NodeTable
from reprieve.cluster.pod_volumes import pod_volumes
from reprieve.cluster.pods import PodTable, pod_info, ticks
from reprieve.cluster.priorities import Resolved
from reprieve.cluster.ranking import Ranking
from reprieve.objects import InvalidObject, Pod, well_known


def is_plain(pod: Pod) -> bool:
    """Whether `Arrivals` can take it."""
    meta, spec = pod.metadata, pod.spec
    return not (
        pod.status.phase in well_known.TERMINAL_PHASES
        or meta.deletion_timestamp is not None
        or spec.resource_claims
        or (meta.annotations and any(map(_is_ours, meta.annotations)))
        or (spec.volumes and pod_volumes(pod) is not None)
    )


def _is_ours(annotation: str) -> bool:
    return annotation.startswith(well_known.ANNOTATION_PREFIX)


class Arrivals:
    def __init__(
        self, pods: PodTable, nodes: NodeTable, classes: ClassTable, groups: GroupTable, ranking: Ranking
    ) -> None:
        self._pods = pods
        self._nodes = nodes
        self._classes = classes
        self._groups = groups
        self._ranking = ranking

    def join_classes(self, pods: Sequence[Pod]) -> list[int] | None:
        """The classes of pods; None if one of them cannot have any, and then none of them joined."""
        joined: list[int] = []
        join = self._classes.join
        try:
            for pod in pods:
                joined.append(join(pod).id)  # noqa: PERF401 - what joined counts after an error
        except InvalidObject:
            for number in joined:
                self._classes.leave(number)
            return None
        return joined

    def add(self, keys: list[str], pods: Sequence[Pod], classes: list[int]) -> tuple[Rows, Rows]:
        """New rows for pods that are on no node yet. Returns the rows, and the slot where each belongs."""
        table = self._pods
        rows = table.add_all(keys)
        span = slice(int(rows[0]), int(rows[-1]) + 1)
        table.info[span] = [pod_info(pod) for pod in pods]
        table.cls[span] = classes
        table.start[span] = [ticks(pod.status.start_time) for pod in pods]
        self._join_groups(rows, pods)
        self._rank(rows, pods)
        slot_of = self._nodes.slot_of
        wanted = [slot_of.get(name, LOST) if (name := pod.spec.node_name) else NOWHERE for pod in pods]
        return rows, np.array(wanted, dtype=np.int32)

    def _join_groups(self, rows: Rows, pods: Sequence[Pod]) -> None:
        groups, column, first = self._groups, self._pods.group, int(rows[0])
        grouped = [at for at, pod in enumerate(pods) if pod.spec.scheduling_group is not None]
        for at in grouped:
            if key := pods[at].group_key:
                row = first + at
                number = column[row] = groups.number(key)
                groups.members[number][row] = None

    def _rank(self, rows: Rows, pods: Sequence[Pod]) -> None:
        """Few pods differ in what their priority depends on."""
        table, ranking = self._pods, self._ranking
        known: dict[tuple[int | None, str, str], Resolved] = {}
        own: list[int] = []
        for row, pod in zip(rows.tolist(), pods, strict=True):
            spec = pod.spec
            key = spec.priority, spec.priority_class_name, spec.preemption_policy
            found = known.get(key)
            if found is None:
                found = known[key] = ranking.resolve(pod)
            own.append(found.priority)
            if found.never_preempts or spec.scheduling_group is not None:
                ranking.write(row, found)
            if spec.priority is None:
                ranking.without_priority[row] = pod
        table.own_priority[rows] = own
        alone = table.group[rows] < 0
        table.priority[rows[alone]] = table.own_priority[rows[alone]]
