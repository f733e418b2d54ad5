"""The twenty jobs that fared worst, and for each of them why: what the decisions about it say.

Four ways to fare badly, five jobs each; a job that is bad in several ways is named once, and the next one
takes its place. Reasons are those of the decisions (`simulate.Record`), as `reprieve explain` words them:
nothing here decides anew.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple

import numpy as np

from reprieve.explain import Evidence, explain, in_plain_words
from reprieve.objects import counted, some
from reprieve.records import Decision, sentence
from reprieve.report.columns import Columns, Floats
from reprieve.report.study import Run, Study
from reprieve.report.wording import amount, span
from reprieve.simulate import MadeWay, Record, Stretch, seconds

EACH = 5
SHORT = 600.0
"""Jobs that run less count as if they ran so long: a second that waited an hour is not the worst."""
NODES = 3
STRETCHES = 6
"""Stretches of running that are told of one job."""
_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_OVER = {
    "ended": "It ended.",
    "node": "Its node failed.",
    "drained": "Its node was drained.",
    "cut": "It still ran when the simulation ended.",
}


class Moment(NamedTuple):
    time: float
    kind: str
    """submitted, refused, started, evicted or over."""
    text: str
    details: tuple[str, ...] = ()


class Case(NamedTuple):
    job: int
    name: str
    about: str
    because: str
    answer: str
    life: tuple[Moment, ...]
    elsewhere: tuple[tuple[str, str], ...]
    """How the same job fared under the other configurations."""


def worst(study: Study, run: Run) -> list[Case]:
    chosen: dict[int, str] = {}
    for ranking, because in _rankings(study, run.columns):
        new = (job for job in _order(ranking) if job not in chosen)
        for job in list(islice(new, EACH)):
            chosen[job] = because(job)
    return [_case(study, run, job, because) for job, because in chosen.items()]


def _rankings(study: Study, columns: Columns) -> list[tuple[Floats, Callable[[int], str]]]:
    """How badly each job fared, in four ways, and how that is said."""
    wait = np.where(columns.left_out, 0.0, columns.wait)
    run_time = np.maximum(columns.duration, SHORT)
    top = study.classes[0]
    several = len(study.classes) > 1
    longest = f"one of the longest waits of class {top}" if several else "one of the longest waits"
    return [
        (
            columns.lost,
            lambda job: f"lost most: {amount(columns.lost[job])} {study.unit}-hours",
        ),
        (
            columns.preempted.astype(float),
            lambda job: f"made way most often: {_times(int(columns.preempted[job]))}",
        ),
        (np.where(columns.klass == top, wait, 0.0), lambda job: f"{longest}: {span(wait[job])}"),
        (
            wait / run_time,
            lambda job: (
                f"waited {wait[job] / run_time[job]:.1f} times its run time, counted as ten minutes at least"
            ),
        ),
    ]


def _order(ranking: Floats) -> Iterator[int]:
    """Jobs with something to tell, the worst first; equal ones in the order of the trace."""
    return (int(job) for job in np.argsort(-ranking, kind="stable") if ranking[job] > 0)


def _case(study: Study, run: Run, job: int, because: str) -> Case:
    columns, record = run.columns, run.result.record or Record()
    stretches = [run.result.stretches[place] for place in np.flatnonzero(columns.job == job)]
    other = [(each.name, _fared(study, each.columns, job)) for each in study.runs if each is not run]
    return Case(
        job=job,
        name=study.jobs[job].name,
        about=_about(study, job),
        because=because,
        answer=f"It {_fared(study, columns, job)}.",
        life=tuple(sorted(_life(study, run, job, stretches, record), key=lambda each: each.time)),
        elsewhere=tuple(other),
    )


def _about(study: Study, job: int) -> str:
    found, columns = study.jobs[job], study.runs[0].columns
    size = f"{amount(columns.per_pod[job])} {study.unit}{'' if columns.per_pod[job] == 1 else 's'}"
    pods = size if found.pods == 1 else f"{found.pods} pods of {size}"
    parts = [f"class {found.klass}", pods, f"runs {span(columns.duration[job])}"]
    if found.queue:
        parts.append(f"queue {found.queue}")
    return ", ".join(parts)


def _fared(study: Study, columns: Columns, job: int) -> str:
    wait = span(columns.wait[job])
    if not columns.started[job]:
        return "was left out" if columns.left_out[job] else f"waited {wait} and never started"
    parts = ["started at once" if columns.wait[job] == 0 else f"waited {wait} for its first start"]
    if columns.preempted[job]:
        parts.append(f"made way {_times(int(columns.preempted[job]))}")
    if columns.lost[job]:
        parts.append(f"lost {amount(columns.lost[job])} {study.unit}-hours")
    ended = columns.finish[job] >= 0
    parts.append(
        f"ended {span(columns.finish[job] - columns.submit[job])} after its submission"
        if ended
        else "did not end"
    )
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _life(study: Study, run: Run, job: int, stretches: list[Stretch], record: Record) -> Iterator[Moment]:
    yield Moment(float(run.columns.submit[job]), "submitted", "Submitted.")
    yield from _refused(record, job)
    told = {each.time: each for each in record.evictions.get(job, ())}
    most = len(stretches) if len(stretches) <= STRETCHES else STRETCHES - 1
    for stretch in (*stretches[:most], *(stretches[-1:] if most < len(stretches) else ())):
        where = some(sorted(set(stretch.nodes)), NODES, "nodes")
        yield Moment(seconds(stretch.start), "started", f"Started{f' on {where}' if where else ''}.")
        yield _over(study, run, stretch, told)
    if most < len(stretches):
        between = len(stretches) - most - 1
        yield Moment(seconds(stretches[-1].start), "over", f"{counted(between, 'more run')} until here.")


def _refused(record: Record, job: int) -> Iterator[Moment]:
    found = record.refusals.get(job)
    if found is None:
        return
    first, *details = _said(found.unit, found.first, found.first_reasons)
    yield Moment(seconds(found.first), "refused", first, tuple(details))
    if found.times > 1:
        last, *details = _said(found.unit, found.last, found.last_reasons)
        tried = f"Tried {counted(found.times, 'time')} in vain; the last time: "
        yield Moment(seconds(found.last), "refused", f"{tried}{last}", tuple(details))


def _said(unit: str, time: int, reasons: tuple[str, ...]) -> list[str]:
    """What the record of this decision says, and its further reasons."""
    decision = _decision(unit, time, "unschedulable", reasons)
    return [in_plain_words(each) for each in (sentence(decision), *reasons[1:])]


def _over(study: Study, run: Run, stretch: Stretch, told: dict[int, MadeWay]) -> Moment:
    end = seconds(stretch.end)
    if stretch.why in _OVER:
        return Moment(end, "over", _OVER[stretch.why])
    lost = stretch.lost / 3600e6 * run.columns.size[stretch.job]
    cost = f"It lost {amount(lost)} {study.unit}-hours." if lost else "It lost nothing: its work was saved."
    found = told.get(stretch.end - run.settings.grace)
    if found is None:  # the end may have cut its grace period off
        found = next((each for time, each in told.items() if stretch.start < time < stretch.end), None)
    by = study.jobs[stretch.by].name if stretch.by >= 0 else "another job"
    if found is None:
        return Moment(end, "evicted", f"Made way for {by}.", (cost,))
    about = f" ({_about(study, stretch.by)})" if stretch.by >= 0 else ""
    return Moment(
        end, "evicted", f"Made way for {by}{about}.", (*_why(found, stretch), *found.reasons[:1], cost)
    )


def _why(found: MadeWay, stretch: Stretch) -> list[str]:
    """The answer of `explain` about this eviction, from the record of the decision alone."""
    if found.unit.count("/") != 2:
        return [_sentence(found.why)]  # a name that no object could have, so nothing can be asked about it
    key = found.unit.split("/", 1)[1]
    victim = {"unit": found.unit, "reason": found.why, "node": stretch.nodes[0] if stretch.nodes else ""}
    victim["workload" if found.unit.startswith("Workload/") else "pod"] = key
    decision = _decision(found.by, found.time, "preempts", found.reasons, victim)
    answer = explain(found.unit, Evidence((), decisions=[decision.to_dict()]), decision.time)
    return [_sentence(each.reason) for each in answer.preempted_by if each.reason]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _decision(
    unit: str, time: int, outcome: str, reasons: tuple[str, ...], *victims: dict[str, str]
) -> Decision:
    when = _BEGINNING + timedelta(seconds=seconds(time))
    return Decision(
        time=when,
        controller="scheduler",
        for_=unit,
        outcome=outcome,
        reasons=list(reasons),
        victims=list(victims),
    )
