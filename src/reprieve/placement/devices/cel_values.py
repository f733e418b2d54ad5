"""Quantities and semantic versions inside CEL: how they travel, and the functions that Kubernetes adds.

CEL's runtime passes no objects of ours, so that a quantity travels as the bytes `q` and its billionths and a
version as `v` and a text that says its precedence. Equal values are equal bytes. Types are checked before, in
an environment where both are types of their own (`cel.py`): nobody gets to compare a quantity with bytes.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import re2

from reprieve.objects import QuantityError, nano
from reprieve.placement.sentences import devices as sentences

NANO = 10**9
LARGEST = 2**63 - 1

_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)
Version = tuple[int, int, int, tuple[str, ...]]


# --- quantities ---------------------------------------------------------------------------------------------


def quantity_value(billionths: int) -> bytes:
    return b"q%d" % billionths


def quantity(text: str) -> bytes:
    return quantity_value(nano(text))


def is_quantity(text: str) -> bool:
    try:
        nano(text)
    except QuantityError:
        return False
    return True


def _billionths(value: bytes) -> int:
    if value[:1] != b"q":
        raise ValueError(sentences.NO_SUCH_OVERLOAD)
    return int(value[1:])


def sign(value: bytes) -> int:
    number = _billionths(value)
    return (number > 0) - (number < 0)


def is_integer(value: bytes) -> bool:
    number = _billionths(value)
    return number % NANO == 0 and abs(number) <= LARGEST * NANO


def as_integer(value: bytes) -> int:
    if not is_integer(value):
        raise ValueError(sentences.NO_INTEGER)
    return _billionths(value) // NANO


def as_float(value: bytes) -> float:
    return _billionths(value) / NANO


def add(value: bytes, other: bytes | int) -> bytes:
    return quantity_value(_billionths(value) + _addend(other))


def subtract(value: bytes, other: bytes | int) -> bytes:
    return quantity_value(_billionths(value) - _addend(other))


def _addend(other: bytes | int) -> int:
    return other * NANO if isinstance(other, int) else _billionths(other)


# --- versions -----------------------------------------------------------------------------------------------


def version_value(text: str) -> bytes:
    """Raises `ValueError` for what is no semantic version. Build metadata has no say in comparisons."""
    match = _SEMVER.fullmatch(text)
    if match is None:
        raise ValueError(sentences.no_version(text))
    core = ".".join(match.group(1, 2, 3))
    return f"v{core}-{match[4]}".encode() if match[4] else f"v{core}".encode()


def semver(text: str, normalize: bool = False) -> bytes:
    return version_value(_normalized(text) if normalize else text)


def is_semver(text: str, normalize: bool = False) -> bool:
    try:
        semver(text, normalize)
    except ValueError:
        return False
    return True


def _normalized(text: str) -> str:
    """Without a leading `v`, with all three numbers and without leading zeros."""
    core, mark, rest = _split_once(text.removeprefix("v"))
    numbers = [number.lstrip("0") or "0" if number else "" for number in core.split(".")]
    return ".".join(numbers + ["0"] * (3 - len(numbers))) + mark + rest


def _split_once(text: str) -> tuple[str, str, str]:
    for at, character in enumerate(text):
        if character in "-+":
            return text[:at], character, text[at + 1 :]
    return text, "", ""


def _version(value: bytes) -> Version:
    if value[:1] != b"v":
        raise ValueError(sentences.NO_SUCH_OVERLOAD)
    core, _, pre = value[1:].decode().partition("-")
    major, minor, patch = (int(number) for number in core.split("."))
    return major, minor, patch, tuple(pre.split(".")) if pre else ()


def major(value: bytes) -> int:
    return _version(value)[0]


def minor(value: bytes) -> int:
    return _version(value)[1]


def patch(value: bytes) -> int:
    return _version(value)[2]


def _precedence(version: Version) -> tuple[Any, ...]:
    """A pre-release comes before its release; numbers in it before words."""
    parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in version[3])
    return *version[:3], not version[3], parts


# --- both ---------------------------------------------------------------------------------------------------


def compare(one: bytes, other: bytes) -> int:
    if one[:1] == b"q" or other[:1] == b"q":
        left, right = _billionths(one), _billionths(other)
        return (left > right) - (left < right)
    first, second = _precedence(_version(one)), _precedence(_version(other))
    return (first > second) - (first < second)


def is_greater(one: bytes, other: bytes) -> bool:
    return compare(one, other) > 0


def is_less(one: bytes, other: bytes) -> bool:
    return compare(one, other) < 0


# --- lists, sets and texts ----------------------------------------------------------------------------------


def find(text: str, pattern: str) -> str:
    match = _compiled(pattern).search(text)
    return match.group(0) if match else ""


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found = [match.group(0) for match in _compiled(pattern).finditer(text)]
    return found if most < 0 else found[:most]


def _compiled(pattern: str) -> Any:
    try:
        return re2.compile(pattern)
    except re2.error as wrong:
        raise ValueError(sentences.bad_pattern(str(wrong))) from None


def is_sorted(items: Sequence[Any]) -> bool:
    return all(one <= other for one, other in pairwise(items))


def total(items: Sequence[Any]) -> Any:
    return sum(items)


def _of_some(choose: Callable[[Sequence[Any]], Any], name: str) -> Callable[[Sequence[Any]], Any]:
    def chosen(items: Sequence[Any]) -> Any:
        if not items:
            raise ValueError(sentences.empty_list(name))
        return choose(items)

    return chosen


least = _of_some(min, "min")
greatest = _of_some(max, "max")


def set_contains(items: Sequence[Any], part: Sequence[Any]) -> bool:
    return all(each in items for each in part)


def set_equivalent(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return set_contains(one, other) and set_contains(other, one)


def set_intersects(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return any(each in other for each in one)
