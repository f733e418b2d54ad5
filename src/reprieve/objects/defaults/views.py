"""Views as an API server would have stored them: what decisions read and authors leave out.

Most fields say their default in the view itself. Here are those that depend on other fields. Decoding applies
this to what comes from a file, a list and a watch alike; an object that a real API server stored has it all
and passes unchanged.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from reprieve.objects import well_known
from reprieve.objects.core import (
    Container,
    LimitRange,
    LimitRangeItem,
    Node,
    Pod,
    PodSpec,
    SchedulingGroup,
)
from reprieve.objects.defaults.resources import requested, with_requests
from reprieve.objects.selecting import SELECTING_KINDS, bare


def pod_as_stored(pod: Pod) -> Pod:
    """Its group however it joined, its requests, and the ports of a node that it takes."""
    spec, labels = pod.spec, pod.metadata.labels
    if well_known.POD_GROUP_LABEL in labels and spec.scheduling_group is None:
        name = labels[well_known.POD_GROUP_LABEL]
        spec = msgspec.structs.replace(spec, scheduling_group=SchedulingGroup(pod_group_name=name))
    if not _complete(spec):
        spec = with_requests(spec)
        if spec.host_network:
            spec = _with_host_ports(spec)
    return pod if spec is pod.spec else msgspec.structs.replace(pod, spec=spec)


def _complete(spec: PodSpec) -> bool:
    """A quick yes for the many pods that state their requests."""
    if spec.init_containers or spec.resources is not None or spec.host_network:
        return False
    for container in spec.containers:
        stated = container.resources
        if stated.limits and not stated.limits.keys() <= stated.requests.keys():
            return False
    return True


def _with_host_ports(spec: PodSpec) -> PodSpec:
    """In the network of its node, every port of a container is a port of the node."""
    return msgspec.structs.replace(
        spec,
        containers=tuple(map(_on_the_host, spec.containers)),
        init_containers=tuple(map(_on_the_host, spec.init_containers)),
    )


def _on_the_host(container: Container) -> Container:
    ports = tuple(
        each if each.host_port else msgspec.structs.replace(each, host_port=each.container_port)
        for each in container.ports
    )
    return container if ports == container.ports else msgspec.structs.replace(container, ports=ports)


def node_as_stored(node: Node) -> Node:
    """Without `allocatable`, pods may have all of the capacity."""
    status = node.status
    if status.allocatable or not status.capacity:
        return node
    return msgspec.structs.replace(node, status=msgspec.structs.replace(status, allocatable=status.capacity))


def limit_range_as_stored(limit_range: LimitRange) -> LimitRange:
    """What containers request without asking: what they are limited to by default or at most, or the minimum.

    A maximum is also the default limit. That is left out: what exceeds it exceeds the maximum as well, and
    Kueue's recorded answers say the latter.
    """
    limits = tuple(map(_with_default_requests, limit_range.spec.limits))
    if limits == limit_range.spec.limits:
        return limit_range
    return msgspec.structs.replace(limit_range, spec=msgspec.structs.replace(limit_range.spec, limits=limits))


def _with_default_requests(item: LimitRangeItem) -> LimitRangeItem:
    if item.type != "Container":
        return item
    found = item.default_request
    for fallback in (item.default, item.max, item.min):
        found = requested(found, fallback)
    return msgspec.structs.replace(item, default_request=found)


AS_STORED: dict[type[Any], Callable[[Any], Any]] = {
    Pod: pod_as_stored,
    Node: node_as_stored,
    LimitRange: limit_range_as_stored,
    **dict.fromkeys(SELECTING_KINDS, bare),
}
