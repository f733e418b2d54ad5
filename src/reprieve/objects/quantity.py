"""Resource quantities: `500m`, `1.5Gi`, `1e3`, `2E`.

Like Kubernetes, a quantity is never finer than one billionth (it is rounded away from zero to that) and never
larger than 2**63 - 1. Every value here is therefore an exact integer number of billionths; integers made
of it are rounded up.
"""

import re
from fractions import Fraction
from functools import lru_cache

from reprieve.objects.errors import ReprieveError
from reprieve.objects.text import shown

MAX = 2**63 - 1
MIN = -(2**63)
NANO = 10**9
_LARGEST = MAX * NANO

_PATTERN = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE](?P<exponent>[+-]?[0-9]+))?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIXES = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_LONGEST = 128  # longer digit strings say nothing that 2**63 - 1 does not
_BYTES = ("memory", "ephemeral-storage", "storage")


class QuantityError(ReprieveError, ValueError):
    """Not a quantity."""

    def __init__(self, quantity: object) -> None:
        self.quantity = quantity
        super().__init__(f"{shown(quantity)} is not a quantity such as 500m, 2, 1.5Gi or 1e3")


@lru_cache(maxsize=65536, typed=True)
def nano(quantity: str | int | float) -> int:
    """The exact quantity in billionths."""
    if isinstance(quantity, bool):
        raise QuantityError(quantity)
    if isinstance(quantity, int):
        return max(-_LARGEST, min(_LARGEST, quantity * NANO))
    text = repr(quantity) if isinstance(quantity, float) else quantity
    match = _PATTERN.fullmatch(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    if match is None or not (match["whole"] or match["part"]):
        raise QuantityError(quantity)
    magnitude = min(_LARGEST, _magnitude(match))
    return -magnitude if match["sign"] == "-" else magnitude


def _magnitude(match: re.Match[str]) -> int:
    """Absolute value in billionths, rounded up."""
    part = match["part"] or ""
    digits = int((match["whole"] or "") + part)
    if digits == 0:
        return 0
    suffix = match["suffix"] or ""
    power = 9 - len(part)
    if suffix in _BINARY:
        digits <<= _BINARY[suffix]
    elif match["exponent"] is not None:
        # Beyond these bounds every number is the largest or the smallest one; no need to compute it.
        power += max(-400, min(400, int(match["exponent"])))
    else:
        power += _DECIMAL[suffix]
    return digits * 10**power if power >= 0 else _divide_up(digits, 10**-power)


def _divide_up(number: int, divisor: int) -> int:
    """Division rounding away from zero, as Kubernetes rounds."""
    return -(-number // divisor) if number >= 0 else number // divisor


def exact(quantity: str | int | float) -> Fraction:
    return Fraction(nano(quantity), NANO)


@lru_cache(maxsize=65536, typed=True)
def value(quantity: str | int | float) -> int:
    """Whole units, rounded up."""
    return whole_units(nano(quantity))


@lru_cache(maxsize=65536, typed=True)
def milli_value(quantity: str | int | float) -> int:
    """Thousandths, rounded up; saturates at int64."""
    return milli_units(nano(quantity))


def whole_units(billionths: int) -> int:
    return _saturate(_divide_up(billionths, NANO))


def milli_units(billionths: int) -> int:
    return _saturate(_divide_up(billionths, 10**6))


def _saturate(number: int) -> int:
    return max(MIN, min(MAX, number))


def amount(resource: str, quantity: str | int | float) -> int:
    """The integer Reprieve computes with: cpu in thousandths of a core, everything else in whole units."""
    return milli_value(quantity) if resource == "cpu" else value(quantity)


def format_amount(resource: str, number: int) -> str:
    """The canonical quantity of what `amount` returned: 1500 cpu is `1500m`, 17179869184 memory is `16Gi`."""
    if resource == "cpu":
        return _with_suffix(number, 1000, ("m", "", "k", "M", "G", "T", "P", "E"))
    if resource in _BYTES or resource.startswith("hugepages-"):
        return _with_suffix(number, 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
    return _with_suffix(number, 1000, ("", "k", "M", "G", "T", "P", "E"))


def written(resource: str, billionths: int) -> str:
    """The canonical quantity of an exact number of billionths."""
    unit = 10**6 if resource == "cpu" else NANO
    return f"{billionths}n" if billionths % unit else format_amount(resource, billionths // unit)


def canonical(quantity: str | int | float, *, milli: bool = False) -> str:
    """As an API server writes it back: the largest suffix of the same family that leaves a whole number.
    Fewer than 1024, or a part of one, is never written with a binary suffix. `milli`: rounded up to
    thousandths, as the amounts of resource lists are.
    """
    return _canonical(quantity, milli)


@lru_cache(maxsize=65536, typed=True)
def _canonical(quantity: str | int | float, milli: bool) -> str:
    nano(quantity)  # refuses what is none
    match = _PATTERN.fullmatch(repr(quantity) if isinstance(quantity, float) else str(quantity))
    assert match is not None
    number = _magnitude(match)
    if milli:
        number = _divide_up(number, 10**6) * 10**6
    if number == 0:
        return "0"
    sign = "-" if match["sign"] == "-" else ""
    if match["suffix"] in _BINARY and number % NANO == 0 and number >= 1024 * NANO:
        whole = min(number // NANO, MAX)
        return sign + _with_suffix(whole, 1024, ("", *_BINARY))
    exponent = -9
    while number % 1000 == 0 and (exponent < 18 or match["exponent"] is not None):
        number, exponent = number // 1000, exponent + 3
    if match["exponent"] is not None:
        return f"{sign}{number}" + (f"e{exponent}" if exponent else "")
    return f"{sign}{number}{_SUFFIXES[exponent]}"


def _with_suffix(number: int, base: int, suffixes: tuple[str, ...]) -> str:
    """The largest suffix that leaves a whole number."""
    if number == 0:
        return "0"
    step = 0
    while number % base == 0 and step < len(suffixes) - 1:
        number //= base
        step += 1
    return f"{number}{suffixes[step]}"
