"""The tables of docs/study.md. Everything between two marks of the page is written here:

<!-- study: rows half-hour --> ... <!-- end -->
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.study.cells import SAVING, SCENARIOS, Cell, Cells, Key

PAGE = Path(__file__).parents[2] / "docs" / "study.md"
FEWER, GOODPUT = 1 / 3, 0.95
"""The aim: so much less is lost, and every size class has at least that goodput."""
_MARKED = re.compile(r"(<!-- study: (\w+) ([^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)

_ROWS = (
    "| scenario | policy | GPU-hours lost | preemptions | goodput | size classes | waiting of high, p99 s | "
    "waiting, mean h | completion, mean h |\n|---|---|---|---|---|---|---|---|---|"
)
_VERDICTS = (
    "| scenario | GPU-hours lost | p99 of high, s | lowest goodput of a size class | completion, mean h | "
    "the aim is |\n|---|---|---|---|---|---|"
)


def written(page: str, cells: Cells) -> str:
    """The page with its tables as the cells say."""

    def table(match: re.Match[str]) -> str:
        begin, what, about, end = match.groups()
        saving, _, configuration = about.partition(" ")
        lines = _rows(cells, saving) if what == "rows" else _verdicts(cells, saving, configuration)
        return begin + "\n" + "\n".join(lines) + "\n\n" + end

    return _MARKED.sub(table, page)


def _rows(cells: Cells, saving: str) -> Iterator[str]:
    yield _ROWS
    for scenario in SCENARIOS:
        for configuration in SAVING[saving]:
            cell = cells.get(Key(scenario, saving, configuration))
            if cell is not None:
                yield f"| {scenario} | {_code(configuration)} | {_row(cell)} |"
    gaps = {
        scenario: [_code(each) for each in SAVING[saving] if cells.get(Key(scenario, saving, each)) is None]
        for scenario in SCENARIOS
    }
    if any(gaps.values()):
        said = "; ".join(f"{scenario} ({'; '.join(names)})" for scenario, names in gaps.items() if names)
        yield f"\nNot run: {said}."


def _row(cell: Cell) -> str:
    completion = "–" if cell.completion is None else f"{cell.completion:.2f}"
    return (
        f"{cell.lost:,.1f} | {cell.preemptions:,} | {cell.goodput:.4f} | {cell.lowest:.4f} | "
        f"{cell.p99_high:,.0f} | {cell.waiting:.3f} | {completion}"
    )


def _verdicts(cells: Cells, saving: str, configuration: str) -> Iterator[str]:
    """One configuration against `kubernetes`."""
    yield _VERDICTS
    less, met, gaps = [], 0, []
    for scenario in SCENARIOS:
        base = cells.get(Key(scenario, saving, "kubernetes"))
        cell = cells.get(Key(scenario, saving, configuration))
        if base is None or cell is None:
            gaps.append(scenario)
            continue
        wrong = missed(base, cell)
        less.append(1 - cell.lost / base.lost)
        met += not wrong
        said = f"not met: {', '.join(wrong)}" if wrong else "met"
        named = f" ({cell.lowest_class})" if cell.lowest_class else ""
        yield (
            f"| {scenario} | {base.lost:,.1f} → {cell.lost:,.1f}, {_less(less[-1])} | {_waits(base, cell)} | "
            f"{cell.lowest:.4f}{named} | {_hours(base)} → {_hours(cell)} | {said} |"
        )
    if less:
        best, worst = _less(max(less)), _less(min(less))
        yield f"\n**Met in {met} of {len(less)}**; GPU-hours lost: {worst} to {best}."
    if gaps:
        yield f"\nNot run: {', '.join(gaps)}."


def missed(base: Cell, cell: Cell) -> list[str]:
    """Which parts of the aim; by the figures as the page shows them, so that a reader comes to the same."""
    found = []
    if round(cell.lost, 1) > round(base.lost, 1) * (1 - FEWER):
        found.append("loss")
    if round(cell.p99_high) > round(base.p99_high):
        found.append("p99")
    if round(cell.lowest, 4) < GOODPUT:
        found.append("goodput")
    return found


def _less(share: float) -> str:
    return f"{-100 * share:.0f} % **more**" if round(100 * share) < 0 else f"{abs(100 * share):.0f} % less"


def _waits(base: Cell, cell: Cell) -> str:
    if round(base.p99_high) == round(cell.p99_high):
        return f"{cell.p99_high:,.0f}, the same"
    return f"{base.p99_high:,.0f} → {cell.p99_high:,.0f}"


def _hours(cell: Cell) -> str:
    return "–" if cell.completion is None else f"{cell.completion:.2f}"


def _code(configuration: str) -> str:
    name, comma, rest = configuration.partition(", ")
    return configuration if name == "steady" else f"`{name}`{comma}{rest}"
