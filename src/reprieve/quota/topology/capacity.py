"""What every TAS flavor has to give, as nodes, pods, topologies, flavors and reservations come and go.

Columns are built when they are first asked for, and kept up to date after that. A what-if (`suppose`) changes
only the flavor that a workload was given, as upstream does; a reservation counts in all flavors that share
its hosts. Without a flavor with a topology nothing here costs anything, and no array library is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from reprieve.objects import Node, Pod, ResourceFlavor, Topology, all_requests, find_condition, well_known
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import TopologyRules
from reprieve.quota.topology.held import Held, with_pods
from reprieve.quota.topology.wish import Seen

if TYPE_CHECKING:
    from reprieve.quota.topology.columns import Columns


class QueueTopology(NamedTuple):
    """The TAS flavors of a queue, and whether it has no others."""

    flavors: frozenset[str]
    only: bool


class Capacity:
    def __init__(self, rules: TopologyRules) -> None:
        self._rules = rules
        self._topologies: dict[str, Topology] = {}
        self._flavors: dict[str, ResourceFlavor] = {}
        """Those with a topology."""
        self._nodes: dict[str, Node] = {}
        self._pods: dict[str, Pod] = {}
        """Pods on nodes, outside any topology."""
        self._held: dict[str, tuple[Held, ...]] = {}
        """By workload."""
        self._columns: dict[str, Columns] = {}
        self._seen: dict[str, Seen] = {}
        self.unused = True
        """No flavor has a topology."""

    # --- objects ------------------------------------------------------------------------------------

    def put_topology(self, topology: Topology) -> None:
        self._topologies[topology.name] = topology
        self._columns.clear()

    def drop_topology(self, name: str) -> None:
        self._topologies.pop(name, None)
        self._columns.clear()

    def put_flavor(self, flavor: ResourceFlavor) -> None:
        if flavor.spec.topology_name and self._rules.enabled:
            if self._flavors.get(flavor.name) != flavor:
                self._columns.clear()
            self._flavors[flavor.name] = flavor
            self.unused = False
        else:
            self.drop_flavor(flavor.name)

    def drop_flavor(self, name: str) -> None:
        if self._flavors.pop(name, None) is not None:
            self._columns.clear()
            self.unused = not self._flavors

    def put_node(self, node: Node) -> bool:
        """Whether anything changed that placements depend on."""
        old = self._nodes.get(node.name)
        self._nodes[node.name] = node
        if old is not None and _same_place(old, node):
            return False
        self._columns.clear()
        return True

    def drop_node(self, name: str) -> None:
        if self._nodes.pop(name, None) is not None:
            self._columns.clear()

    def node(self, name: str) -> Node | None:
        return self._nodes.get(name)

    def put_pod(self, pod: Pod) -> None:
        """Only pods outside any topology count here; the others count with their workload."""
        self.drop_pod(pod.key)
        if _is_outside(pod):
            self._pods[pod.key] = pod
            if self._columns:
                self._count_pod(pod, 1)

    def drop_pod(self, key: str) -> None:
        old = self._pods.pop(key, None)
        if old is not None and self._columns:
            self._count_pod(old, -1)

    def _count_pod(self, pod: Pod, sign: int) -> None:
        amounts = with_pods(all_requests(pod.spec))
        for columns in self._columns.values():
            columns.outside(pod.spec.node_name, amounts, sign)

    # --- reservations -------------------------------------------------------------------------------

    def reserve(self, key: str, held: tuple[Held, ...]) -> None:
        if held:
            self._held[key] = held
            self._count(held, 1)

    def release(self, key: str) -> None:
        held = self._held.pop(key, None)
        if held is not None:
            self._count(held, -1)

    def _count(self, held: Iterable[Held], sign: int) -> None:
        for flavor, columns in self._columns.items():
            for each in held:
                if self._shared(each.flavor, flavor):
                    columns.hold(each, sign)

    def _shared(self, held: str, flavor: str) -> bool:
        """Whether what is held in one flavor counts in another."""
        return held == flavor or (self._rules.overlapping and self._by_host(held) and self._by_host(flavor))

    def _by_host(self, flavor: str) -> bool:
        return self.levels(flavor)[-1:] == (well_known.HOSTNAME_LABEL,)

    def recount(self) -> None:
        """Forget all suppositions."""
        self._columns.clear()

    def new_cycle(self) -> None:
        self._seen.clear()

    def seen(self, uid: str) -> Seen | None:
        return self._seen.setdefault(uid, set()) if uid else None

    # --- looking ------------------------------------------------------------------------------------

    def levels(self, flavor: str) -> tuple[str, ...]:
        """Of the flavor's topology; empty if it has none, or none that is known."""
        found = self._flavors.get(flavor)
        topology = self._topologies.get(found.spec.topology_name) if found is not None else None
        return tuple(level.node_label for level in topology.spec.levels) if topology is not None else ()

    def missing_topology(self, flavor: str) -> str:
        """The name of the topology that the flavor refers to and that does not exist."""
        found = self._flavors.get(flavor)
        if found is None or found.spec.topology_name in self._topologies:
            return ""
        return found.spec.topology_name

    def of_queue(self, queue: QueueNode) -> QueueTopology:
        names = [flavor.name for group in queue.spec.resource_groups for flavor in group.flavors]
        return QueueTopology(
            frozenset(name for name in names if self.levels(name)),
            bool(names) and all(name in self._flavors for name in names),
        )

    def columns(self, flavor: str) -> Columns:
        found = self._columns.get(flavor)
        if found is None:
            found = self._columns[flavor] = self._build(flavor)
        return found

    def _build(self, flavor: str) -> Columns:
        from reprieve.quota.topology.columns import Columns
        from reprieve.quota.topology.tree import Tree

        spec = self._flavors[flavor].spec
        levels = self.levels(flavor)
        nodes = [node for node in self._nodes.values() if _belongs(node, spec.node_labels, levels)]
        columns = Columns(flavor, spec.topology_name, Tree(levels, nodes), spec.tolerations)
        for pod in self._pods.values():
            if pod.spec.node_name in columns.tree.leaf_of_node:
                columns.outside(pod.spec.node_name, with_pods(all_requests(pod.spec)), 1)
        for held in self._held.values():
            for each in held:
                if self._shared(each.flavor, flavor):
                    columns.hold(each, 1)
        return columns

    def suppose(self, held: Iterable[Held], sign: int) -> None:
        """As if the pods came (1) or left (-1); the caller takes it back."""
        for each in held:
            if each.flavor in self._flavors and self.levels(each.flavor):
                self.columns(each.flavor).hold(each, sign)

    def fits(self, held: Iterable[Held]) -> bool:
        """Whether all domains have what is to be held there."""
        return all(self.columns(each.flavor).fits(each) for each in held)


def is_ready(node: Node) -> bool:
    ready = find_condition(node.status.conditions, "Ready")
    return ready is not None and ready.status == "True"


def _belongs(node: Node, labels: Mapping[str, str], levels: tuple[str, ...]) -> bool:
    own = node.metadata.labels
    return (
        is_ready(node)
        and not node.spec.unschedulable
        and all(own.get(key, "") == value for key, value in labels.items())
        and all(level in own for level in levels)
    )


def _same_place(old: Node, new: Node) -> bool:
    return (
        old.metadata.labels == new.metadata.labels
        and old.spec == new.spec
        and old.status.allocatable == new.status.allocatable
        and is_ready(old) == is_ready(new)
    )


def _is_outside(pod: Pod) -> bool:
    """Pods that ask for a topology, or that were told their domain, count with their workload instead."""
    annotations = pod.metadata.annotations
    return (
        bool(pod.spec.node_name)
        and pod.status.phase not in well_known.TERMINAL_PHASES
        and well_known.WORKLOAD_ANNOTATION not in annotations
        and not any(name in annotations for name in well_known.TOPOLOGY_ANNOTATIONS)
    )
