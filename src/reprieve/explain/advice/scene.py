"""A cluster as it is or as it would be after some changes: what the planner says, what nodes object to."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from reprieve.cluster import NOWHERE, Cluster, ticks
from reprieve.config import Configuration
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.objects import Document, Object, Pod, PodGroup, Reference, decode_all, outcomes
from reprieve.placement import (
    EVERYWHERE,
    Domain,
    GangPlacement,
    PodFilters,
    Reason,
    domains_of,
    objections,
    place_gang,
)
from reprieve.preemption import Plan, decide


class Views:
    """Typed views of documents, decoded once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Document, list[Object]]] = {}

    def of(self, documents: Iterable[Document]) -> Iterator[Object]:
        for document in documents:
            found = self._known.get(id(document))
            if found is None or found[0] is not document:
                found = self._known[id(document)] = (document, decode_all([document]))
            yield from found[1]


class Stage:
    """One cluster in memory that shows one draft after another: only what differs is set or removed.

    The planner's promise that decisions between changes equal those of a fresh cluster makes that right. Rows
    and slots of one draft mean nothing in the next.
    """

    def __init__(self, unit: Reference) -> None:
        self._unit = unit
        self._views = Views()
        self._shown: dict[tuple[str, str], Document] = {}
        self._draft: Draft | None = None
        self._cluster = Cluster(honour_nominations=False)

    def show(self, draft: Draft) -> Cluster:
        if draft is self._draft:
            return self._cluster
        self._draft = None
        wanted = draft.by_place
        for place in self._shown.keys() - wanted.keys():
            for view in self._views.of([self._shown.pop(place)]):
                self._cluster.remove(type(view), view.key)
        changed = [place for place, document in wanted.items() if self._shown.get(place) is not document]
        for place in changed:
            for view in self._views.of([wanted[place]]):
                self._cluster.set(view)
            self._shown[place] = wanted[place]
        self._keep_nominations(draft, (wanted[place] for place in changed))
        self._draft = draft
        return self._cluster

    def _keep_nominations(self, draft: Draft, documents: Iterable[Document]) -> None:
        """Capacity is kept for other pods that are nominated, as a scheduler keeps it."""
        own = set(draft.members(self._unit))
        pods = self._cluster.pods
        for pod in self._views.of(documents):
            if isinstance(pod, Pod) and pod.status.nominated_node_name and pod.key not in own:
                row = pods.row_of.get(pod.key)
                if row is not None and pods.node[row] == NOWHERE:
                    self._cluster.nominate(pod.key, pod.status.nominated_node_name)


class Objections(NamedTuple):
    """What nodes object to, for one pod that found none."""

    pod: str
    by_node: dict[str, list[Reason]]
    """Nodes in the scheduler's order."""


