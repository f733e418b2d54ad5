"""Timestamps and durations are read and written as the API does."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects.times import TimeError, format_duration, format_time, parse_duration, parse_time


def test_a_timestamp_becomes_an_instant_in_utc() -> None:
    assert parse_time("2026-08-23T10:00:00Z") == datetime(2026, 8, 23, 10, tzinfo=UTC)
    assert parse_time("2026-08-23T10:00:00+02:00") == datetime(2026, 8, 23, 8, tzinfo=UTC)
    assert parse_time("2026-08-23t10:00:00.123456789z").microsecond == 123456


@pytest.mark.parametrize(
    "text",
    ["", "2026-08-23", "2026-08-23T10:00:00", "2026-13-23T10:00:00Z", "2026-08-23 10:00:00Z", "yesterday",
     "2026-08-23T25:00:00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "2026-08-23T10:00:00Z\n"],
)  # fmt: skip
def test_what_is_no_timestamp_is_refused(text: str) -> None:
    with pytest.raises(TimeError, match="timestamp"):
        parse_time(text)


def test_an_instant_without_a_zone_cannot_be_written() -> None:
    with pytest.raises(TimeError):
        format_time(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


@given(st.datetimes(timezones=st.just(UTC), min_value=datetime(1000, 1, 1)))  # noqa: DTZ001
def test_timestamps_survive_writing_and_reading(instant: datetime) -> None:
    assert parse_time(format_time(instant)) == instant


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("0s", 0), ("1h30m", 5400), ("300ms", 0.3), ("1.5h", 5400), ("-1m", -60), ("+2s", 2),
     ("1h0.5s", 3600.5), ("5us", 5e-6), ("5µs", 5e-6), ("10ns", 1e-8), (".5s", 0.5)],
)  # fmt: skip
def test_durations_are_gos(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "1", "s", "1 s", "1h30", "1d", "--1s", ".s", "1.s.", "1e3s", "999999999h"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(TimeError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["9" * 5000 + "h", "0." + "1" * 5000 + "s", "1ns" * 50_000])
def test_a_duration_of_thousands_of_digits_is_refused_in_a_short_sentence(text: str) -> None:
    with pytest.raises(TimeError, match=r"^.{50,150}$"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (5400, "1h30m0s"), (0.3, "300ms"), (1.5, "1.5s"), (-61, "-1m1s"), (2e-6, "2µs"),
     (1e-9, "1ns"), (3600, "1h0m0s")],
)  # fmt: skip
def test_durations_are_written_as_go_writes_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@given(st.integers(min_value=-(10**9), max_value=10**9))
def test_durations_survive_writing_and_reading(millis: int) -> None:
    assert parse_duration(format_duration(timedelta(milliseconds=millis))) == pytest.approx(millis / 1000)
