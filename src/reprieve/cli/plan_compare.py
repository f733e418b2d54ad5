"""`reprieve plan --compare`: what each algorithm would do, side by side."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

TERMS = ("lostWork", "restart", "preemptionCost", "cascade")
HELPED = ("scheduled", "preempts")


def render_comparison(screen: Console, data: Mapping[str, Any]) -> None:
    """One column an algorithm, one line a term of the cost; the same measure for all."""
    screen.print(Text(f"{data['for']}: three ways to decide", "bold"))
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("")
    for plan in data["plans"]:
        table.add_column(plan["algorithm"], overflow="fold")
    for title, cell in _LINES:
        table.add_row(Text(title, "dim"), *(Text(cell(plan)) for plan in data["plans"]))
    screen.print(table)
    if data["cheapest"]:
        screen.print(Text(f"Cheapest: {data['cheapest']}", "bold"))
    else:
        screen.print(Text("None of them finds a place.", "bold"))


def _highest(plan: Mapping[str, Any]) -> str:
    highest = plan["cost"]["highestPriority"]
    return "–" if highest is None else str(highest)


def _number(term: str) -> Any:
    return lambda plan: f"{plan['cost'][term]:g}" if plan["outcome"] in HELPED else "–"


_LINES = [
    ("outcome", lambda plan: plan["outcome"]),
    ("makes way", lambda plan: "\n".join(plan["victims"]) or "nobody"),
    ("budgets broken", _number("budgetViolations")),
    ("highest priority", _highest),
    ("units", _number("units")),
    ("pods", _number("pods")),
    *((term, _number(term)) for term in TERMS),
    ("sum", _number("total")),
    ("proof", lambda plan: plan["cost"]["optimality"] or "–"),
]