class Scene:
    """A cluster with one unit that waits: a pod, a pod group, or a tree of groups."""

    def __init__(
        self,
        draft: Draft,
        unit: Reference,
        config: Configuration,
        now: datetime,
        stage: Stage | None = None,
    ) -> None:
        self.draft = draft
        self.unit = unit
        self.config = config
        self._now = now
        self._stage = stage or Stage(unit)

    def after(self, changes: Iterable[Change]) -> "Scene":
        """The scene with the changes carried out."""
        draft = self.draft.fork()
        for change in changes:
            change.carry_out(draft)
        return Scene(draft, self.unit, self.config, self._now, self._stage)

    @property
    def cluster(self) -> Cluster:
        """Shows this scene until another one is asked for."""
        return self._stage.show(self.draft)

    @cached_property
    def plan(self) -> Plan:
        return decide(self.cluster, self.unit, self.config, ticks(self._now))

    def plan_with_alternatives(self) -> Plan:
        return decide(self.cluster, self.unit, self.config, ticks(self._now), alternatives=True)

    @property
    def works(self) -> bool:
        """The unit is placed, or preempts its way in."""
        return self.plan.outcome in (outcomes.SCHEDULED, outcomes.PREEMPTS)

    @property
    def group(self) -> PodGroup | None:
        return self.cluster.groups.get(self.unit.key) if self.unit.kind == "PodGroup" else None

    def waiting_rows(self) -> list[int]:
        """In queue order."""
        pods = self.cluster.pods
        rows = [pods.row_of[key] for key in self.draft.waiting(self.unit) if key in pods.row_of]
        return sorted(
            (row for row in rows if not pods.terminating[row]),
            key=lambda row: (pods.sequence[row], pods.keys[row]),
        )

    @cached_property
    def placement(self) -> tuple[GangPlacement, Domain]:
        """How far the unit gets without preemption: in the domain that takes most of its pods."""
        rows = self.waiting_rows()
        group = self.group
        least = group.min_count if group is not None and self.config.gate("GangScheduling") else 1
        running = len(self.draft.members(self.unit)) - len(rows)
        tried = [
            (place_gang(self.cluster, rows, least, running, within=domain.nodes), domain)
            for domain in self._domains()
        ]
        none = GangPlacement(False, [], rows[:1], ""), Domain("", None)
        return max(tried, key=lambda each: len(each[0].assigned), default=none)

    def _domains(self) -> Iterable[Domain]:
        key = self._topology_key()
        if not key or not self.config.gate("TopologyAwareWorkloadScheduling"):
            return EVERYWHERE
        return domains_of(self.cluster, key, self.running_slots())

    def _topology_key(self) -> str:
        """Of the group, or of the root of the tree."""
        if self.unit.kind == "CompositePodGroup":
            trees = self.cluster.groups.trees
            return trees.objects[trees.number_of[self.unit.key]].topology_key
        group = self.group
        return group.topology_key if group is not None else ""

    def running_slots(self) -> list[int]:
        pods = self.cluster.pods
        rows = (pods.row_of.get(key) for key in self.draft.members(self.unit))
        return [int(pods.node[row]) for row in rows if row is not None and pods.node[row] >= 0]

    def objections(self) -> Objections | None:
        """What every node has against the first pod of the unit that finds none; None when all find one."""
        placement, domain = self.placement
        rows = placement.failed or self.waiting_rows()[len(placement.assigned) :]
        if not rows:
            return None
        cluster = self.cluster
        with self.partly_placed():
            filters = PodFilters(cluster, rows[0], faithful=self.config.preemption.algorithm == "kubernetes")
            found = objections(filters)
        inside = cluster.nodes.known if domain.nodes is None else cluster.nodes.known & domain.nodes
        names = {int(slot): cluster.nodes.names[slot] for slot in cluster.nodes.order if inside[slot]}
        by_node = {
            name: [reason for reason, mask in found.items() if mask[slot]] for slot, name in names.items()
        }
        return Objections(cluster.pods.keys[rows[0]], {name: each for name, each in by_node.items() if each})

    @contextmanager
    def partly_placed(self) -> Iterator[None]:
        """With those of its pods on nodes that find one."""
        mark = self.cluster.checkpoint()
        for each in self.placement[0].assigned:
            self.cluster.attach(each.row, each.slot)
        try:
            yield
        finally:
            self.cluster.rollback(mark)

    def free(self, node: str) -> dict[str, int]:
        """What the node has left of each resource."""
        nodes, slot = self.cluster.nodes, self.cluster.nodes.slot_of[node]
        left = nodes.allocatable[:, slot] - nodes.used[:, slot]
        return dict(zip(nodes.resources, left.tolist(), strict=False))

    def requests(self, pod: str) -> dict[str, int]:
        """What the pod needs of each resource, one slot for a pod included."""
        cluster = self.cluster
        requested = cluster.class_of(cluster.pods.row_of[pod]).requested
        return {cluster.nodes.resources[index]: number for index, number in requested}
