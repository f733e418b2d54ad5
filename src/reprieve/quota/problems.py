"""Objects whose quota makes no sense. They are set aside with the reason; the rest of the tree keeps working."""

from collections.abc import Iterable, Iterator

from reprieve.objects import ClusterQueue, Cohort, QuantityError, ResourceGroup, nano


def queue_problems(queue: ClusterQueue) -> list[str]:
    """Why the ClusterQueue can neither admit nor lend; empty when it can."""
    found = list(_group_problems(queue.spec.resource_groups))
    found += _weight_problems(queue.spec.fair_sharing.weight if queue.spec.fair_sharing else "1")
    return found


def cohort_problems(cohort: Cohort) -> list[str]:
    """Why the Cohort's own quota does not count; empty when it does."""
    found = list(_group_problems(cohort.spec.resource_groups))
    found += _weight_problems(cohort.spec.fair_sharing.weight if cohort.spec.fair_sharing else "1")
    return found


def _group_problems(groups: Iterable[ResourceGroup]) -> Iterator[str]:
    home: dict[str, int] = {}
    for index, group in enumerate(groups):
        for flavor in group.flavors:
            path = f"spec.resourceGroups[{index}].flavors[{flavor.name}]"
            if home.setdefault(flavor.name, index) != index:
                yield f"{path}: flavor {flavor.name} is in resource group {home[flavor.name]} already"
            for quota in flavor.resources:
                place = f"{path}.resources[{quota.name}]"
                if quota.name not in group.covered_resources:
                    yield f"{place}: {quota.name} is not among the covered resources of the group"
                yield from _amount_problems(f"{place}.nominalQuota", quota.nominal_quota)
                if quota.borrowing_limit is not None:
                    yield from _amount_problems(f"{place}.borrowingLimit", quota.borrowing_limit)
                if quota.lending_limit is not None:
                    yield from _amount_problems(f"{place}.lendingLimit", quota.lending_limit)


def _weight_problems(weight: str | int | float) -> Iterator[str]:
    return _amount_problems("spec.fairSharing.weight", weight)


def _amount_problems(path: str, quantity: str | int | float) -> Iterator[str]:
    try:
        if nano(quantity) < 0:
            yield f"{path}: must not be negative, got {quantity}"
    except QuantityError as error:
        yield f"{path}: {error}"
