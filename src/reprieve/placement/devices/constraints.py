"""Constraints of a claim: an attribute that all of its devices share, or that no two of them share."""

from collections.abc import Sequence

from reprieve.objects import devices
from reprieve.placement.devices.asks import Ask
from reprieve.placement.devices.pools import Entry

Value = tuple[str, str | int | bool]
"""(type, value): 1 and "1" are never equal."""


class Constraint:
    """Follows the search: `add` when a device is taken, `remove` when it is put back."""

    def __init__(self, spec: devices.DeviceConstraint) -> None:
        self._requests = frozenset(spec.requests)
        self._distinct = spec.match_attribute is None
        self._attribute = spec.distinct_attribute if self._distinct else spec.match_attribute
        self._taken: list[Value] = []

    def add(self, ask: Ask, entry: Entry) -> bool:
        if not self._covers(ask):
            return True
        value = attribute(entry, self._attribute or "")
        if value is None:
            return False
        if self._distinct:
            if value in self._taken:
                return False
        elif self._taken and self._taken[0] != value:
            return False
        self._taken.append(value)
        return True

    def remove(self, ask: Ask) -> None:
        if self._covers(ask):
            self._taken.pop()

    def _covers(self, ask: Ask) -> bool:
        return not self._requests or ask.base in self._requests or ask.name in self._requests


def constraints_of(specs: Sequence[devices.DeviceConstraint]) -> list[Constraint]:
    return [Constraint(each) for each in specs]


def attribute(entry: Entry, name: str) -> Value | None:
    """By its full name; without its domain where that is the device's driver."""
    found = entry.model.attributes.get(name)
    if found is None:
        domain, slash, id = name.partition("/")
        if slash and domain == entry.id[0]:
            found = entry.model.attributes.get(id)
    return found
