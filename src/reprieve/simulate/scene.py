"""The cluster that a simulation begins with: its nodes, its queues, and what else the manifests say."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from reprieve.objects import (
    ClusterQueue,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReprieveError,
    ResourceFlavor,
    Workload,
    counted,
    exact,
    matches,
    some,
    tolerates,
)
from reprieve.simulate.jobs import SHARE, Job
from reprieve.simulate.pods import GPU, NAMESPACE

MOST_NAMED = 5


class Scene:
    """`shares`: the trace asks for shares of GPUs, so nodes offer thousandths of them.

    Where jobs ask for domains of a topology, quota counts the nodes and no scheduler fills them, as in
    Kueue's own tests.
    """

    def __init__(self, objects: Iterable[Object], jobs: Sequence[Job] = ()) -> None:
        self.objects = list(objects)
        self.shares = any(job.gpu % SHARE for job in jobs)
        counted_by_quota = any(job.topology is not None for job in jobs)
        nodes = [] if counted_by_quota else [each for each in self.objects if isinstance(each, Node)]
        self.nodes = [_in_shares(each) for each in nodes] if self.shares else nodes
        names = Counter(each.name for each in nodes)
        if double := next((name for name, number in names.items() if number > 1), ""):
            raise ReprieveError(f"there are two nodes of the name {double}; give each a name of its own")
        self.queues = [each for each in self.objects if isinstance(each, ClusterQueue)]
        if not self.nodes and not self.queues:
            raise ReprieveError("there is nothing to run on: give --nodes, or manifests with Nodes or queues")
        self.notes = self._notes(jobs)

    @cached_property
    def counted(self) -> frozenset[str] | None:
        """Resources that a node states; None without nodes: then quota counts, and all of them do."""
        if not self.nodes:
            return None
        return frozenset(name for node in self.nodes for name in node.status.allocatable)

    @cached_property
    def gpus(self) -> int:
        """Thousandths of GPUs on all nodes."""
        return sum(map(self.gpus_of, self.nodes))

    def gpus_of(self, node: Node) -> int:
        return round(exact(node.status.allocatable.get(GPU, 0)) * (1 if self.shares else SHARE))

    @cached_property
    def cores(self) -> int:
        """Thousandths of cores on all nodes."""
        return sum(map(self.cores_of, self.nodes))

    def cores_of(self, node: Node) -> int:
        return round(exact(node.status.allocatable.get("cpu", 0)) * 1000)

    @cached_property
    def flavors(self) -> dict[str, ResourceFlavor]:
        """Those that say on which of the nodes their quota is."""
        return {each.name: each for each in self._tied() if self._has_nodes(each)}

    def _tied(self) -> list[ResourceFlavor]:
        found = (each for each in self.objects if isinstance(each, ResourceFlavor))
        return [each for each in found if each.spec.node_labels or each.spec.tolerations]

    def _has_nodes(self, flavor: ResourceFlavor) -> bool:
        wanted = flavor.spec.node_labels.items()
        return any(wanted <= node.metadata.labels.items() for node in self.nodes)

    def cluster_objects(self) -> list[Object]:
        """What the scheduler observes before the first job."""
        others = [each for each in self.objects if isinstance(each, PriorityClass | PodDisruptionBudget)]
        return [*others, *self.nodes]

    def too_large(self, jobs: Sequence[Job]) -> frozenset[int]:
        """Jobs that would not fit even if nothing else ran."""
        if not self.nodes:
            return frozenset()
        known: dict[tuple[int, int, int], int] = {}
        found = set()
        for index, job in enumerate(jobs):
            shape = job.cpu, job.memory, job.gpu
            if shape not in known:
                known[shape] = sum(self._room(node, job) for node in self.nodes)
            if known[shape] < job.pods:
                found.add(index)
        return frozenset(found)

    def _room(self, node: Node, job: Job) -> int:
        """How many of its pods an empty node holds."""
        assert self.counted is not None
        offer = node.status.allocatable
        asked = {"cpu": job.cpu / 1000, "memory": job.memory * 2**20}
        asked[GPU] = job.gpu if self.shares else -(-job.gpu // SHARE)
        rooms = [int(exact(offer.get("pods", 0)))]
        for name, amount in asked.items():
            if amount and name in self.counted:
                rooms.append(int(exact(offer.get(name, 0)) / exact(str(amount))))
        return min(rooms)

    def _notes(self, jobs: Sequence[Job]) -> tuple[str, ...]:
        notes = []
        if self.shares:
            notes.append(
                "shares of GPUs are counted in thousandths; those of different GPUs of a node add up"
            )
        stated = self.counted
        if stated is not None:
            asked = {"cpu": any(j.cpu for j in jobs), "memory": any(j.memory for j in jobs)}
            asked[GPU] = any(j.gpu for j in jobs)
            ignored = [name for name, wanted in asked.items() if wanted and name not in stated]
            if ignored:
                notes.append(f"no node states {' or '.join(ignored)}, so it is not counted")
        return (*notes, *self._notes_of_nodes(), *self._notes_of_others())

    def _notes_of_nodes(self) -> Iterator[str]:
        for flavor in self._tied() if self.nodes else ():
            if flavor.name not in self.flavors:
                labels = ", ".join(f"{key}={value}" for key, value in flavor.spec.node_labels.items())
                yield (
                    f"no node has the labels of the ResourceFlavor {flavor.name} ({labels}), "
                    "so jobs with its quota run on any node"
                )
        closed = [node.name for node in self.nodes if self._is_closed(node)]
        if closed:
            takes, count = ("takes", "it counts") if len(closed) == 1 else ("take", "they count")
            yield (
                f"{counted(len(closed), 'node')} {takes} no job, cordoned or with a taint that no job "
                f"tolerates; {count} as capacity all the same: {some(closed, MOST_NAMED)}"
            )

    def _is_closed(self, node: Node) -> bool:
        tolerations = [each for flavor in self.flavors.values() for each in flavor.spec.tolerations]
        strict = (each for each in node.spec.taints if each.effect != "PreferNoSchedule")
        return node.spec.unschedulable or not all(tolerates(tolerations, each) for each in strict)

    def _notes_of_others(self) -> Iterator[str]:
        for kind, word in ((Pod, "pods"), (Workload, "workloads")):
            if there := sum(1 for each in self.objects if isinstance(each, kind)):
                yield f"the manifests hold {word} ({there}); the cluster begins empty, they are not counted"
        budgets = [each for each in self.objects if isinstance(each, PodDisruptionBudget)]
        if idle := sum(1 for each in budgets if not _protects(each)):
            yield f"the manifests hold budgets that protect no job ({idle}): pods of a trace have no labels"


def _protects(budget: PodDisruptionBudget) -> bool:
    return budget.namespace == NAMESPACE and matches(budget.spec.selector, {})


def _in_shares(node: Node) -> Node:
    offer = node.status.allocatable
    if GPU not in offer:
        return node
    thousandths = {**offer, GPU: str(round(exact(offer[GPU]) * SHARE))}
    return replace(node, status=replace(node.status, allocatable=thousandths))
