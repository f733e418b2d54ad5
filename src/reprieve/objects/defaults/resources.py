"""What a pod requests by stating limits: written into every pod when it is stored.

1. A container, an init container or a sidecar that limits a resource and does not request it requests as
   much as it may use.
2. Where resources are stated for the pod as a whole:
   a. the pod limits the huge pages that its containers limit together, unless it requests them itself;
   b. it requests the cpu and memory that its containers request together, and what it limits itself;
   c. it limits what every one of its containers limits: as much as they do together, or as it requests.

What is stated stays. Pod templates are stored as they are written: only pods get this.
"""

from typing import NamedTuple

import msgspec

from reprieve.objects.core import Container, PodSpec, ResourceList, ResourceRequirements
from reprieve.objects.meta import Document
from reprieve.objects.quantity import QuantityError, nano, written
from reprieve.objects.requests import Exact, add_up, exact_amounts
from reprieve.objects.resource_names import is_for_pods, is_huge_pages, may_be_overcommitted


class Stated(NamedTuple):
    """The two halves of `resources`."""

    requests: ResourceList
    limits: ResourceList


def with_requests(spec: PodSpec) -> PodSpec:
    """The spec of a pod as it is stored; itself where nothing is missing."""
    containers, inits = _filled(spec.containers), _filled(spec.init_containers)
    resources = _whole_pod(spec.resources, containers, inits)
    if containers is spec.containers and inits is spec.init_containers and resources is spec.resources:
        return spec
    return msgspec.structs.replace(spec, containers=containers, init_containers=inits, resources=resources)


def state_requests(spec: Document) -> None:
    """The same for a raw document, in place. What has the wrong type is left for validation to report."""
    for container in [*_items(spec, "containers"), *_items(spec, "initContainers")]:
        resources = container.get("resources")
        limits = resources.get("limits") if isinstance(resources, dict) else None
        if isinstance(resources, dict) and isinstance(limits, dict) and limits:
            requests = resources.setdefault("requests", {})
            if isinstance(requests, dict):
                resources["requests"] = requested(requests, limits)
    if isinstance(spec.get("resources"), dict):
        _state_for_pod(spec)


def requested(requests: ResourceList, limits: ResourceList) -> ResourceList:
    """The requests, with what is only limited added."""
    missing = {name: limit for name, limit in limits.items() if name not in requests}
    return requests | missing if missing else requests


def _items(section: Document, name: str) -> list[Document]:
    found = section.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _filled(containers: tuple[Container, ...]) -> tuple[Container, ...]:
    if all(each.resources.limits.keys() <= each.resources.requests.keys() for each in containers):
        return containers
    return tuple(
        msgspec.structs.replace(
            each,
            resources=ResourceRequirements(
                requests=requested(each.resources.requests, each.resources.limits),
                limits=each.resources.limits,
            ),
        )
        for each in containers
    )


def _whole_pod(
    own: ResourceRequirements | None, containers: tuple[Container, ...], inits: tuple[Container, ...]
) -> ResourceRequirements | None:
    if own is None or not (own.requests or own.limits):
        return own
    try:
        found = _pod_level(Stated(own.requests, own.limits), containers, inits)
    except QuantityError:
        return own  # whoever adds up the requests says where
    if found == (own.requests, own.limits):
        return own
    return ResourceRequirements(requests=found.requests, limits=found.limits)


def _state_for_pod(spec: Document) -> None:
    try:
        view = msgspec.convert(spec, PodSpec)
    except (msgspec.ValidationError, OverflowError, UnicodeError):
        return
    stored = _whole_pod(view.resources, view.containers, view.init_containers)
    if stored is not None and stored is not view.resources:
        for half, amounts in (("requests", stored.requests), ("limits", stored.limits)):
            if amounts:
                spec["resources"][half] = dict(amounts)


def _pod_level(own: Stated, containers: tuple[Container, ...], inits: tuple[Container, ...]) -> Stated:
    requests, limits = dict(own.requests), dict(own.limits)
    together_limited = together(containers, inits, "limits")
    for name, number in together_limited.items():
        if is_huge_pages(name) and name not in requests:
            limits.setdefault(name, written(name, number))
    for name, number in together(containers, inits, "requests").items():
        if is_for_pods(name) and may_be_overcommitted(name):
            requests.setdefault(name, written(name, number))
    for name, limit in limits.items():
        if is_for_pods(name):
            requests.setdefault(name, limit)
    for name in requests:
        limited_by_all = all(name in each.resources.limits for each in (*containers, *inits))
        if name not in limits and is_for_pods(name) and name in together_limited and limited_by_all:
            limits[name] = written(name, max(together_limited[name], nano(requests[name])))
    return Stated(requests, limits)


def together(containers: tuple[Container, ...], inits: tuple[Container, ...], half: str) -> Exact:
    """What all containers request, or limit (`half`), together."""

    def amounts(container: Container) -> Exact:
        return exact_amounts(getattr(container.resources, half))

    return add_up(
        map(amounts, containers), ((amounts(each), each.restart_policy == "Always") for each in inits)
    )
