"""A forecast in sentences."""

from collections.abc import Sequence
from datetime import datetime

from reprieve.forecast.answer import Outcome, Span
from reprieve.forecast.run_times import FEWEST
from reprieve.objects import Reference, counted, some, well_known

NAMED = 3
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def span_text(seconds: float) -> str:
    """As people say it: 40 s, 25 min, 2.5 h, 3 days."""
    if seconds < 100:
        return f"{round(seconds)} s"
    if seconds < 100 * _MINUTE:
        return f"{round(seconds / _MINUTE)} min"
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:.1f}".removesuffix(".0") + " h"
    return f"{seconds / _DAY:.1f}".removesuffix(".0") + " days"


def interval(span: Span, horizon: float) -> str:
    assert span.low is not None
    high = f"more than {span_text(horizon)}" if span.high is None else span_text(span.high)
    return f"{span_text(span.low)} to {high}"


def when_it_starts(name: Reference, span: Span, *, certain: bool, horizon: float, latest: bool) -> str:
    assert span.median is not None
    moment = f" ({_clock(span.at)})" if span.at else ""
    if certain:
        return f"{name} starts {'at the latest ' if latest else ''}in {span_text(span.median)}{moment}."
    latest_text = "at the latest in about" if latest else "in about"
    text = f"{latest_text} {span_text(span.median)}{moment}"
    return f"{name} starts {text}; 80 %: {interval(span, horizon)}."


def starts_now(name: Reference, victims: Sequence[str]) -> str:
    if not victims:
        return f"{name} starts now: there is room for it."
    verb = "makes" if len(victims) == 1 else "make"
    return f"{name} starts now, if {some(list(victims), NAMED)} {verb} way."


def runs(name: Reference, since: datetime | None) -> str:
    return f"{name} runs already{'' if since is None else f', since {since:%Y-%m-%d %H:%M:%S}'}."


def not_said(name: Reference, missing: Sequence[str]) -> str:
    whose = some(list(missing), NAMED)
    return (
        f"When {name} starts cannot be said: nobody knows how long {whose} will run. The annotation "
        f"{well_known.EXPECTED_RUNTIME_ANNOTATION} on {'it' if len(missing) == 1 else 'them'} would help, "
        f"a time limit such as activeDeadlineSeconds, or {FEWEST} earlier runs that took longer than "
        f"{'it has' if len(missing) == 1 else 'they have'} by now."
    )


def does_not_start(name: Reference, outcome: Outcome, share: float, horizon: float, why: str) -> str:
    because = f": {why}" if why else "."
    if outcome == "unsure":
        return f"{name} starts within {span_text(horizon)} in {share:.0%} of the futures only{because}"
    return f"{name} does not start as things are{because}"


def assumptions(counts: dict[str, int], horizon: float, futures: int) -> list[str]:
    """What the answer takes for granted."""
    found = ["Nothing more important comes, and nobody is deleted."]
    if number := counts.get("history"):
        found.append(
            f"{counted(number, 'run time')} {'is' if number == 1 else 'are'} drawn from earlier runs, "
            f"{counted(futures, 'time')}."
        )
    if number := counts.get("limit"):
        found.append(
            f"{number} {'runs' if number == 1 else 'run'} until the time limit, for all that is known; "
            "with an earlier end it may be sooner."
        )
    if number := counts.get("unknown"):
        found.append(
            f"{number} of unknown run time {'is' if number == 1 else 'are'} taken to run on: with an earlier "
            "end it may be sooner."
        )
    if futures:
        found.append(f"Looked ahead: {span_text(horizon)}.")
    return found


def other_scheduler(name: Reference, schedulers: Sequence[str]) -> list[str]:
    if not schedulers:
        return []
    return [f"{name} asks for the scheduler {some(schedulers, NAMED)}; it is placed here as by this one."]


def _clock(at: str) -> str:
    return at.replace("T", " ").removesuffix("Z")
