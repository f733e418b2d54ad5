"""Pod classes: pods with the same scheduling-relevant spec share a class, so that it is evaluated once.

A class says nothing about a particular pod: not its name, priority, node or group.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from reprieve.cluster.columns import Ints, Mask, grown
from reprieve.cluster.nodes import CPU, MAX_AMOUNT, MEMORY, PODS, NodeTable
from reprieve.cluster.terms import Spread, Term, preferred_terms, required_terms, spread_constraints
from reprieve.objects import (
    InvalidObject,
    Pod,
    PodSpec,
    PreferredSchedulingTerm,
    QuantityError,
    find_condition,
    granted_statuses,
    nonzero_requests,
    pod_requests,
    selecting,
    well_known,
)

WILDCARD = "0.0.0.0"

MAX_IDLE = 2048
"""How many classes without pods are kept."""

Port = tuple[str, str, int]
"""(host address, protocol, host port)"""

_encode = msgspec.json.Encoder().encode


class PodClass:
    """What all pods of a class have in common."""

    __slots__ = (
        "affinity",
        "anti_affinity",
        "container_count",
        "controller",
        "filled",
        "has_spread",
        "id",
        "images",
        "key",
        "labels",
        "namespace",
        "ports",
        "preferred_affinity",
        "preferred_anti_affinity",
        "preferred_nodes",
        "requested",
        "requests",
        "score_cpu",
        "score_memory",
        "shape",
        "soft_spread",
        "spec",
        "spread",
    )

    def __init__(self, id: int, key: bytes, shape: bytes, pod: Pod, like: "PodClass | None" = None) -> None:
        """`like`: a class of the same shape, from which all is taken that labels do not change."""
        spec, labels, namespace = pod.spec, pod.metadata.labels, pod.namespace
        self.id = id
        self.key = key
        self.shape: bytes = shape if like is None else like.shape
        """Equal for classes that differ only in labels, namespace and controller."""
        self.namespace = namespace
        self.labels: Mapping[str, str] = labels
        self.controller: tuple[str, str] | None = _controller(pod)
        """Kind and name, of those whose pods are spread by default."""
        self.spec: PodSpec = spec
        self.requests: dict[str, int] = _requests(pod) if like is None else like.requests
        self.filled: tuple[int, int] = (
            _bounded(nonzero_requests(spec, pod.status)) if like is None else like.filled
        )
        self.score_cpu: int
        self.score_memory: int
        self.score_cpu, self.score_memory = (
            _bounded(nonzero_requests(_without_pod_level(spec)))
            if like is None
            else (like.score_cpu, like.score_memory)
        )
        self.requested: tuple[tuple[int, int], ...] = () if like is None else like.requested
        """(row of the resource, amount) of everything it requests, one of `pods` included."""
        self.ports: tuple[Port, ...] = tuple(dict.fromkeys(_ports(spec))) if like is None else like.ports
        self.has_spread = bool(spec.topology_spread_constraints)
        self.spread: tuple[Spread, ...] = ()
        self.soft_spread: tuple[Spread, ...] = ()
        if self.has_spread:
            self.spread = spread_constraints(spec, labels, "DoNotSchedule")
            self.soft_spread = spread_constraints(spec, labels, "ScheduleAnyway")
        affinity = spec.affinity
        near = affinity.pod_affinity if affinity else None
        apart = affinity.pod_anti_affinity if affinity else None
        self.affinity: tuple[Term, ...] = required_terms(near, namespace, labels)
        self.anti_affinity: tuple[Term, ...] = required_terms(apart, namespace, labels)
        self.preferred_affinity: tuple[Term, ...] = preferred_terms(near, namespace, labels)
        self.preferred_anti_affinity: tuple[Term, ...] = preferred_terms(apart, namespace, labels)
        self.preferred_nodes: tuple[PreferredSchedulingTerm, ...] = ()
        if affinity and affinity.node_affinity:
            self.preferred_nodes = affinity.node_affinity.preferred_during_scheduling_ignored_during_execution
        containers = (*spec.init_containers, *spec.containers)
        self.images: tuple[str, ...] = (
            tuple(_with_tag(each.image) for each in containers if each.image) if like is None else like.images
        )
        self.container_count = len(containers)

    @property
    def has_terms(self) -> bool:
        """Whether it has (anti-)affinity terms: placing it can change how others are filtered or scored."""
        return bool(
            self.affinity or self.anti_affinity or self.preferred_affinity or self.preferred_anti_affinity
        )


class ClassTable:
    """Classes by number.

    A class without pods is kept for a while, since more such pods tend to come; then its number is reused.
    """

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._by_key: dict[bytes, PodClass] = {}
        self._by_shape: dict[bytes, PodClass] = {}
        self.all: list[PodClass] = []
        self._requests: Ints = np.zeros((len(nodes.resources), 0), dtype=np.int64)
        self.filled: Ints = np.zeros((2, 0), dtype=np.int64)
        self.with_ports: Mask = np.zeros(0, dtype=np.bool_)
        self.anti_affine: list[PodClass] = []
        """Classes with required anti-affinity: their pods keep others away."""
        self.with_terms: list[PodClass] = []
        self._pods: list[int] = []
        self._idle: dict[int, None] = {}
        self._spare: list[int] = []
        self.renewed: list[int] = []
        """Numbers that stand for another class than when tables were last forgotten, in order."""

    @property
    def requests(self) -> Ints:
        """Requests of a pod of each class (columns) by resource (rows); every pod requests one of `pods`."""
        missing = len(self._nodes.resources) - self._requests.shape[0]
        if missing:
            pad = np.zeros((missing, self._requests.shape[1]), dtype=np.int64)
            self._requests = np.concatenate([self._requests, pad])
        return self._requests

    def __getitem__(self, id: int) -> PodClass:
        return self.all[id]

    def join(self, pod: Pod) -> PodClass:
        """The class of a pod, created for the first pod of its kind. The pod is a member until `leave`."""
        key = _encode(_described(pod))
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = self._add(key, pod)
        self._pods[found.id] += 1
        if self._idle:
            self._idle.pop(found.id, None)
        return found

    def join_all(self, pods: Iterable[Pod]) -> list[int] | None:
        """The numbers of their classes; None if one of them cannot have any, and then none of them joined."""
        known = self._by_key
        numbers: list[int] = []
        try:
            for pod in pods:
                key = _encode(_described(pod))
                found = known.get(key)
                if found is None:
                    found = known[key] = self._add(key, pod)
                numbers.append(found.id)
        except InvalidObject:
            self._idle |= {number: None for number in numbers if not self._pods[number]}
            return None
        for number, count in Counter(numbers).items():
            self._pods[number] += count
            self._idle.pop(number, None)
        return numbers

    def is_of(self, pod: Pod, id: int) -> bool:
        """Whether the pod is still of this class."""
        return _encode(_described(pod)) == self.all[id].key

    def leave(self, id: int) -> None:
        self._pods[id] -= 1
        if not self._pods[id]:
            self._idle[id] = None

    def reclaim(self) -> bool:
        """Drop classes without pods once there are many. True when class numbers may be reused now."""
        if len(self._idle) <= MAX_IDLE:
            return False
        for id in self._idle:
            del self._by_key[self.all[id].key]
            self._spare.append(id)
        self.anti_affine = [each for each in self.anti_affine if each.id not in self._idle]
        self.with_terms = [each for each in self.with_terms if each.id not in self._idle]
        self._idle.clear()
        self.renewed.clear()
        self._by_shape = {each.shape: each for each in self._by_key.values()}
        return True

    def _add(self, key: bytes, pod: Pod) -> PodClass:
        id = self._spare[-1] if self._spare else len(self.all)
        shape = _encode(_described(pod)[2:])
        like = self._by_shape.get(shape)
        fresh = PodClass(id, key, shape, pod, like)
        if like is None:
            self._by_shape[shape] = fresh
            amounts = {self._nodes.resource(name): number for name, number in fresh.requests.items()}
            amounts[PODS] = 1
            fresh.requested = tuple(sorted((index, number) for index, number in amounts.items() if number))
        if self._spare:
            self.renewed.append(self._spare.pop())
            self.all[id] = fresh
        else:
            self.all.append(fresh)
            self._pods.append(0)
        self._requests = grown(self.requests, len(self.all))
        self.filled = grown(self.filled, len(self.all))
        self.with_ports = grown(self.with_ports, len(self.all))
        if like is not None:
            self._requests[:, id] = self._requests[:, like.id]
        else:
            self._requests[:, id] = 0
            for index, number in fresh.requested:
                self._requests[index, id] = number
        self.filled[:, id] = fresh.filled
        self.with_ports[id] = bool(fresh.ports)
        if fresh.anti_affinity:
            self.anti_affine.append(fresh)
        if fresh.has_terms:
            self.with_terms.append(fresh)
        return fresh


def _described(pod: Pod) -> tuple[object, ...]:
    """All that a class depends on: first namespace, labels and controller, then what makes its shape."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    resize = find_condition(status.conditions, well_known.POD_RESIZE_PENDING) if status.conditions else None
    controller = _controller(pod) if meta.owner_references else None
    return (
        meta.namespace,
        meta.labels if controller is None else (meta.labels, controller),
        spec.containers,
        spec.init_containers,
        spec.resources,
        spec.overhead,
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.topology_spread_constraints,
        granted_statuses(status) if status.container_statuses or status.init_container_statuses else (),
        status.resources,
        status.allocated_resources,
        resize.reason if resize is not None else "",
    )


