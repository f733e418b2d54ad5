"""The cluster as plain objects, one Python object for each thing, nothing kept between questions."""

from dataclasses import dataclass, field
from typing import Any

from reprieve.objects.conditions import find_condition
from reprieve.objects.core import Namespace, Node, Pod
from reprieve.objects.decode import decode_all
from reprieve.objects.policy import PodDisruptionBudget
from reprieve.objects.quantity import amount
from reprieve.objects.requests import nonzero_requests, pod_requests
from reprieve.objects.scheduling import PodGroup


@dataclass(eq=False)
class P:
    """A pod."""

    obj: Pod
    node: str | None
    requests: dict[str, int]
    filled: tuple[int, int]

    @property
    def key(self) -> str:
        return self.obj.key

    @property
    def labels(self) -> dict[str, str]:
        return self.obj.metadata.labels

    @property
    def namespace(self) -> str:
        return self.obj.namespace

    @property
    def priority(self) -> int:
        return self.obj.spec.priority or 0

    @property
    def terminating(self) -> bool:
        return self.obj.metadata.deletion_timestamp is not None

    @property
    def preempted(self) -> bool:
        condition = find_condition(self.obj.status.conditions, "DisruptionTarget")
        return self.terminating and condition is not None and condition.reason == "PreemptionByScheduler"

    @property
    def group(self) -> str | None:
        link = self.obj.spec.scheduling_group
        return None if link is None else f"{self.namespace}/{link.pod_group_name}"


@dataclass(eq=False)
class N:
    """A node and the pods on it, in the order in which they came."""

    obj: Node
    allocatable: dict[str, int]
    pods: list[P] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.obj.name

    @property
    def labels(self) -> dict[str, str]:
        return self.obj.metadata.labels

    def used(self, resource: str) -> int:
        return sum(1 if resource == "pods" else pod.requests.get(resource, 0) for pod in self.pods)


class World:
    def __init__(self, documents: list[dict[str, Any]]) -> None:
        objects = decode_all(documents)
        nodes = [
            N(each, {name: amount(name, q) for name, q in each.status.allocatable.items()})
            for each in objects
            if isinstance(each, Node)
        ]
        self.nodes = {node.name: node for node in round_robin(nodes)}
        self.groups = {each.key: each for each in objects if isinstance(each, PodGroup)}
        self.budgets = [each for each in objects if isinstance(each, PodDisruptionBudget)]
        self.namespaces = {each.name: each.metadata.labels for each in objects if isinstance(each, Namespace)}
        self.pods: list[P] = []
        for each in objects:
            if isinstance(each, Pod) and each.status.phase not in ("Succeeded", "Failed"):
                pod = P(
                    each,
                    each.spec.node_name or None,
                    pod_requests(each.spec, each.status),
                    nonzero_requests(each.spec, each.status),
                )
                self.pods.append(pod)
                if pod.node:
                    self.nodes[pod.node].pods.append(pod)

    def running(self) -> list[P]:
        return [pod for node in self.nodes.values() for pod in node.pods]

    def put(self, pod: P, node: str) -> None:
        pod.node = node
        self.nodes[node].pods.append(pod)

    def take(self, pod: P) -> None:
        assert pod.node is not None
        self.nodes[pod.node].pods.remove(pod)
        pod.node = None


def round_robin(nodes: list[N]) -> list[N]:
    zones: dict[tuple[str, str], list[N]] = {}
    for node in nodes:
        labels = node.labels
        zone = (
            labels.get("topology.kubernetes.io/region", ""),
            labels.get("topology.kubernetes.io/zone", ""),
        )
        zones.setdefault(zone, []).append(node)
    ordered = []
    for turn in range(len(nodes)):
        ordered += [zone[turn] for zone in zones.values() if turn < len(zone)]
    return ordered
