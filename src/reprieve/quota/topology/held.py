"""What pods hold of the domains they were given. Knows no arrays: quota without topology loads none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reprieve.objects import Domain

PODS = "pods"
Amounts = Mapping[str, int]


class Held(NamedTuple):
    """What pods of one pod set take in the domains they were given."""

    flavor: str
    single: Amounts
    """Of one pod, without `pods`."""
    domains: tuple[Domain, ...]


def with_pods(single: Amounts) -> dict[str, int]:
    return {**single, PODS: single.get(PODS, 0) + 1}


def total(held: Iterable[Held]) -> dict[str, dict[str, int]]:
    """{domain: {resource: amount}}, the number of pods included."""
    found: dict[str, dict[str, int]] = {}
    for each in held:
        for domain in each.domains:
            here = found.setdefault(domain.key, {})
            for resource, number in with_pods(each.single).items():
                here[resource] = here.get(resource, 0) + number * domain.pods
    return found
