"""The numbers that people compare, and what they say in sentences. Nothing is measured here."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from reprieve.report.study import Run, Study, counted_jobs, plural
from reprieve.report.wording import SAME, amount, beside, percent, points, span
from reprieve.simulate import Metrics, Spread


class Measure(NamedTuple):
    """A row of the table. `better`: 1 when more is better, -1 when less is, 0 when neither is."""

    title: str
    value: Callable[[Metrics], float | None]
    text: Callable[[float], str]
    better: int
    beside: Callable[[float, float], str]
    """How a number stands to that of the first configuration."""


class Cell(NamedTuple):
    text: str
    mark: str
    """best and worst, of two only better; or nothing."""
    beside: str
    """How it stands to the first configuration."""


_Amount = partial(Measure, beside=lambda value, base: beside(value, base, "more", "fewer", "as many"))
_Index = partial(Measure, beside=lambda value, base: beside(value, base, "higher", "lower", "as high"))
_Time = partial(Measure, beside=lambda value, base: beside(value, base, "longer", "shorter", "as long"))
_Share = partial(Measure, beside=lambda value, base: points(value - base))


def measures(study: Study) -> list[Measure]:
    unit, top = study.unit, study.classes[0]
    found = [
        _Amount(f"{unit}-hours lost", lambda m: m.lost_hours, amount, -1),
        _Share("goodput", lambda m: m.goodput, percent, 1),
        _Amount("preemptions", lambda m: float(m.preemptions), _whole, -1),
        _Time("waiting, mean", lambda m: _mean(m.delay), span, -1),
        _Time("waiting, p99", lambda m: _p99(m.delay), span, -1),
    ]
    if len(study.classes) > 1:
        found.append(_Time(f"waiting of class {top}, p99", lambda m: _p99(m.classes[top].delay), span, -1))
    return [
        *found,
        _Time("completion, mean", lambda m: _mean(m.jct), span, -1),
        _Share(f"{unit}s in use while jobs came", lambda m: m.utilisation_window, percent, 1),
        _Time("makespan", lambda m: m.makespan_hours * 3600, span, -1),
        _Amount("late gangs", lambda m: float(m.late_gangs), _whole, -1),
        _Share("deadlines missed", lambda m: m.deadlines_missed, percent, -1),
        _Index("fairness of queues (Jain)", lambda m: m.jain, lambda x: f"{x:.3f}", 1),
        _Amount("jobs ended", lambda m: float(m.ended), _whole, 1),
        _Amount("runs ended by a node", lambda m: float(m.failures), _whole, 0),
        _Amount("budgets violated", lambda m: float(m.budget_violations), _whole, -1),
    ]


def _mean(spread: Spread | None) -> float | None:
    return None if spread is None else spread.mean


def _p99(spread: Spread | None) -> float | None:
    return None if spread is None else spread.p99


def _whole(number: float) -> str:
    return f"{number:,.0f}"


def numbers(study: Study) -> list[tuple[str, list[Cell]]]:
    """Rows in which nobody has a number, or everybody zero, are left out."""
    rows = []
    for measure in measures(study):
        values = [measure.value(run.metrics) for run in study.runs]
        if any(values):
            rows.append((measure.title, cells_of(measure, values)))
    return rows


def cells_of(measure: Measure, values: list[float | None]) -> list[Cell]:
    marks = _marks(measure, values)
    cells = []
    for place, value in enumerate(values):
        if value is None:
            cells.append(Cell("–", "", ""))
            continue
        said = measure.beside(value, values[0]) if place and values[0] is not None else ""
        cells.append(Cell(measure.text(value), marks.get(value, ""), said))
    return cells


def _marks(measure: Measure, values: list[float | None]) -> dict[float, str]:
    """None where nothing is better, or all read the same. Beside the better of two the other needs none."""
    known = [each for each in values if each is not None]
    low, high = min(known), max(known)
    if not measure.better or high - low <= SAME * max(abs(high), abs(low)):
        return {}
    if measure.text(low) == measure.text(high):
        return {}
    best, worst = (high, low) if measure.better > 0 else (low, high)
    return {best: "better"} if len(values) == 2 else {best: "best", worst: "worst"}


def sentences(study: Study) -> list[str]:
    """The verdict: the first configuration by itself, each other one beside it, then cautions."""
    first = study.runs[0]
    return [_alone(study, first), *(_compared(study, run, first) for run in study.runs[1:])]


def _alone(study: Study, run: Run) -> str:
    metrics = run.metrics
    used = (
        ""
        if metrics.utilisation_window is None
        else f"; {percent(metrics.utilisation_window)} of the {study.unit}s were in use while jobs came"
    )
    waits = "no job ended"
    if (delay := metrics.delay) is not None:
        waits = f"a job waits {span(delay.mean)} on average, 1 in 100 longer than {span(delay.p99)}"
    return f"Under {run.name} {waits}; {_cost(study, metrics)}{used}."


def _cost(study: Study, metrics: Metrics) -> str:
    """What was lost, and to whom: to other jobs and to nodes."""
    taken, failed = metrics.preemptions, metrics.failures
    stops = [f"{taken:,} {plural(taken, 'preemption')}"] if taken else []
    stops += [f"{failed:,} {plural(failed, 'run')} that a node ended"] if failed else []
    lost = f"cost {amount(metrics.lost_hours)} {study.unit}-hours (goodput {percent(metrics.goodput or 0)})"
    said = ["nobody was preempted"] if not taken else []
    return "; ".join([*said, *([f"{' and '.join(stops)} {lost}"] if stops else [])])


def _compared(study: Study, run: Run, first: Run) -> str:
    """The five numbers that decide, in words."""
    mine, base = run.metrics, first.metrics
    parts = [
        _part(
            _clause(mine.lost_hours, base.lost_hours, "loses", f"{study.unit}-hours", "fewer"),
            amount(mine.lost_hours),
            amount(base.lost_hours),
        ),
        _part(
            _clause(mine.preemptions, base.preemptions, "preempts", "jobs", "fewer"),
            _whole(mine.preemptions),
            _whole(base.preemptions),
        ),
    ]
    if mine.delay is not None and base.delay is not None:
        parts.append(_waits("mean waiting", mine.delay.mean, base.delay.mean))
    top = study.classes[0]
    high, high_base = _p99(mine.classes[top].delay), _p99(base.classes[top].delay)
    if len(study.classes) > 1 and high is not None and high_base is not None:
        parts.append(_waits(f"p99 of class {top}", high, high_base))
    return f"{run.name} instead of {first.name}: {', '.join(parts)}."


def _clause(value: float, base: float, verb: str, noun: str, less: str) -> str:
    said = beside(value, base, "more", less, "as many")
    if said == "the same":
        return f"{verb} the same number of {noun}"
    return f"{verb} {said} {noun}"


def _waits(what: str, value: float, base: float) -> str:
    said = beside(value, base, "longer", "shorter", "as long")
    return _part(f"{what} is {said}", span(value), span(base))


def _part(said: str, value: str, base: str) -> str:
    return f"{said} ({value})" if value == base else f"{said} ({value} instead of {base})"


def cautions(study: Study) -> list[str]:
    """What keeps the numbers of the table from being compared as they stand."""
    found = []
    for run in study.runs:
        metrics, later = run.metrics, int(run.columns.later.sum())
        if never := metrics.never - later:
            found.append(
                f"{run.name}: {counted_jobs(never)} of {metrics.jobs - later:,} did not end; means and "
                "percentiles are over those that did."
            )
    if len({run.metrics.ended for run in study.runs}) > 1:
        found.append("Different numbers of jobs ended, so waiting and completion are over different jobs.")
    return found
