"""What containers and pods may ask for: names, amounts, and requests against limits."""

import difflib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from reprieve.objects import labels
from reprieve.objects.core import PodSpec, ResourceRequirements
from reprieve.objects.defaults.resources import together
from reprieve.objects.meta import Document
from reprieve.objects.quantity import NANO, QuantityError, written
from reprieve.objects.resource_names import (
    STANDARD,
    is_extended,
    is_for_containers,
    is_for_pods,
    is_huge_pages,
    may_be_overcommitted,
)
from reprieve.objects.structure import FORBIDDEN, REQUIRED, UNSUPPORTED, Problem, nearest
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import At, Problems, nano_at, quantity

_BYTES = ("memory", "ephemeral-storage")


def pod_amounts(spec: At) -> Problems:
    """What cannot be counted: whatever holds the spec, and whether or not an API server has seen it."""
    for resources in _all_resources(spec):
        yield from _amounts(resources.field("limits"))
        yield from _amounts(resources.field("requests"))
        yield from _within_limits(resources)
    yield from _amounts(spec.field("overhead"))


def pod_resources(spec: At) -> Problems:
    """Everything that an API server demands of the resources of a pod."""
    yield from pod_amounts(spec)
    for container in _containers(spec):
        resources = container.field("resources")
        for half in ("limits", "requests"):
            yield from _names(resources.field(half), is_for_containers, "containers")
        yield from _limits_missing(resources)
        yield from _huge_pages_alone(resources)
    yield from _names(spec.field("overhead"), is_for_containers, "containers")
    for half in ("limits", "requests"):
        yield from _names(
            spec.field("resources", half), is_for_pods, "a whole pod (cpu, memory, hugepages-…)"
        )
    yield from _whole_pod(spec)


def countable(spec: PodSpec, path: str = "spec") -> list[Problem]:
    """`pod_amounts` of a typed view: quick for the many pods in which nothing is wrong."""
    stated = [each.resources for each in (*spec.containers, *spec.init_containers)]
    if spec.resources is not None:
        stated.append(spec.resources)
    if all(map(_is_sound, stated)) and (not spec.overhead or _sound((), tuple(spec.overhead.items()))):
        return []
    return list(pod_amounts(At(msgspec.to_builtins(spec), path)))


def whole_pod(spec: PodSpec, path: str = "spec") -> list[Problem]:
    """What a typed view states for the whole pod and its containers exceed."""
    return list(_whole_pod(At(msgspec.to_builtins(spec), path))) if spec.resources is not None else []


def fractions(spec: PodSpec, path: str = "spec") -> list[Problem]:
    """Of `countable` only what is handed out in whole ones: nobody else would notice half a device."""
    if not countable(spec, path):
        return []
    halves = [
        each.field(half)
        for each in _all_resources(At(msgspec.to_builtins(spec), path))
        for half in ("limits", "requests")
    ]
    return [problem for half in halves for name, each in half.members() for problem in _whole(name, each)]


def _is_sound(stated: ResourceRequirements) -> bool:
    return _sound(tuple(stated.requests.items()), tuple(stated.limits.items()))


@lru_cache(maxsize=4096)
def _sound(requests: tuple[tuple[str, Any], ...], limits: tuple[tuple[str, Any], ...]) -> bool:
    return not any(pod_amounts(At({"resources": {"requests": dict(requests), "limits": dict(limits)}})))


def _containers(spec: At) -> list[At]:
    return [*spec.field("containers").items(), *spec.field("initContainers").items()]


def _all_resources(spec: At) -> list[At]:
    return [*(each.field("resources") for each in _containers(spec)), spec.field("resources")]


def _amounts(amounts: At) -> Problems:
    for name, each in amounts.members():
        yield from quantity(each)
        yield from _whole(name, each)


def _whole(name: str, amount: At) -> Problems:
    if is_extended(name) and (found := nano_at(amount)) is not None and found % NANO:
        message = f"must be an integer, got {shown(amount.value)}: {name} is handed out in whole ones"
        yield amount.problem(message)


def _within_limits(resources: At) -> Problems:
    limits = dict(resources.field("limits").members())
    for name, request in resources.field("requests").members():
        wanted, most = nano_at(request), nano_at(limits.get(name, At(None)))
        if wanted is None or most is None or wanted == most or most < 0:
            continue
        limit = limits[name].value
        if not may_be_overcommitted(name):
            yield request.problem(f"must be equal to the limit of {limit}, got {shown(request.value)}")
        elif wanted > most:
            yield request.problem(
                f"must be less than or equal to the limit of {limit}, got {shown(request.value)}"
            )


