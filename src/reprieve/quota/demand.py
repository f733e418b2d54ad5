"""What the pod sets of a workload request, in numbers.

Requests are per pod set and already multiplied by its count. Resources stand in the order in which flavors
are looked for: by the FNV-1a hash of their name, as upstream does, so that the first reported problem is
the same.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from functools import lru_cache

import msgspec

from reprieve.objects import (
    Container,
    LimitRange,
    PodSet,
    PodSpec,
    ReclaimablePod,
    ResourceList,
    ResourceRequirements,
    all_requests,
    amount,
)
from reprieve.quota.tree import times

PODS = "pods"


class Demand:
    """One pod set: how many pods, and what they request together."""

    __slots__ = ("count", "min_count", "name", "requests", "spec")

    def __init__(
        self, name: str, count: int, min_count: int | None, requests: Mapping[str, int], spec: PodSpec
    ) -> None:
        self.name = name
        self.count = count
        self.min_count = min_count
        self.requests = requests
        self.spec = spec

    def scaled(self, count: int) -> Demand:
        """The same pods, another number of them."""
        if count == self.count:
            return self
        old = self.count or 1
        requests = {name: number // old * count for name, number in self.requests.items()}
        return Demand(self.name, count, self.min_count, requests, self.spec)

    def counting_pods(self) -> Demand:
        """With the number of pods as one more request, for queues that limit it."""
        requests = in_order({**self.requests, PODS: self.count})
        return Demand(self.name, self.count, self.min_count, requests, self.spec)


def demands(
    pod_sets: Iterable[PodSet],
    reclaimable: Iterable[ReclaimablePod],
    limit_ranges: Collection[LimitRange] = (),
    excluded_prefixes: tuple[str, ...] = (),
) -> tuple[Demand, ...]:
    """Pod sets as they are to be admitted: without the pods that are done already."""
    done = {each.name: each.count for each in reclaimable}
    found = []
    for pod_set in pod_sets:
        spec = with_defaults(pod_set.template.spec, limit_ranges)
        count = pod_set.count - min(done.get(pod_set.name, 0), pod_set.count)
        requests = in_order(
            {
                name: times(max(0, number), count)
                for name, number in all_requests(spec).items()
                if not name.startswith(excluded_prefixes)
            }
        )
        found.append(Demand(pod_set.name, count, pod_set.min_count, requests, pod_set.template.spec))
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
        _numbers(spec.overhead),
        _numbers(spec.resources.requests) if spec.resources is not None else None,
    )


def _text(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted") if value else b""


def _numbers(resources: ResourceList) -> Hashable:
    return tuple(sorted((name, amount(name, quantity)) for name, quantity in resources.items()))
