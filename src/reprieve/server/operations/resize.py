"""The `resize` subresource: more or less cpu and memory for the containers of a pod, while it runs.

A fake node gives at once what it has. What it does not have is refused here, where a kubelet would leave the
resize pending.
"""

from collections.abc import Iterable

import msgspec

from reprieve.objects import (
    Document,
    PodSpec,
    QuantityError,
    format_amount,
    pod_requests,
    qos_class,
    state_requests,
    well_known,
)
from reprieve.server.backend import Backend, WriteOptions
from reprieve.server.documents import at, items
from reprieve.server.errors import Cause, bad_request, forbidden, forbidden_field, invalid, invalid_value
from reprieve.server.operations.writes import check_version, replace
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Record

_LISTS = ("containers", "initContainers")
_RESIZABLE = ("cpu", "memory")
_ONLY = "only cpu and memory resources are mutable"


def resize(
    backend: Backend, resource: ResourceInfo, current: Record, wanted: Document, options: WriteOptions
) -> Record:
    """Write the resources of `wanted` into the pod; everything else must be as it is."""
    check_version(resource, wanted.get("metadata") or {}, current)
    pod = current.object
    spec = _readable(wanted.get("spec"))
    causes = list(_problems(pod["spec"], spec))
    if causes:
        raise invalid("", "Pod", current.name, causes)
    _require_room(backend, current, pod, spec)
    pod["spec"] = spec
    return replace(backend, resource, pod, current, options, "resize")


def _readable(spec: object) -> Document:
    """With the requests that limits imply; 400 when its resources are no amounts."""
    if not isinstance(spec, dict):
        raise bad_request("Pod: spec: expected an object")
    try:
        state_requests(spec)
        _requests(spec)
    except (msgspec.ValidationError, QuantityError) as error:
        raise bad_request(f'Pod in version "v1" cannot be handled as a Pod: spec: {error}') from None
    return spec


def _problems(before: Document, after: Document) -> Iterable[Cause]:
    if _without_resources(before) != _without_resources(after):
        yield forbidden_field("spec", _ONLY)
        return
    for name in _LISTS:
        for index, (old, new) in enumerate(zip(items(before, name), items(after, name), strict=True)):
            yield from _container_problems(f"spec.{name}[{index}].resources", old, new)
    if qos_class(before) != qos_class(after):
        message = "Pod QOS Class may not change as a result of resizing"
        yield invalid_value("spec", qos_class(after), message)


def _container_problems(path: str, old: Document, new: Document) -> Iterable[Cause]:
    if old.get("resources") == new.get("resources"):
        return
    if path.startswith("spec.initContainers") and new.get("restartPolicy") != "Always":
        yield forbidden_field(path, "resources for non-sidecar init containers are immutable")
    rest_before, rest_after = (_rest(each.get("resources") or {}) for each in (old, new))
    if rest_before != rest_after:
        yield forbidden_field(path, _ONLY)
    for kind in ("requests", "limits"):
        was, now = (at(each, "resources", kind, default={}) for each in (old, new))
        for name in sorted({*was, *now}):
            if name not in _RESIZABLE and was.get(name) != now.get(name):
                yield forbidden_field(path, _ONLY)
            elif name in was and name not in now:
                yield forbidden_field(f"{path}.{kind}", f"resource {kind} cannot be removed")


def _rest(resources: Document) -> Document:
    return {key: value for key, value in resources.items() if key not in ("requests", "limits")}


def _without_resources(spec: Document) -> Document:
    rest = dict(spec)
    for name in _LISTS:
        if name in rest:
            rest[name] = [{k: v for k, v in each.items() if k != "resources"} for each in items(rest, name)]
    return rest


def _require_room(backend: Backend, current: Record, pod: Document, spec: Document) -> None:
    node = backend.store.head("nodes", "", pod["spec"].get("nodeName", ""))
    if node is None or at(pod, "status", "phase") in well_known.TERMINAL_PHASES:
        return
    before, after = _requests(pod["spec"]), _requests(spec)
    more = {name: after[name] - before.get(name, 0) for name in after if after[name] > before.get(name, 0)}
    if not more:
        return
    free = _free(backend, node)
    for name, needed in more.items():
        if needed > free.get(name, 0):
            left = format_amount(name, max(0, free.get(name, 0)))
            message = (
                f"the resize needs {format_amount(name, needed)} more {name}, "
                f"and node {node.name} has {left} left"
            )
            raise forbidden("", "pods", current.name, message)


def _requests(spec: Document) -> dict[str, int]:
    return pod_requests(msgspec.convert(spec, PodSpec))


def _free(backend: Backend, node: Record) -> dict[str, int]:
    """What the node can give, less what its pods were given."""
    allocatable = at(node.object, "status", "allocatable", default={})
    free = _requests({"containers": [{"name": "node", "resources": {"requests": allocatable}}]})
    mark = f'"nodeName":"{node.name}"'.encode()
    for record in backend.store.collection("pods").scan(None):
        if mark not in record.raw:
            continue
        other = record.object
        is_here = other["spec"].get("nodeName") == node.name
        if is_here and at(other, "status", "phase") not in well_known.TERMINAL_PHASES:
            for name, number in _requests(other["spec"]).items():
                free[name] = free.get(name, 0) - number
    return free
