"""Reprieve's own annotations, where they are read as durations, times and numbers."""

import math

from reprieve.objects import well_known
from reprieve.objects.text import shown
from reprieve.objects.times import TimeError, parse_duration, parse_time
from reprieve.objects.validation.checks import At, Problems

HIGHEST_COST = 1e12


def own_annotations(new: At, old: At | None = None) -> Problems:
    """What a person could only have written by mistake; what was there before stays as it is."""
    notes = new.field("metadata", "annotations")
    before = None if old is None else old.field("metadata", "annotations")
    for name, (check, expected) in _CHECKS.items():
        note = notes.field(name)
        if not note.is_set or (before is not None and before.field(name).value == note.value):
            continue
        if not isinstance(note.value, str) or not check(note.value):
            yield note.problem(f"must be {expected}, got {shown(note.value)}")


def is_run_time(text: str) -> bool:
    try:
        return parse_duration(text) >= 0
    except TimeError:
        return False


def _is_time(text: str) -> bool:
    try:
        parse_time(text)
    except TimeError:
        return False
    return True


def _is_cost(text: str) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    return math.isfinite(number) and abs(number) <= HIGHEST_COST


_CHECKS = {
    well_known.MIN_RUNTIME_ANNOTATION: (is_run_time, "a duration such as 5m or 1h30m"),
    well_known.EXPECTED_RUNTIME_ANNOTATION: (is_run_time, "a duration such as 5m or 1h30m"),
    well_known.CHECKPOINTED_AT_ANNOTATION: (_is_time, "a time such as 2026-08-23T12:00:00Z"),
    well_known.PREEMPTION_COST_ANNOTATION: (_is_cost, f"a number of at most {HIGHEST_COST:,.0f}"),
}
CHECKED = tuple(_CHECKS)
