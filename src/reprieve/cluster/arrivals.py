"""Many new pods at once, as a list or a file brings them: the columns are filled in blocks.

The result is the same as if they came one by one (`Cluster.set`), down to the numbers of rows and classes.
"""

from collections.abc import Iterable, Mapping
from typing import cast

import numpy as np

from reprieve.cluster.classes import ClassTable
from reprieve.cluster.columns import LOST, Rows
from reprieve.cluster.groups import GroupTable
from reprieve.cluster.nodes import NodeTable
from reprieve.cluster.pod_volumes import pod_volumes
from reprieve.cluster.pods import PodTable, is_finished
from reprieve.cluster.ranking import Ranking
from reprieve.objects import Node, Object, Pod, PodSpec, is_run_time, well_known

BLOCK = 8192
"""Objects that are taken in together: half a million pods at once take a sixth more time, being out of every
cache before the next column is filled."""
FEW = 64
"""Fewer than these are taken in one by one: a block costs something for every node there is."""


def with_more(pods: Iterable[Pod]) -> list[Pod] | None:
    """Those that say what most do not: annotations of ours, volumes that bind them, that they are leaving.

    None if one of them says what has to be refused.
    """
    found = [
        pod
        for pod in pods
        if (meta := pod.metadata).deletion_timestamp is not None
        or (meta.annotations and any(map(_is_ours, meta.annotations)))
        or (pod.spec.volumes and pod_volumes(pod) is not None)
    ]
    return found if all(map(_is_readable, found)) else None


def _is_readable(pod: Pod) -> bool:
    return is_run_time(pod.metadata.annotations.get(well_known.MIN_RUNTIME_ANNOTATION, "0"))


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

    def only_new_pods(self, objects: list[Object]) -> dict[str, Pod] | None:
        """They by key, if all of them are new pods: a quick answer for what most of a long list is."""
        if set(map(type, objects)) != {Pod}:
            return None
        pods = cast("list[Pod]", objects)
        found = {pod.key: pod for pod in pods}
        finished = not well_known.TERMINAL_PHASES.isdisjoint({pod.status.phase for pod in pods})
        known = len(found) < len(pods) or not self._pods.row_of.keys().isdisjoint(found)
        return None if finished or known else found

    def only_new_nodes(self, objects: list[Object]) -> dict[str, Node] | None:
        """They by name, if all of them are new nodes and get slots one after the other."""
        if set(map(type, objects)) != {Node} or not self._nodes.is_dense:
            return None
        nodes = cast("list[Node]", objects)
        found = {node.metadata.name: node for node in nodes}
        known = len(found) < len(nodes) or not self._nodes.slot_of.keys().isdisjoint(found)
        return None if known else found

    def is_new(self, pod: Pod) -> bool:
        return not is_finished(pod) and pod.key not in self._pods.row_of

    def add(self, pods: Mapping[str, Pod], classes: list[int]) -> tuple[range, Rows]:
        """Rows for new pods by key, and the slot where each belongs; `LOST` for one without a node, too."""
        rows = self._pods.add_all(pods, classes)
        views = list(pods.values())
        specs = [pod.spec for pod in views]
        grouped = [at for at, spec in enumerate(specs) if spec.scheduling_group is not None]
        for at in grouped:
            self._join_group(rows[at], views[at])
        if self._rank(rows, grouped, specs):
            given = zip(rows, views, strict=True)
            self._ranking.without_priority |= {row: pod for row, pod in given if pod.spec.priority is None}
        find = self._nodes.slot_of.get
        return rows, np.fromiter([find(spec.node_name, LOST) for spec in specs], np.int32, len(specs))

    def _join_group(self, row: int, pod: Pod) -> None:
        if key := pod.group_key:
            number = self._pods.group[row] = self._groups.number(key)
            self._groups.members[number][row] = None

    def _rank(self, rows: range, grouped: list[int], specs: list[PodSpec]) -> bool:
        """Few pods differ in what their priority depends on. Returns whether one does not state it itself."""
        table, ranking = self._pods, self._ranking
        asked = [(each.priority, each.priority_class_name, each.preemption_policy) for each in specs]
        models = dict(zip(asked, specs, strict=True))
        found = {each: ranking.resolve_spec(spec) for each, spec in models.items()}
        span = slice(rows.start, rows.stop)
        priorities = np.fromiter([found[each].priority for each in asked], np.int64, len(asked))
        table.own_priority[span] = table.priority[span] = priorities
        never = {each for each, resolved in found.items() if resolved.never_preempts}
        odd = [at for at, each in enumerate(asked) if each in never] if never else []
        for at in (*grouped, *odd):
            ranking.write(rows[at], found[asked[at]])
        return any(priority is None for priority, _, _ in models)
