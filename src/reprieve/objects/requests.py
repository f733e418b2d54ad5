"""What a pod asks of a node.

For every resource on its own: containers and sidecars run side by side and add up; plain init containers run
one after the other next to the sidecars started before them, so only the highest peak counts; values stated
for the whole pod replace the sum; overhead comes on top. Sums are exact (billionths), and only the result is
rounded up.
"""

from collections.abc import Callable, Iterable, Mapping

from reprieve.objects import well_known
from reprieve.objects.conditions import find_condition
from reprieve.objects.core import Container, ContainerStatus, PodSpec, PodStatus, ResourceList
from reprieve.objects.quantity import milli_units, nano, whole_units
from reprieve.objects.resource_names import is_for_pods, is_tracked

Exact = dict[str, int]
"""Resource name to billionths."""

_FILL = {"cpu": nano("100m"), "memory": nano("200Mi")}
_NOTHING: Mapping[str, int] = {}


def pod_requests(spec: PodSpec, status: PodStatus | None = None) -> dict[str, int]:
    """What the scheduler accounts for: cpu in milli, everything else in whole units.

    Resources that no node accounts for are left out. With the status of a pod on a node, what it was granted
    or still holds while it is resized counts, too.
    """
    return {name: number for name, number in all_requests(spec, status).items() if is_tracked(name)}


def all_requests(spec: PodSpec, status: PodStatus | None = None) -> dict[str, int]:
    """As `pod_requests`, with every resource name the pod states; quota counts names that nodes do not."""
    return _rounded(_effective(spec, status, _NOTHING))


def nonzero_requests(spec: PodSpec, status: PodStatus | None = None) -> tuple[int, int]:
    """(milli cpu, bytes of memory) for scoring: a container without requests counts as a small one."""
    fill: Mapping[str, int] = _FILL
    if _pod_level(spec):
        # Values stated for the whole pod are shared by its containers; only what they leave out is filled in.
        stated = _effective(spec, status, _NOTHING)
        fill = {name: number for name, number in _FILL.items() if name not in stated}
    total = _effective(spec, status, fill)
    return milli_units(total.get("cpu", 0)), whole_units(total.get("memory", 0))


def _effective(spec: PodSpec, status: PodStatus | None, fill: Mapping[str, int]) -> Exact:
    wanted = _total(spec, _requested, fill)
    if status is None or not _has_resources(status):
        return wanted
    granted, held = _status_totals(spec, status, fill)
    resize = find_condition(status.conditions, well_known.POD_RESIZE_PENDING)
    totals = (
        [granted, held] if resize is not None and resize.reason == "Infeasible" else [wanted, granted, held]
    )
    return {name: max(total.get(name, 0) for total in totals) for name in _names(totals)}


def _has_resources(status: PodStatus) -> bool:
    return bool(granted_statuses(status)) or bool(status.allocated_resources) or status.resources is not None


def granted_statuses(status: PodStatus) -> tuple[tuple[ContainerStatus, ...], ...]:
    """The statuses of containers and of init containers, if any of them says what it was granted or holds.

    Without that a pod that runs counts as it did when it was waiting.
    """
    found = status.container_statuses, status.init_container_statuses
    for statuses in found:
        for each in statuses:
            if each.allocated_resources or each.resources is not None:
                return found
    return ()


def _status_totals(spec: PodSpec, status: PodStatus, fill: Mapping[str, int]) -> tuple[Exact, Exact]:
    """(what the kubelet granted, what the containers hold now)."""
    if status.allocated_resources and status.resources is not None and status.resources.requests:
        overhead = exact_amounts(spec.overhead)
        return (
            _sum((exact_amounts(status.allocated_resources), overhead)),
            _sum((exact_amounts(status.resources.requests), overhead)),
        )
    by_name = {each.name: each for each in status.container_statuses}
    sidecars = {each.name: each for each in status.init_container_statuses}

    def find(container: Container) -> ContainerStatus | None:
        if container.restart_policy == "Always" and container.name in sidecars:
            return sidecars[container.name]
        return by_name.get(container.name)

    def granted(container: Container) -> ResourceList:
        found = find(container)
        return found.allocated_resources if found and found.allocated_resources else _requested(container)

    def held(container: Container) -> ResourceList:
        found = find(container)
        if found is not None and found.resources is not None and found.resources.requests:
            return found.resources.requests
        return granted(container)

    return _total(spec, granted, fill), _total(spec, held, fill)


def _requested(container: Container) -> ResourceList:
    return container.resources.requests


def _total(spec: PodSpec, requested: Callable[[Container], ResourceList], fill: Mapping[str, int]) -> Exact:
    def of(container: Container) -> Exact:
        requests = exact_amounts(requested(container))
        return {**fill, **requests} if fill else requests

    together = add_up(
        map(of, spec.containers),
        ((of(each), each.restart_policy == "Always") for each in spec.init_containers),
    )
    together.update(_pod_level(spec))
    _add(together, exact_amounts(spec.overhead))
    return together


def add_up(containers: Iterable[Exact], init_containers: Iterable[tuple[Exact, bool]]) -> Exact:
    """What containers and init containers need together; each of the latter with whether it is a sidecar."""
    together = _sum(containers)
    sidecars: Exact = {}
    peak: Exact = {}
    for own, is_sidecar in init_containers:
        if is_sidecar:
            _add(together, own)
            _add(sidecars, own)
            current = sidecars
        else:
            current = _sum((own, sidecars))
        for name, number in current.items():
            peak[name] = max(peak.get(name, number), number)
    for name, number in peak.items():
        together[name] = max(together.get(name, number), number)
    return together


def _pod_level(spec: PodSpec) -> Exact:
    """Requests stated for the whole pod; only these names may be."""
    if spec.resources is None:
        return {}
    return {name: nano(quantity) for name, quantity in spec.resources.requests.items() if is_for_pods(name)}


def exact_amounts(resources: ResourceList) -> Exact:
    return {name: nano(quantity) for name, quantity in resources.items()}


def _add(total: Exact, more: Mapping[str, int]) -> None:
    for name, number in more.items():
        total[name] = total.get(name, 0) + number


def _sum(parts: Iterable[Mapping[str, int]]) -> Exact:
    total: Exact = {}
    for part in parts:
        _add(total, part)
    return total


def _names(totals: Iterable[Exact]) -> list[str]:
    return list(dict.fromkeys(name for total in totals for name in total))


def _rounded(total: Exact) -> dict[str, int]:
    return {name: milli_units(n) if name == "cpu" else whole_units(n) for name, n in total.items()}
