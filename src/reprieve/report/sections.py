"""The parts of the page that need no script: text, tables, flows. What comes from a trace is escaped."""

from collections.abc import Callable, Sequence
from html import escape

from reprieve.report.cases import Case, Moment, worst
from reprieve.report.drawing import bar, flow_chart, said_of, swatch
from reprieve.report.flows import Flow, flows, largest
from reprieve.report.markup import folded, heads, listed, scrolled, table, tag
from reprieve.report.study import Run, Study
from reprieve.report.verdict import Cell, cautions, numbers, sentences
from reprieve.report.waiting import percentiles
from reprieve.report.wording import amount, moment, percent, span
from reprieve.simulate import Job

SHARES = (0.5, 0.9, 0.99, 1.0)
QUEUES = 7
"""Queues that a flow shows by name."""
_MARKS = {"best": "▲ best", "better": "▲ better", "worst": "▼ worst"}


def verdict(study: Study) -> str:
    said = [tag("p", _named(each, study)) for each in sentences(study)]
    said += [tag("p", escape(each), class_="caution") for each in cautions(study)]
    head = heads("measure", *(_run_name(place, run) for place, run in _runs(study)))
    rows = [
        tag("tr", tag("th", escape(title), scope="row"), *map(_cell, cells))
        for title, cells in numbers(study)
    ]
    caption = "The numbers that decide"
    if len(study.runs) > 1:
        caption += f", and how they stand to {study.runs[0].name}"
    shown = tag("h3", escape(caption)) + scrolled(caption, table(head, rows))
    assumed = tag("h3", "What was assumed", id="assumed") + listed(list(map(escape, study.assumptions())))
    aside = tag("aside", assumed, class_="assumed", aria_labelledby="assumed")
    return tag("div", *said, class_="said") + tag("div", tag("div", shown), aside, class_="columns")


def _named(text: str, study: Study) -> str:
    """With the configuration that it is about in bold."""
    head, colon, rest = text.partition(": ")
    return f"<b>{escape(head)}</b>{colon}{escape(rest)}" if len(study.runs) > 1 and colon else escape(text)


def _cell(cell: Cell) -> str:
    parts = [tag("span", escape(cell.text), class_="value")]
    if cell.mark:
        parts.append(tag("span", _MARKS[cell.mark], class_=f"mark {cell.mark}"))
    if cell.beside:
        parts.append(tag("span", escape(cell.beside), class_="beside"))
    return tag("td", " ".join(parts))


def waiting_table(study: Study) -> str:
    said = [f"{'all' if share == 1 else f'{100 * share:.0f} %'} had started within" for share in SHARES]
    rows = []
    for klass in study.classes:
        for run in study.runs:
            found = percentiles(run.columns, klass, SHARES)
            cells = [tag("td", "never" if each is None else span(each)) for each in found]
            names = tag("th", escape(klass), scope="row") + tag("td", escape(run.name))
            rows.append(tag("tr", names, *cells))
    shown = table(heads("class", "configuration", *said), rows)
    return folded("The same as a table", scrolled("Waiting by class", shown))


def flow_section(study: Study) -> str:
    found = _flow_row(study, "by class", lambda job: job.klass, study.classes)
    if len({job.queue for job in study.jobs}) > 1:
        found += _flow_row(study, "by queue", largest(study.jobs, QUEUES), ())
    return found


def _flow_row(study: Study, title: str, group: Callable[[Job], str], classes: Sequence[str]) -> str:
    cards = [
        tag(
            "figure",
            tag("figcaption", _run_name(place, run)),
            _flow(study, flows(run.columns, group), f"{title} under {run.name}", classes),
            class_="card",
        )
        for place, run in _runs(study)
    ]
    return tag("h3", title.capitalize()) + tag("div", *cards, class_="cards")


def _flow(study: Study, found: list[Flow], title: str, classes: Sequence[str]) -> str:
    if not found:
        return tag("p", "Nobody had to make way.", class_="note")
    label = f"Who made way for whom {title}; the table below says the same"
    rows = [
        tag("tr", *(tag("td", escape(text)) for text in (each.by, each.victim, said_of(each, study.unit))))
        for each in found
    ]
    shown = table(heads("needed a place", "made way", "how much"), rows)
    return flow_chart(found, classes, study.unit, label) + folded("As a table", shown)


def size_section(study: Study) -> str:
    """What each size of job lost, and how much of its work that was."""
    sizes = list(dict.fromkeys(size for run in study.runs for size in run.metrics.sizes))
    most = max((group.lost_hours for run in study.runs for group in run.metrics.sizes.values()), default=0.0)
    if not most:
        return tag("p", "No job lost any work.", class_="note")
    rows = [_size_row(study, size, place, run, most) for size in sizes for place, run in _runs(study)]
    head = heads(f"{study.unit}s of a job", "configuration") + heads("lost", class_="bars")
    return scrolled("Losses by size", table(head + heads("amount", "goodput"), rows, class_="sizes"))


def _size_row(study: Study, size: str, place: int, run: Run, most: float) -> str:
    group = run.metrics.sizes[size]
    lost = f"{amount(group.lost_hours)} {study.unit}-hours"
    cells = [
        tag("td", _run_name(place, run)),
        tag("td", bar(group.lost_hours / most, place, lost), class_="bars"),
        tag("td", lost),
        tag("td", "–" if group.goodput is None else percent(group.goodput)),
    ]
    if place == 0:
        jobs = tag("span", f"{group.jobs:,} jobs", class_="note")
        cells.insert(0, tag("th", escape(size), jobs, scope="rowgroup", rowspan=len(study.runs)))
    return tag("tr", *cells)


def case_section(study: Study) -> str:
    """A list for each configuration; the page shows one at a time, paper all of them."""
    lists = []
    for place, run in _runs(study):
        head = tag("h3", _run_name(place, run), id=f"cases-head-{place}")
        items = [_case(case) for case in worst(study, run)] or ["No job waited, lost work or made way."]
        shown = head + listed(items, "ol", class_="cases")
        name = f"cases-{place}"
        lists.append(tag("section", shown, class_="panel", id=name, aria_labelledby=f"cases-head-{place}"))
    return "".join(lists)


def _case(case: Case) -> str:
    names = tag("b", escape(case.name)) + " " + tag("span", escape(case.because), class_="because")
    summary = tag("summary", names, tag("span", escape(case.about), class_="note"))
    answer = tag("p", escape(case.answer), class_="answer")
    life = tag("ol", *map(_moment, case.life), class_="life")
    others = [f"<b>{escape(name)}</b>: it {escape(fared)}." for name, fared in case.elsewhere]
    elsewhere = tag("h4", "The same job elsewhere") + listed(others, class_="elsewhere") if others else ""
    find = tag("button", "Show it on its nodes", type="button", class_="find scripted", data_job=case.job)
    return tag("details", summary, answer, life, elsewhere, find)


def _moment(each: Moment) -> str:
    said = tag("p", escape(each.text)) + "".join(
        tag("p", escape(text), class_="note") for text in each.details
    )
    return tag("li", tag("span", moment(each.time), class_="when"), tag("div", said), class_=each.kind)


def _run_name(place: int, run: Run) -> str:
    return swatch(place) + escape(run.name)


def _runs(study: Study) -> list[tuple[int, Run]]:
    return list(enumerate(study.runs))