def _controller(pod: Pod) -> tuple[str, str] | None:
    """Its kind and name, if default spreading counts its pods. Other owners tell no classes apart."""
    for each in pod.metadata.owner_references:
        if each.controller:
            return (each.kind, each.name) if (each.api_version, each.kind) in selecting.SPREADS_BY else None
    return None


def _requests(pod: Pod) -> dict[str, int]:
    where = f"Pod/{pod.key}"
    try:
        requests = pod_requests(pod.spec, pod.status)
    except QuantityError as wrong:
        raise InvalidObject("spec.containers[].resources.requests", None, str(wrong), where) from None
    for name, number in requests.items():
        if number < 0:
            path = f"spec.containers[].resources.requests[{name}]"
            raise InvalidObject(path, number, f"a request must not be negative, is {number}", where)
    return {name: min(number, MAX_AMOUNT) for name, number in requests.items()}


def _bounded(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair[0], MAX_AMOUNT), min(pair[1], MAX_AMOUNT)


def _without_pod_level(spec: PodSpec) -> PodSpec:
    """kube-scheduler's scorer ignores requests stated for the whole pod."""
    return spec if spec.resources is None else msgspec.structs.replace(spec, resources=None)


def _ports(spec: PodSpec) -> list[Port]:
    sidecars = [each for each in spec.init_containers if each.restart_policy == "Always"]
    return [
        (port.host_ip or WILDCARD, port.protocol or "TCP", port.host_port)
        for container in (*spec.containers, *sidecars)
        for port in container.ports
        if port.host_port > 0
    ]


def _with_tag(image: str) -> str:
    return image if ":" in image[image.rfind("/") + 1 :] else f"{image}:latest"


assert (CPU, MEMORY) == (0, 1), "`filled` columns are cpu and memory, in this order"
