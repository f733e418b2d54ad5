"""Quantities mean what they mean to Kubernetes."""

from decimal import ROUND_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from reprieve.objects.quantity import (
    MAX,
    MIN,
    QuantityError,
    amount,
    exact,
    format_amount,
    milli_value,
    value,
)
from reprieve.objects.text import shown

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500m", Fraction(1, 2)),
        ("1.5Gi", Fraction(3 * 2**29)),
        ("1e3", Fraction(1000)),
        ("1E3", Fraction(1000)),
        ("2E", Fraction(2 * 10**18)),
        ("12e-1", Fraction(6, 5)),
        ("+5", Fraction(5)),
        ("-5", Fraction(-5)),
        ("-1.5m", Fraction(-3, 2000)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("100n", Fraction(1, 10**7)),
        ("7u", Fraction(7, 10**6)),
        ("0", Fraction(0)),
        ("0Ei", Fraction(0)),
        (3, Fraction(3)),
        (0.25, Fraction(1, 4)),
        (1e21, Fraction(MAX)),
    ],
)
def test_every_notation_has_its_exact_value(text: str | int | float, expected: Fraction) -> None:
    assert exact(text) == expected


def test_whole_numbers_are_rounded_up() -> None:
    assert value("1m") == 1
    assert value("1001m") == 2
    assert milli_value("1u") == 1
    assert milli_value("1.0001") == 1001


def test_negative_numbers_are_rounded_away_from_zero() -> None:
    assert value("-1m") == -1
    assert value("-1001m") == -2


def test_nothing_is_finer_than_a_billionth() -> None:
    assert exact("1e-12") == Fraction(1, 10**9)
    assert exact("0.1n") == Fraction(1, 10**9)
    assert exact("-0.1n") == Fraction(-1, 10**9)


def test_large_numbers_saturate_at_int64() -> None:
    assert value("16Ei") == MAX
    assert value("1e400") == MAX
    assert value("1e999999999") == MAX
    assert value("-1e400") == -MAX
    assert milli_value("9E") == MAX
    assert milli_value("-9E") == MIN
    assert value(10**30) == MAX


@pytest.mark.parametrize(
    "text",
    ["", " ", "1 ", " 1", "1.2.3", "1x", "1i", "1mi", "1kI", "1ki", "e3", "m", "Ki", ".", "-", "+", "1e",
     "1e+", "--1", "0x10", "1_000", "٣", "1" * 500, "NaN", "inf", True, False, float("nan"), float("inf"),
     None, [], "1e3Ki", "1\n"],
)  # fmt: skip
def test_what_is_no_quantity_is_refused_by_name(text: object) -> None:
    with pytest.raises((QuantityError, TypeError)) as caught:
        value(text)  # type: ignore[arg-type]
    if isinstance(caught.value, QuantityError):
        assert shown(text) in str(caught.value)


def test_one_and_true_are_not_confused_by_the_cache() -> None:
    assert value(1) == 1
    with pytest.raises(QuantityError):
        value(True)


@given(
    st.sampled_from(["", "-"]),
    st.integers(min_value=0, max_value=10**15),
    st.sampled_from(["", ".5", ".25", ".125"]),
    st.sampled_from(SUFFIXES),
)
def test_the_official_client_agrees(sign: str, whole: int, part: str, suffix: str) -> None:
    text = f"{sign}{whole}{part}{suffix}"
    theirs = parse_quantity(text)
    nanos = (theirs * 10**9).to_integral_value(rounding=ROUND_UP)
    largest = Decimal(MAX) * 10**9
    assert exact(text) == Fraction(int(max(-largest, min(largest, nanos))), 10**9)


def test_cpu_counts_in_thousandths_and_everything_else_in_units() -> None:
    assert amount("cpu", "1.5") == 1500
    assert amount("memory", "1Ki") == 1024
    assert amount("nvidia.com/gpu", "2") == 2


@pytest.mark.parametrize(
    ("resource", "number", "expected"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("cpu", 2_000_000, "2k"),
        ("cpu", -500, "-500m"),
        ("memory", 16 * 2**30, "16Gi"),
        ("memory", 1500, "1500"),
        ("memory", 0, "0"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("nvidia.com/gpu", 8, "8"),
        ("nvidia.com/gpu", 1000, "1k"),
    ],
)
def test_amounts_are_written_in_canonical_form(resource: str, number: int, expected: str) -> None:
    assert format_amount(resource, number) == expected


@given(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(min_value=-(10**18), max_value=10**15)
)
def test_what_is_written_is_read_back(resource: str, number: int) -> None:
    assert amount(resource, format_amount(resource, number)) == number
