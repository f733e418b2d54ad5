"""Extended resources that devices serve: the claim that stands for them, and who uses what of it."""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.cluster import Cluster, PodClass
from reprieve.objects import (
    Container,
    DeviceRequest,
    ExactDeviceRequest,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimSpec,
    amount,
    devices,
    split_key,
)

EXTENDED = "extended-resources"


class RequestMapping(NamedTuple):
    """A container gets a resource from the devices of this request."""

    container: str
    resource: str
    request: str


class ExtendedClaim(NamedTuple):
    claim: ResourceClaim
    """Its name is only used in memory: what is written gets a random one."""
    mappings: tuple[RequestMapping, ...]


def extended_resources(cluster: Cluster, cls: PodClass) -> tuple[str, ...]:
    """Extended resources that the pod requests and a class of devices serves."""
    table = cluster.devices
    if not table.classes:
        return ()
    return tuple(
        sorted(name for name, number in cls.requests.items() if number and table.class_serving(name))
    )


def extended_claim(cluster: Cluster, row: int, resources: Sequence[str]) -> ExtendedClaim:
    """A request for each container and resource.

    Init containers that end use what later containers hold, and ask only for the difference; of several only
    the largest counts, and the others use it, too.
    """
    spec, table = cluster.class_of(row).spec, cluster.devices
    containers = (*spec.init_containers, *spec.containers)
    ends = [
        at < len(spec.init_containers) and each.restart_policy != "Always"
        for at, each in enumerate(containers)
    ]
    found: dict[str, DeviceRequest] = {}
    mappings: list[RequestMapping] = []
    for resource in resources:
        requests, used = _of_resource(containers, ends, resource, table.class_serving(resource))
        found |= requests
        mappings += used
    namespace, name = split_key(cluster.pods.keys[row])
    claim = ResourceClaim(
        metadata=ObjectMeta(name=f"{name}-{EXTENDED}", namespace=namespace),
        spec=ResourceClaimSpec(
            devices=devices.DeviceClaim(requests=tuple(found[name] for name in sorted(found)))
        ),
    )
    return ExtendedClaim(claim, tuple(mappings))


def _of_resource(
    containers: Sequence[Container], ends: Sequence[bool], resource: str, cls: str
) -> tuple[dict[str, DeviceRequest], list[RequestMapping]]:
    """The requests for one resource, by name, and who uses them."""
    lasting: dict[int, DeviceRequest] = {}
    mappings: list[RequestMapping] = []
    for at, each in enumerate(containers):
        request = None if ends[at] else _request(at, each, resource, cls, 0)
        if request is not None:
            lasting[at] = request
            mappings.append(RequestMapping(each.name, resource, request.name))
    largest: DeviceRequest | None = None
    asking: list[str] = []
    for at, each in enumerate(containers):
        if not ends[at]:
            continue
        wanted, reused = _wanted(each, resource), 0
        for other, request in lasting.items():
            if other >= at and reused < wanted:
                reused += _count(request)
                mappings.append(RequestMapping(each.name, resource, request.name))
        own = _request(at, each, resource, cls, reused)
        if own is not None:
            asking.append(each.name)
            if largest is None or _count(largest) < _count(own):
                largest = own
    if largest is not None:
        mappings += [RequestMapping(name, resource, largest.name) for name in asking]
    return {each.name: each for each in ([largest] if largest else []) + list(lasting.values())}, mappings


def _count(request: DeviceRequest) -> int:
    return request.exactly.count if request.exactly is not None else 0


def _wanted(container: Container, resource: str) -> int:
    requests = container.resources.requests
    return amount(resource, requests[resource]) if resource in requests else 0


def _request(at: int, container: Container, resource: str, cls: str, reused: int) -> DeviceRequest | None:
    wanted = _wanted(container, resource)
    if wanted <= reused:
        return None
    number = sorted(container.resources.requests).index(resource)
    exactly = ExactDeviceRequest(device_class_name=cls, count=wanted - reused)
    return DeviceRequest(name=f"container-{at}-request-{number}", exactly=exactly)
