"""Every sentence that forecasts say to people.

A function's name is the sentence's code, its arguments are the values in it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from reprieve.forecast.answer import Span
from reprieve.forecast.run_times import FEWEST
from reprieve.objects import Reference, counted, is_or_are, nearest, shown, some, well_known

_NAMED = 3
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400

# --- times --------------------------------------------------------------------------------------------------


def span_text(seconds: float) -> str:
    """As people say it: 40 s, 25 min, 2.5 h, 3 days."""
    if seconds < 100:
        return f"{round(seconds)} s"
    if seconds < 100 * _MINUTE:
        return f"{round(seconds / _MINUTE)} min"
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:.1f}".removesuffix(".0") + " h"
    return f"{seconds / _DAY:.1f}".removesuffix(".0") + " days"


def _interval(span: Span, horizon: float) -> str:
    assert span.low is not None
    high = f"more than {span_text(horizon)}" if span.high is None else span_text(span.high)
    return f"{span_text(span.low)} to {high}"


def _clock(at: str) -> str:
    return at.replace("T", " ").removesuffix("Z")


# --- it starts, or runs -------------------------------------------------------------------------------------


def when_it_starts(name: Reference, span: Span, *, certain: bool, horizon: float, latest: bool) -> str:
    assert span.median is not None
    moment = f" ({_clock(span.at)})" if span.at else ""
    if certain:
        return f"{name} starts {'at the latest ' if latest else ''}in {span_text(span.median)}{moment}."
    latest_text = "at the latest in about" if latest else "in about"
    text = f"{latest_text} {span_text(span.median)}{moment}"
    return f"{name} starts {text}; 80 %: {_interval(span, horizon)}."


def starts_now(name: Reference, victims: Sequence[str]) -> str:
    if not victims:
        return f"{name} starts now: there is room for it."
    verb = "makes" if len(victims) == 1 else "make"
    return f"{name} starts now, if {some(victims, _NAMED)} {verb} way."


def starts_in_part(name: Reference, pods: int, total: int, victims: Sequence[str]) -> str:
    text = f"{pods} of {total} pods of {name} {'starts' if pods == 1 else 'start'} now"
    return (
        f"{text}, if {some(victims, _NAMED)} {is_or_are(len(victims))} preempted." if victims else f"{text}."
    )


def all_run(span: Span) -> str:
    assert span.median is not None
    moment = f" ({_clock(span.at)})" if span.at else ""
    return f"All of them run in about {span_text(span.median)}{moment}."


def not_whole(horizon: float, why: str) -> str:
    """Of a job that starts: whoever needs all of its pods must not take that for a yes."""
    return f"Not all of its pods start within {span_text(horizon)}{_because(why)}"


def runs_already(name: Reference, since: datetime | None) -> str:
    return f"{name} runs already{'' if since is None else f', since {since:%Y-%m-%d %H:%M:%S}'}."


# --- it does not start --------------------------------------------------------------------------------------

NO_NODE = "there is no node among the objects."
INACTIVE = "it is not active (spec.active: false), and nothing but a change of that field lets it in"


def starts_in_some_futures(name: Reference, share: float, horizon: float, why: str) -> str:
    return f"{name} starts within {span_text(horizon)} in {share:.0%} of the futures only{_because(why)}"


def not_within_horizon(name: Reference, horizon: float, why: str) -> str:
    ahead = f"within {span_text(horizon)}, as far as was looked ahead"
    return f"{name} does not start {ahead}{_because(why)}"


def preempts_all_the_same(victims: Sequence[str]) -> str:
    """It takes their quota before it looks for nodes."""
    return f"Still, {some(victims, _NAMED)} {is_or_are(len(victims))} preempted for its quota."


def has_ended(how: str) -> str:
    return f"it has ended ({how})."


def ended_at(condition: str, time: datetime | None) -> str:
    """How a job ended, and when that is known."""
    return condition + ("" if time is None else f", {time:%Y-%m-%d %H:%M:%S}")


def given_up(limit: float) -> str:
    return (
        f"its time limit of {span_text(limit)} (activeDeadlineSeconds of a Job counts while its pods wait "
        "for a place) is over before there is one."
    )


def _because(why: str) -> str:
    return f": {why}" if why else "."


# --- it cannot be said --------------------------------------------------------------------------------------

TOO_MUCH_WORK = "there is too much to replay"


def run_times_missing(name: Reference, missing: Sequence[str], outran: Sequence[str] = ()) -> str:
    """`outran`: who has run for longer than announced."""
    whose = some(missing, _NAMED)
    late = f" {some(outran, _NAMED)} had announced less than it has run by now." if outran else ""
    return (
        f"When {name} starts cannot be said: nobody knows how long {whose} will run. The annotation "
        f"{well_known.EXPECTED_RUNTIME_ANNOTATION} on {'it' if len(missing) == 1 else 'them'} would help, "
        f"a time limit such as activeDeadlineSeconds, or {FEWEST} earlier runs that took longer than "
        f"{'it has' if len(missing) == 1 else 'they have'} by now.{late}"
    )


def too_few_futures(futures: int, fewest: int) -> str:
    return f"futures: {futures}: fewer than {fewest} hold no 80 %"


def is_gone(name: Reference, ended: datetime) -> str:
    return f"{name} is gone: it last ran until {ended:%Y-%m-%d %H:%M:%S}"


def is_not_there(name: Reference, known: Iterable[str]) -> str:
    """`known`: names of the same kind and namespace, in case one was meant."""
    return f"there is nothing of {name} that waits or runs among the objects{nearest(name.name, known)}"


# --- what the answer takes for granted ----------------------------------------------------------------------

NOTHING_COMES = "Nothing more important comes, and nobody is deleted."
NO_NODES = "No node is among the objects: whoever has quota is taken to have a place."


def drawn_from_history(run_times: int, futures: int) -> str:
    return (
        f"{counted(run_times, 'run time')} {is_or_are(run_times)} drawn from earlier runs, "
        f"{counted(futures, 'time')}."
    )


def run_until_limit(number: int) -> str:
    return (
        f"{number} {'runs' if number == 1 else 'run'} until the time limit, for all that is known; "
        "with an earlier end it may be sooner."
    )


def taken_to_run_on(number: int) -> str:
    return (
        f"{number} of unknown run time {is_or_are(number)} taken to run on: with an earlier end it may be "
        "sooner."
    )


def looked_ahead(horizon: float) -> str:
    return f"Looked ahead: {span_text(horizon)}."


def no_queues(name: Reference, queue: str) -> str:
    return (
        f"{name} names the LocalQueue {queue}; no ClusterQueue is among the objects, so quota is not counted."
    )


def cut_short(name: Reference, announced: float, limit: float) -> str:
    return (
        f"{name} announces that it runs for {span_text(announced)}, and its time limit stops it after "
        f"{span_text(limit)}."
    )


# --- notes on the objects -----------------------------------------------------------------------------------


def announcement_not_used(whose: Sequence[str], why: str) -> str:
    names = some(whose, _NAMED)
    return f"Note: {well_known.EXPECTED_RUNTIME_ANNOTATION} of {names} is not used: {why}."


def run_time_is_negative(text: str) -> str:
    return f"{shown(text)} is negative"


def left_out(name: Reference, why: str) -> str:
    return f"Note: {name} is left out: {why}."


def made_by_somebody_else(pod: Reference) -> str:
    return f"would make {pod}, and there is one that it has not made; name it otherwise"


def claim_is_never_made(pod: Reference, claim: str, template: str) -> str:
    return (
        f"Note: {pod} waits for a claim that is never made: its "
        f"spec.resourceClaims[{claim}].resourceClaimTemplateName is {template}, "
        "which is not among the objects."
    )


def history_rows_left_out(rows: int) -> str:
    those, whose = counted(rows, "row"), "that job" if rows == 1 else "those jobs"
    does, was = ("does", "was") if rows == 1 else ("do", "were")
    return (
        f"Note: {those} of the history {does} not count: {whose} failed, or {was} stopped before "
        f"{'its' if rows == 1 else 'their'} end."
    )
