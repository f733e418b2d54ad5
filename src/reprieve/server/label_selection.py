"""Label selectors as they stand in a query string, compiled so that a record costs as much as it has labels,
however many terms there are.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from reprieve.objects import label_key, label_value
from reprieve.server.errors import bad_request

Labels = dict[str, str] | None
LabelTest = Callable[[Labels], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<absent>!)\s*(?P<missing>[^\s=!,()<>]+)"
    r"|(?P<key>[^\s=!,()<>]+)\s*(?:(?P<equals>==?|!=)\s*(?P<value>[^\s=!,()<>]*)"
    r"|\s(?P<operator>in|notin)\s*\((?P<set>[^()]*)\)|(?P<compare>[<>])\s*(?P<number>[^\s=!,()<>]*))?)\s*(?:,|$)"
)
_NUMBER = re.compile(r"-?[0-9]{1,19}")


@lru_cache(maxsize=1024)
def parse_labels(text: str) -> tuple[LabelTest, ...]:
    """`a=b,c!=d,e in (x,y),f notin (z),g,!h`; raises 400 for anything else."""
    terms = _Terms()
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.end() == position:
            raise bad_request(f"unable to parse requirement: found {text[position : position + 64]!r}")
        terms.add(match)
        position = match.end()
    return terms.tests()


class _Values:
    """What the value of a label that must be there may be."""

    __slots__ = ("above", "allowed", "below")

    def __init__(self) -> None:
        self.allowed: frozenset[str] | None = None
        self.above: int | None = None
        self.below: int | None = None

    def __call__(self, value: str) -> bool:
        if self.allowed is not None and value not in self.allowed:
            return False
        if self.above is None and self.below is None:
            return True
        number = _integer(value)
        return (
            number is not None
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )


class _Terms:
    def __init__(self) -> None:
        self._needed: dict[str, _Values] = {}
        self._absent: set[str] = set()
        self._unwanted: dict[str, set[str]] = {}

    def add(self, match: re.Match[str]) -> None:
        key = match["missing"] or match["key"]
        problem = label_key(key)
        if problem is not None:
            raise bad_request(f'unable to parse requirement: key "{key}": {problem}')
        if match["missing"]:
            self._absent.add(key)
        elif match["equals"] == "!=":
            self._unwanted.setdefault(key, set()).add(_value(key, match["value"]))
        elif match["operator"] == "notin":
            self._unwanted.setdefault(key, set()).update(_listed(key, match["set"]))
        else:
            self._need(key, match)

    def _need(self, key: str, match: re.Match[str]) -> None:
        values = self._needed.setdefault(key, _Values())
        if match["compare"]:
            bound = _bound(key, match["number"])
            if match["compare"] == ">":
                values.above = bound if values.above is None else max(bound, values.above)
            else:
                values.below = bound if values.below is None else min(bound, values.below)
        elif match["equals"] or match["operator"]:
            listed = _listed(key, match["set"]) if match["operator"] else [_value(key, match["value"])]
            values.allowed = (
                frozenset(listed) if values.allowed is None else values.allowed.intersection(listed)
            )

    def tests(self) -> tuple[LabelTest, ...]:
        """At most three; a record without labels has an empty set of them."""
        found: list[LabelTest] = []
        if needed := self._needed:
            found.append(lambda labels: labels is not None and _has(labels, needed))
        if absent := frozenset(self._absent):
            found.append(lambda labels: labels is None or absent.isdisjoint(labels))
        if unwanted := self._unwanted:
            found.append(
                lambda labels: (
                    labels is None
                    or not any(key in unwanted and value in unwanted[key] for key, value in labels.items())
                )
            )
        return tuple(found)


def _has(labels: dict[str, str], needed: dict[str, _Values]) -> bool:
    if len(needed) > len(labels):
        return False
    return all(key in labels and values(labels[key]) for key, values in needed.items())


def _listed(key: str, text: str) -> list[str]:
    return [_value(key, value.strip()) for value in text.split(",")]


def _value(key: str, value: str) -> str:
    problem = label_value(value)
    if problem is not None:
        raise bad_request(f'unable to parse requirement: value of "{key}": "{value}" {problem}')
    return value


def _bound(key: str, text: str) -> int:
    bound = _integer(text)
    if bound is None:
        raise bad_request(
            f'unable to parse requirement: value of "{key}": "{text[:64]}" is not an integer of 64 bits'
        )
    return bound


def _integer(text: str) -> int | None:
    """As Kubernetes reads it: 64 bits, signed, of ASCII digits."""
    if not _NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
