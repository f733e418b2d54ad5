"""Topology assignments, compressed as they are on the wire and as the plain list that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reprieve.objects import well_known
from reprieve.objects.kueue import (
    AssignmentSlice,
    IndividualValues,
    LevelValues,
    PodCounts,
    TopologyAssignment,
)

MOST_DOMAINS = 100_000
"""Of one slice on the wire."""


class Domain(NamedTuple):
    """Pods of one pod set in one place: the values of the assignment's levels, and how many pods."""

    values: tuple[str, ...]
    pods: int

    @property
    def key(self) -> str:
        return ",".join(self.values)

    def to_dict(self) -> dict[str, object]:
        return {"values": list(self.values), "count": self.pods}


class Placement(NamedTuple):
    """Where the pods of one pod set go; domains in the order in which ranks are given out."""

    levels: tuple[str, ...]
    domains: tuple[Domain, ...]

    @property
    def pods(self) -> int:
        return sum(domain.pods for domain in self.domains)

    @property
    def by_host(self) -> bool:
        return bool(self.levels) and self.levels[-1] == well_known.HOSTNAME_LABEL

    def to_dict(self) -> dict[str, object]:
        return {"levels": list(self.levels), "domains": [domain.to_dict() for domain in self.domains]}


def expanded(assignment: TopologyAssignment) -> Placement:
    """Values that a broken slice lacks are empty: such a domain is in no tree."""
    return Placement(assignment.levels, tuple(_domains(assignment)))


def _domains(assignment: TopologyAssignment) -> Iterator[Domain]:
    for each in assignment.slices:
        columns = [_values(level, each.domain_count) for level in each.values_per_level]
        counts = each.pod_counts
        for index in range(each.domain_count):
            if counts.universal is not None:
                count = counts.universal
            else:
                count = counts.individual[index] if index < len(counts.individual) else 0
            yield Domain(tuple(column[index] for column in columns), count)


def _values(level: LevelValues, count: int) -> list[str]:
    if level.universal is not None:
        return [level.universal] * count
    found = level.individual or IndividualValues()
    values = [f"{found.prefix}{root}{found.suffix}" for root in found.roots]
    return values + [""] * (count - len(values))


def compressed(placement: Placement) -> TopologyAssignment:
    """One slice (several for very many domains), with what the domains have in common written once."""
    domains = placement.domains
    return TopologyAssignment(
        levels=placement.levels,
        slices=tuple(
            _slice(domains[start : start + MOST_DOMAINS]) for start in range(0, len(domains), MOST_DOMAINS)
        ),
    )


def _slice(domains: Sequence[Domain]) -> AssignmentSlice:
    counts = [domain.pods for domain in domains]
    same = len(set(counts)) == 1
    return AssignmentSlice(
        domain_count=len(domains),
        values_per_level=tuple(_level(values) for values in zip(*(d.values for d in domains), strict=True)),
        pod_counts=PodCounts(universal=counts[0]) if same else PodCounts(individual=tuple(counts)),
    )


def _level(values: Sequence[str]) -> LevelValues:
    if len(set(values)) == 1:
        return LevelValues(universal=values[0])
    prefix = _common(values)
    rest = [value[len(prefix) :] for value in values]
    suffix = _common([value[::-1] for value in rest])[::-1]
    roots = tuple(value[: len(value) - len(suffix)] for value in rest)
    return LevelValues(individual=IndividualValues(prefix=prefix, suffix=suffix, roots=roots))


def _common(values: Sequence[str]) -> str:
    """The longest beginning that all of them have."""
    low, high = min(values), max(values)
    end = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[:end]


def merged(domains: Iterable[Domain]) -> tuple[Domain, ...]:
    """Neighbours of equal values as one."""
    found: list[Domain] = []
    for domain in domains:
        if found and found[-1].values == domain.values:
            found[-1] = Domain(domain.values, found[-1].pods + domain.pods)
        else:
            found.append(domain)
    return tuple(found)