def _limits_missing(resources: At) -> Problems:
    limits = resources.field("limits")
    for name, request in resources.field("requests").members():
        if not may_be_overcommitted(name) and not limits.field(name).is_set:
            message = f"is required: {name} must be limited to what is requested, {request.value}"
            yield Problem(f"{limits.path}[{name}]", None, message, REQUIRED)


def _huge_pages_alone(resources: At) -> Problems:
    names = {name for half in ("limits", "requests") for name, _ in resources.field(half).members()}
    if any(map(is_huge_pages, names)) and not names & {"cpu", "memory"}:
        yield resources.problem("huge pages need a request or limit of cpu or memory beside them", FORBIDDEN)


def unknown_names(spec: PodSpec, path: str = "spec") -> list[Problem]:
    """Names in a typed view that no node accounts for: what is asked by them would be given everywhere."""
    stated = [each.resources for each in (*spec.containers, *spec.init_containers)]
    if all(is_for_containers(name) for each in stated for name in (*each.requests, *each.limits)):
        return []
    return [
        problem
        for each in _containers(At(msgspec.to_builtins(spec), path))
        for half in ("limits", "requests")
        for problem in _names(each.field("resources", half), is_for_containers, "containers")
    ]


def part_bytes(document: Document) -> list[Problem]:
    """Memory and storage asked for by the thousandth of a byte, wherever containers stand: `512m` is less
    than one byte, `512Mi` was meant. An API server takes it, with a warning."""
    found: list[Problem] = []
    to_do = [At(document.get("spec"), "spec")]
    while to_do:
        place = to_do.pop()
        if isinstance(place.value, list):
            to_do += place.items()
        elif isinstance(place.value, dict):
            to_do += [place.field(name) for name in place.value if name != "resources"]
            found += _parts(place.field("resources"))
    return sorted(found)


def _parts(resources: At) -> Problems:
    for half in ("limits", "requests"):
        for name, amount in resources.field(half).members():
            if name in _BYTES and amount.text.endswith("m") and (nano_at(amount) or 0) % NANO:
                text = f"{amount.text} is a part of a byte; {amount.text[:-1]}Mi was perhaps meant"
                yield amount.problem(text)


def _names(amounts: At, allowed: Callable[[str], bool], whom: str) -> Problems:
    for name, each in amounts.members():
        if (wrong := labels.label_key(name)) is not None:
            yield Problem(each.path, name, f"the name {shown(name)} {wrong}")
        elif not allowed(name):
            text = f"{shown(name)} is not a resource for {whom}{_meant(name)}"
            yield Problem(each.path, name, text, UNSUPPORTED)
        elif is_huge_pages(name):
            yield from _divisible(name, each)


def _meant(name: str) -> str:
    if "/" in name:
        return ""
    # `gpu` is near `cpu` only to the eye of a machine.
    near = difflib.get_close_matches(name, STANDARD, 1, 0.75)
    return nearest(name, near) or ": devices have a domain, as nvidia.com/gpu"


def _divisible(name: str, place: At) -> Problems:
    size, found = nano_at(At(name.partition("-")[2])), nano_at(place)
    if not size:
        yield Problem(place.path, name, f"{shown(name)} does not name the size of a page, such as 2Mi")
    elif found is not None and found % size:
        yield place.problem(f"must be a multiple of the page size, got {shown(place.value)}")


def _whole_pod(spec: At) -> Problems:
    """What the containers need together fits into what is stated for the pod."""
    own = spec.field("resources")
    if not own.is_set:
        return
    if own.field("claims").is_set:
        yield own.field("claims").problem("cannot be stated for a whole pod", FORBIDDEN)
    try:
        view = msgspec.convert(spec.value, PodSpec)
        totals = {
            half: together(view.containers, view.init_containers, half) for half in ("requests", "limits")
        }
    except (msgspec.ValidationError, QuantityError, OverflowError, UnicodeError):
        return  # reported on its own
    for half, total in totals.items():
        for name, number in total.items():
            place = At(own.field(half, name).value, f"{own.field(half).path}[{name}]")
            stated = nano_at(place)
            if stated is not None and number > stated and (half == "requests" or is_huge_pages(name)):
                message = f"must be at least what the containers state together, {written(name, number)}"
                yield place.problem(f"{message}, got {shown(place.value)}")
    for container in spec.field("containers").items():
        yield from _within_pod(container.field("resources", "limits"), own.field("limits"))


def _within_pod(limits: At, most: At) -> Problems:
    for name, limit in limits.members():
        own, whole = nano_at(limit), nano_at(most.field(name))
        if own is not None and whole is not None and own > whole:
            yield limit.problem(
                f"must be less than or equal to the pod's limit of {most.field(name).value}, "
                f"got {shown(limit.value)}"
            )
