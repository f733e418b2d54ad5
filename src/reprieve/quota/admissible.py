"""May this workload be tried at all? The checks that come before the flavor scan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from reprieve.objects import (
    Container,
    LimitRange,
    LimitRangeItem,
    ResourceList,
    Workload,
    all_requests,
    matches,
    nano,
)
from reprieve.quota import sentences
from reprieve.quota.causes import Cause, Refusal
from reprieve.quota.demand import with_defaults
from reprieve.quota.pending import NAMESPACE_MISMATCH
from reprieve.quota.queue import QueueNode


def refusal(
    workload: Workload,
    queue: QueueNode,
    namespace: Mapping[str, str] | None,
    limit_ranges: Collection[LimitRange],
) -> Refusal | None:
    """Why the workload cannot be tried now, or None. `namespace`: labels of its namespace, if it exists."""
    if not workload.spec.pod_sets:
        return Refusal(Cause.NO_POD_SETS)
    checks = workload.status.admission_checks
    if checks and any(check.state in ("Retry", "Rejected") for check in checks):
        return Refusal(Cause.FAILED_CHECKS)
    if namespace is None or not matches(queue.spec.namespace_selector, namespace):
        return Refusal(Cause.NAMESPACE_MISMATCH, requeue=NAMESPACE_MISMATCH)
    if not _limits(workload, limit_ranges):
        return None
    problems = tuple(_above_limits(workload, limit_ranges))
    if problems:
        return Refusal(Cause.ABOVE_LIMITS, (problems,))
    problems = tuple(_outside_ranges(workload, limit_ranges))
    if problems:
        return Refusal(Cause.OUTSIDE_LIMIT_RANGES, (problems,))
    return None


def _containers(workload: Workload, limit_ranges: Collection[LimitRange]) -> Iterator[tuple[str, Container]]:
    for index, pod_set in enumerate(workload.spec.pod_sets):
        spec = with_defaults(pod_set.template.spec, limit_ranges)
        path = f"spec.podSets[{index}].template.spec"
        for number, container in enumerate(spec.init_containers):
            yield f"{path}.initContainers[{number}]", container
        for number, container in enumerate(spec.containers):
            yield f"{path}.containers[{number}]", container


def _above_limits(workload: Workload, limit_ranges: Collection[LimitRange]) -> Iterator[str]:
    for path, container in _containers(workload, limit_ranges):
        names = _above(container.resources.requests, container.resources.limits)
        if names:
            yield sentences.requests_above_limits(path, names)


def _limits(workload: Workload, limit_ranges: Collection[LimitRange]) -> bool:
    """Whether anything bounds what its containers may ask for. Asked of every head of every cycle."""
    if limit_ranges:
        return True
    for pod_set in workload.spec.pod_sets:
        spec = pod_set.template.spec
        for container in spec.containers + spec.init_containers:
            if container.resources.limits:
                return True
    return False


def _outside_ranges(workload: Workload, limit_ranges: Collection[LimitRange]) -> Iterator[str]:
    items = [item for each in limit_ranges for item in each.spec.limits]
    for item in (item for item in items if item.type == "Container"):
        for path, container in _containers(workload, limit_ranges):
            yield from _outside(path, container.resources.requests, item)
    for item in (item for item in items if item.type == "Pod"):
        for index, pod_set in enumerate(workload.spec.pod_sets):
            total = all_requests(with_defaults(pod_set.template.spec, limit_ranges))
            requests: ResourceList = {r: f"{n}m" if r == "cpu" else n for r, n in total.items()}
            yield from _outside(f"spec.podSets[{index}].template.spec", requests, item)


def _outside(path: str, requests: ResourceList, item: LimitRangeItem) -> Iterator[str]:
    above, below = _above(requests, item.max), _above(item.min, requests)
    if above:
        yield sentences.requests_above_range(path, above)
    if below:
        yield sentences.requests_below_range(path, below)


def _above(amounts: ResourceList, bounds: ResourceList) -> list[str]:
    return sorted(name for name, n in amounts.items() if name in bounds and nano(n) > nano(bounds[name]))
