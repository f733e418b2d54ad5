"""Cron schedules: the next time equals what stepping from minute to minute finds."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprieve.objects.schedules import Schedule, ScheduleError, zone_named

START = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    ranges = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    base = st.one_of(st.just("*"), number.map(str), ranges)
    step = st.one_of(st.just(""), st.integers(1, high).map(lambda n: f"/{n}"))
    item = st.tuples(base, step).map("".join)
    return st.lists(item, min_size=1, max_size=3).map(",".join)


SCHEDULES = st.tuples(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)).map(" ".join)


def naive_values(text: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for item in text.split(","):
        base, _, step = item.partition("/")
        first, _, last = base.partition("-")
        if base == "*":
            begin, end = low, high
        else:
            begin = int(first)
            end = int(last) if last else (high if step else begin)
        found |= set(range(begin, end + 1, int(step or 1)))
    return found


def naive_matches(text: str, local: datetime) -> bool:
    minute, hour, day, month, week = text.split()
    by_day = local.day in naive_values(day, 1, 31)
    by_week = local.isoweekday() % 7 in naive_values(week, 0, 6)
    free = [any(i in ("*", "*/1") for i in part.split(",")) for part in (day, week)]
    on_day = (by_day and by_week) if any(free) else (by_day or by_week)
    return (
        local.minute in naive_values(minute, 0, 59)
        and local.hour in naive_values(hour, 0, 23)
        and local.month in naive_values(month, 1, 12)
        and on_day
    )


@settings(deadline=None)
@given(SCHEDULES, st.integers(0, 366 * 24 * 60), st.sampled_from(ZONES))
def test_the_next_time_is_the_first_minute_that_matches(text: str, minutes: int, zone: str) -> None:
    after = START + timedelta(minutes=minutes, seconds=minutes % 60)
    found = Schedule.parse(text).next(after, zone_named(zone))
    instant = after.replace(second=0) + timedelta(minutes=1)
    for _ in range(3 * 24 * 60):
        if naive_matches(text, instant.astimezone(ZoneInfo(zone))):
            assert found == instant
            return
        instant += timedelta(minutes=1)
    assert found is None or found >= instant


@pytest.mark.parametrize(
    ("text", "next_"),
    [
        ("@hourly", "2026-01-01T01:00"),
        ("@daily", "2026-01-02T00:00"),
        ("@weekly", "2026-01-04T00:00"),
        ("@monthly", "2026-02-01T00:00"),
        ("@yearly", "2027-01-01T00:00"),
        ("@every 90s", "2026-01-01T00:01:30"),
        ("0 12 * jun,Dec MON-fri", "2026-06-01T12:00"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
    ],
)
def test_short_forms_and_names(text: str, next_: str) -> None:
    assert Schedule.parse(text).next(START) == datetime.fromisoformat(next_).replace(tzinfo=UTC)


def test_a_day_that_never_comes_has_no_next_time() -> None:
    assert Schedule.parse("0 0 31 2 *").next(START) is None


def test_an_hour_that_the_clock_skips_does_not_happen_and_one_that_it_repeats_happens_twice() -> None:
    berlin = zone_named("Europe/Berlin")
    night = Schedule.parse("30 2 * * *")
    spring = night.next(datetime(2026, 3, 28, 12, tzinfo=UTC), berlin)
    assert spring == datetime(2026, 3, 30, 0, 30, tzinfo=UTC)
    autumn = night.next(datetime(2026, 10, 24, 12, tzinfo=UTC), berlin)
    assert autumn == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert night.next(autumn, berlin) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("* * * *", "has 4 fields"),
        ("60 * * * *", "'60' is no minute between 0 and 59"),
        ("* * * * 7", "'7' is no day of the week between 0 and 6"),
        ("5-1 * * * *", "is no range"),
        ("*/0 * * * *", "step"),
        ("x * * * *", "'x' is no minute"),
        ("@every never", "not a duration"),
        ("@reboot", "has 1 fields"),
    ],
)
def test_what_is_no_schedule_is_refused_with_the_part(text: str, said: str) -> None:
    with pytest.raises(ScheduleError, match=said):
        Schedule.parse(text)


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(ScheduleError, match="unknown time zone 'Mars/Olympus'"):
        zone_named("Mars/Olympus")
