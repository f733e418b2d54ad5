"""What the pod sets of a workload request, in numbers.

Requests are per pod set and already multiplied by its count. Resources stand in the order in which flavors
are looked for: by the FNV-1a hash of their name, as upstream does, so that the first reported problem is
the same.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from reprieve.objects import (
    Container,
    LimitRange,
    PodSet,
    PodSetAssignment,
    PodSpec,
    ReclaimablePod,
    ResourceList,
    ResourceRequirements,
    TopologyRequest,
    all_requests,
    amount,
)
from reprieve.quota.tree import times

PODS = "pods"
_NOTHING: Mapping[str, int] = {}


class Demand:
    """One pod set: how many pods, and what they request together."""

    __slots__ = ("count", "held", "min_count", "name", "requests", "single", "spec", "topology")

    def __init__(
        self,
        name: str,
        count: int,
        min_count: int | None,
        requests: Mapping[str, int],
        spec: PodSpec,
        single: Mapping[str, int] = _NOTHING,
        topology: TopologyRequest | None = None,
        held: PodSetAssignment | None = None,
    ) -> None:
        self.name = name
        self.count = count
        self.min_count = min_count
        self.requests = requests
        self.spec = spec
        self.single = single
        """What one pod requests of a node, counted by quota or not."""
        self.topology = topology
        self.held = held
        """What a workload that has quota was given already."""

    def scaled(self, count: int) -> Demand:
        """The same pods, another number of them."""
        if count == self.count:
            return self
        old = self.count or 1
        requests = {name: number // old * count for name, number in self.requests.items()}
        return self._with(count, requests)

    def counting_pods(self) -> Demand:
        """With the number of pods as one more request, for queues that limit it."""
        requests = in_order({**self.requests, PODS: self.count})
        return self._with(self.count, requests)

    def _with(self, count: int, requests: Mapping[str, int]) -> Demand:
        return Demand(
            self.name, count, self.min_count, requests, self.spec, self.single, self.topology, self.held
        )

    def with_held(self, held: PodSetAssignment) -> Demand:
        """As it was admitted: the admission's count and usage, and its flavors are not looked for again."""
        count = held.count if held.count is not None else self.count
        usage = {name: max(0, amount(name, quantity)) for name, quantity in held.resource_usage.items()}
        left = min(count, self.count)
        if left != count:
            usage = {name: number // count * left for name, number in usage.items()}
        return Demand(
            self.name, left, self.min_count, in_order(usage), self.spec, self.single, self.topology, held
        )


def demands(
    pod_sets: Iterable[PodSet],
    reclaimable: Iterable[ReclaimablePod],
    limit_ranges: Collection[LimitRange] = (),
    excluded_prefixes: tuple[str, ...] = (),
    devices: Sequence[Mapping[str, int]] = (),
) -> tuple[Demand, ...]:
    """Pod sets as they are to be admitted: without the pods that are done already.

    `devices`: for each pod set, the devices that one pod asks for, by the resource they count as.
    """
    done = {each.name: each.count for each in reclaimable}
    found = []
    for index, pod_set in enumerate(pod_sets):
        spec = with_defaults(pod_set.template.spec, limit_ranges)
        count = pod_set.count - min(done.get(pod_set.name, 0), pod_set.count)
        single = all_requests(spec)
        asked = {**single, **devices[index]} if devices else single
        requests = in_order(
            {
                name: times(max(0, number), count)
                for name, number in asked.items()
                if not name.startswith(excluded_prefixes)
            }
        )
        found.append(
            Demand(
                pod_set.name,
                count,
                pod_set.min_count,
                requests,
                pod_set.template.spec,
                single,
                pod_set.topology_request,
            )
        )
    return tuple(found)


def in_order(requests: Mapping[str, int]) -> dict[str, int]:
    if len(requests) < 2:
        return dict(requests)
    return {name: requests[name] for name in sorted(requests, key=_place)}


@lru_cache(maxsize=4096)
def _place(resource: str) -> tuple[int, str]:
    return fnv1a_64(resource.encode()), resource


def fnv1a_64(data: bytes) -> int:
    number = 0xCBF29CE484222325
    for byte in data:
        number = ((number ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return number


def with_defaults(spec: PodSpec, limit_ranges: Collection[LimitRange]) -> PodSpec:
    """Fill in missing requests from the namespace's LimitRanges, then from the container's own limits."""
    requests, limits = _range_defaults(limit_ranges)
    if not requests and not limits and not any(c.resources.limits for c in _containers(spec)):
        return spec
    return msgspec.structs.replace(
        spec,
        containers=tuple(_filled(each, requests, limits) for each in spec.containers),
        init_containers=tuple(_filled(each, requests, limits) for each in spec.init_containers),
    )


def _containers(spec: PodSpec) -> tuple[Container, ...]:
    return spec.containers + spec.init_containers


def _range_defaults(limit_ranges: Iterable[LimitRange]) -> tuple[ResourceList, ResourceList]:
    """(requests, limits) for containers without their own; the first range that names a resource counts."""
    requests: ResourceList = {}
    limits: ResourceList = {}
    for each in limit_ranges:
        for item in each.spec.limits:
            if item.type == "Container":
                requests = {**item.default_request, **requests}
                limits = {**item.default, **limits}
    return requests, limits


def _filled(container: Container, requests: ResourceList, limits: ResourceList) -> Container:
    all_limits = {**limits, **container.resources.limits}
    all_requests_ = {**all_limits, **requests, **container.resources.requests}
    return msgspec.structs.replace(
        container, resources=ResourceRequirements(requests=all_requests_, limits=all_limits)
    )


def fingerprint(wanted: Iterable[Demand], priority: int) -> Hashable:
    """Equal for workloads that admission cannot tell apart."""
    return priority, *(_shape(each) for each in wanted)


def _shape(demand: Demand) -> Hashable:
    spec = demand.spec
    return (
        demand.name,
        demand.count,
        demand.min_count,
        tuple(demand.requests.items()),
        tuple((_numbers(each.resources.requests), each.ports) for each in spec.init_containers),
        tuple((_numbers(each.resources.requests), each.ports) for each in spec.containers),
        _text(spec.node_selector),
        _text(spec.affinity),
        _text(spec.tolerations),
        spec.priority,
        _text(spec.topology_spread_constraints),
        _text(demand.topology),
        _numbers(spec.overhead),
        _numbers(spec.resources.requests) if spec.resources is not None else None,
    )


def _text(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted") if value else b""


def _numbers(resources: ResourceList) -> Hashable:
    return tuple(sorted((name, amount(name, quantity)) for name, quantity in resources.items()))
