"""What the containers of a pod ask for together, as quota and limit ranges count it: requests and limits."""

import msgspec

from reprieve.objects import Document, PodSpec, ResourceRequirements, all_requests, format_amount


def pod_totals(spec: Document) -> tuple[dict[str, int], dict[str, int]]:
    """Requests and limits by resource: cpu in thousandths, everything else in whole units."""
    view = msgspec.convert(spec, PodSpec)
    return all_requests(view), _limits(view)


def _limits(spec: PodSpec) -> dict[str, int]:
    """Counted as requests are. Overhead comes on top of limits only where there is a limit."""

    def swapped(resources: ResourceRequirements) -> ResourceRequirements:
        return ResourceRequirements(requests=resources.limits, limits=resources.limits)

    def with_limits(overhead: dict[str, str | int | float]) -> PodSpec:
        replace = msgspec.structs.replace
        return replace(
            spec,
            containers=tuple(replace(c, resources=swapped(c.resources)) for c in spec.containers),
            init_containers=tuple(replace(c, resources=swapped(c.resources)) for c in spec.init_containers),
            resources=swapped(spec.resources) if spec.resources is not None else None,
            overhead=overhead,
        )

    limits = all_requests(with_limits({}))
    if not spec.overhead:
        return limits
    return all_requests(with_limits({k: v for k, v in spec.overhead.items() if limits.get(k)}))


def quantities(totals: dict[str, int]) -> dict[str, str]:
    return {name: format_amount(name, number) for name, number in totals.items()}
