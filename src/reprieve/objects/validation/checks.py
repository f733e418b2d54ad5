"""Small checks that the rules are written with, and `At`: a place in a document that never raises."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from reprieve.objects import labels
from reprieve.objects.quantity import QuantityError, nano
from reprieve.objects.structure import DUPLICATE, FORBIDDEN, REQUIRED, UNSUPPORTED, Problem, nearest
from reprieve.objects.text import shown

INT32 = (-(2**31), 2**31 - 1)
Problems = Iterator[Problem]


class At(NamedTuple):
    """A value and its path. Going on from something absent or of the wrong type leads to something absent."""

    value: Any
    path: str = ""

    def field(self, *names: str) -> "At":
        value, path = self.value, self.path
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
            path = f"{path}.{name}" if path else name
        return At(value, path)

    def items(self) -> list["At"]:
        if not isinstance(self.value, list | tuple):
            return []
        return [At(each, f"{self.path}[{index}]") for index, each in enumerate(self.value)]

    def members(self) -> list[tuple[str, "At"]]:
        if not isinstance(self.value, dict):
            return []
        return [(str(key), At(each, f"{self.path}[{key}]")) for key, each in self.value.items()]

    @property
    def is_set(self) -> bool:
        return self.value is not None

    @property
    def text(self) -> str:
        """The string here, or the empty one."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def number(self) -> int | None:
        """The whole number here, if there is one."""
        if isinstance(self.value, float) and self.value.is_integer():
            return int(self.value)
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None

    def problem(self, message: str, reason: str = "") -> Problem:
        return (
            Problem(self.path, self.value, message, reason)
            if reason
            else Problem(self.path, self.value, message)
        )


def required(place: At) -> Problems:
    if place.value in (None, "", [], ()):
        yield place.problem("is required", REQUIRED)


def one_of(place: At, allowed: Sequence[str]) -> Problems:
    if isinstance(place.value, str) and place.value not in allowed:
        hint = nearest(place.value, allowed)
        yield place.problem(
            f"expected one of {', '.join(allowed)}; got {shown(place.value)}{hint}", UNSUPPORTED
        )


def between(place: At, low: int | None, high: int | None) -> Problems:
    number = place.number
    if number is None:
        return
    if low is not None and number < low:
        yield place.problem(f"must be at least {low}, got {number}")
    if high is not None and number > high:
        yield place.problem(f"must be at most {high}, got {number}")


def int32(place: At, low: int = INT32[0]) -> Problems:
    yield from between(place, low, INT32[1])


def subdomain(place: At) -> Problems:
    yield from _syntax(place, labels.dns_subdomain)


def dns_label(place: At) -> Problems:
    yield from _syntax(place, labels.dns_label)


def label_key(place: At) -> Problems:
    yield from _syntax(place, labels.label_key)


def label_map(place: At) -> Problems:
    """Keys and values of labels."""
    for key, value in place.members():
        if (wrong := labels.label_key(key)) is not None:
            yield Problem(value.path, key, f"the key {shown(key)} {wrong}")
        yield from _syntax(value, labels.label_value)


def _syntax(place: At, check: Callable[[str], str | None]) -> Problems:
    if isinstance(place.value, str) and place.value and (wrong := check(place.value)) is not None:
        yield place.problem(f"{shown(place.value)} {wrong}")


def nano_at(place: At) -> int | None:
    """In billionths, if it is an amount at all; `quantity` says so if it is not."""
    try:
        return _nano(place)
    except QuantityError:
        return None


def _nano(place: At) -> int | None:
    value = place.value
    return None if isinstance(value, bool) or not isinstance(value, str | int | float) else nano(value)


def quantity(place: At, *, negative: bool = False) -> Problems:
    try:
        found = _nano(place)
    except QuantityError as error:
        yield place.problem(str(error))
        return
    if found is not None and found < 0 and not negative:
        yield place.problem(f"must not be negative, got {shown(place.value)}")


def quantities(place: At, *, negative: bool = False) -> Problems:
    for _, each in place.members():
        yield from quantity(each, negative=negative)


def at_most_items(place: At, most: int) -> Problems:
    count = len(place.value) if isinstance(place.value, list | dict) else 0
    if count > most:
        yield Problem(place.path, count, f"must have at most {most} entries, has {count}")


def unique(places: Iterable[At]) -> Problems:
    """Each value at most once; the later one is the problem."""
    seen: set[str] = set()
    for place in places:
        if place.text and place.text in seen:
            yield place.problem(f"{shown(place.text)} is there twice", DUPLICATE)
        seen.add(place.text)


def exactly_one(place: At, members: Sequence[str]) -> Problems:
    """A union: one member is set."""
    if place.is_set and not isinstance(place.value, dict):
        return
    present = [name for name in members if place.field(name).is_set]
    if not present:
        yield place.problem(f"must have one of: {', '.join(members)}", REQUIRED)
    elif len(present) > 1:
        yield place.problem(f"must have only one of {', '.join(members)}; has {', '.join(present)}")


def immutable(new: At, old: At) -> Problems:
    if new.value != old.value:
        yield new.problem(f"cannot be changed from {shown(old.value)} to {shown(new.value)}", FORBIDDEN)


def all_immutable(new: At, old: At, names: Iterable[str]) -> Problems:
    for name in names:
        yield from immutable(new.field(name), old.field(name))
