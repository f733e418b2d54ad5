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


def not_whole(horizon: float, reasons: Sequence[str]) -> str:
    """Of a job that starts: whoever needs all of its pods must not take that for a yes."""
    because = f": {reasons[0]}" if reasons else "."
    return f" Not all of its pods start within {span_text(horizon)}{because}"


def runs(name: Reference, since: datetime | None) -> str:
    return f"{name} runs already{'' if since is None else f', since {since:%Y-%m-%d %H:%M:%S}'}."


def not_said(name: Reference, missing: Sequence[str], outran: Sequence[str] = ()) -> str:
    """`outran`: who has run for longer than announced."""
    whose = some(list(missing), NAMED)
    late = f" {some(list(outran), NAMED)} had announced less than it has run by now." if outran else ""
    return (
        f"When {name} starts cannot be said: nobody knows how long {whose} will run. The annotation "
        f"{well_known.EXPECTED_RUNTIME_ANNOTATION} on {'it' if len(missing) == 1 else 'them'} would help, "
        f"a time limit such as activeDeadlineSeconds, or {FEWEST} earlier runs that took longer than "
        f"{'it has' if len(missing) == 1 else 'they have'} by now.{late}"
    )


def given_up(limit: float) -> str:
    return (
        f"its time limit of {span_text(limit)} (activeDeadlineSeconds of a Job counts while its pods wait "
        "for a place) is over before there is one."
    )


def cut_short(name: Reference, announced: float, limit: float) -> str:
    return (
        f"{name} announces that it runs for {span_text(announced)}, and its time limit stops it after "
        f"{span_text(limit)}."
    )


NO_NODES = "No node is among the objects: whoever has quota is taken to have a place."


def no_queues(name: Reference, queue: str) -> str:
    return (
        f"{name} names the LocalQueue {queue}; no ClusterQueue is among the objects, so quota is not counted."
    )


def rows_left_out(number: int) -> str:
    rows, whose = counted(number, "row"), "that job" if number == 1 else "those jobs"
    does, was = ("does", "was") if number == 1 else ("do", "were")
    return (
        f"Note: {rows} of the history {does} not count: {whose} failed, or {was} stopped before "
        f"{'its' if number == 1 else 'their'} end."
    )


def does_not_start(
    name: Reference, outcome: Outcome, share: float, horizon: float, why: str, *, ahead: bool = False
) -> str:
    """`ahead`: something would still change after the horizon."""
    because = f": {why}" if why else "."
    if outcome == "unsure":
        return f"{name} starts within {span_text(horizon)} in {share:.0%} of the futures only{because}"
    if ahead:
        return f"{name} does not start within {span_text(horizon)}, as far as was looked ahead{because}"
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
