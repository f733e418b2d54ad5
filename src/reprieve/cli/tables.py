"""Answers of the planner as tables for people. Nothing is computed here: a table shows what the answer
holds."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reprieve.preemption import Alternative, Cost, Plan, Victim

MOST_ROWS = 12
HELPED = ("scheduled", "preempts")
COST_TERMS = ("lostWork", "restart", "preemptionCost", "cascade")
STYLES = {
    "scheduled": "bold green",
    "preempts": "bold yellow",
    "unschedulable": "bold red",
    "gated": "bold magenta",
}
VERDICTS = {
    "scheduled": "fits",
    "preempts": "fits if others make way",
    "unschedulable": "does not fit",
    "gated": "waits for its gate",
}


def render_plan(screen: Console, plan: Plan) -> None:
    verdict = "waits for an earlier preemption" if plan.ongoing else VERDICTS[plan.outcome]
    screen.print(Text.assemble((plan.for_, "bold"), " ", (verdict, STYLES[plan.outcome])))
    for reason in plan.reasons:
        screen.print(Text(f"  {reason}"))
    if plan.placements:
        _section(screen, "Where it goes", _placements(plan))
    if plan.victims:
        _section(screen, "Who makes way", _victims(plan.victims))
    if plan.reprieved:
        _section(screen, "Who was reprieved", _reprieved(plan))
    if plan.budgets:
        screen.print(Text("\nWhat the budgets say", "bold"))
        for budget in plan.budgets:
            style = "red" if budget.victims > budget.allowed else ""
            screen.print(Text(f"  {budget.sentence}", style))
    if plan.victims:
        screen.print(Text.assemble("\n", ("Cost  ", "bold"), _cost(plan.cost)))
    if plan.alternatives:
        _section(screen, "Other ways", _alternatives(plan.cost, plan.alternatives))


def _section(screen: Console, title: str, table: Table) -> None:
    screen.print(Text(f"\n{title}", "bold"))
    screen.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 2), pad_edge=False, header_style="dim", title_justify="left")
    for name in columns:
        table.add_column(name, overflow="fold", justify="right" if name in _NUMBERS else "left")
    return table


_NUMBERS = ("priority", "pods", "units", "groups", "budgets broken", "highest priority")


def _placements(plan: Plan) -> Table:
    table = _table("  node", "pods", "")
    by_node: dict[str, list[str]] = {}
    for pod, node in plan.placements.items():
        by_node.setdefault(node or "(none yet)", []).append(pod)
    for node, pods in sorted(by_node.items())[:MOST_ROWS]:
        table.add_row(f"  {node}", str(len(pods)), _names(pods))
    _more(table, len(by_node))
    return table


def _victims(victims: Sequence[Victim]) -> Table:
    table = _table("  unit", "pods", "on", "priority", "budget", "why")
    units = [list(group) for _, group in groupby(victims, key=lambda victim: victim.unit)]
    for pods in units[:MOST_ROWS]:
        first = pods[0]
        nodes = _names(list(dict.fromkeys(pod.node for pod in pods)))
        budget = Text("broken", "red") if first.violates_budget else Text("")
        leaving = " (terminating already)" if all(pod.terminating for pod in pods) else ""
        table.add_row(
            f"  {first.unit}", str(len(pods)), nodes, str(first.priority), budget, first.reason + leaving
        )
    _more(table, len(units))
    return table


def _reprieved(plan: Plan) -> Table:
    table = _table("  unit", "on", "priority", "why it stays")
    for unit in plan.reprieved[:MOST_ROWS]:
        table.add_row(f"  {unit.unit}", _names(list(unit.nodes)), str(unit.priority), unit.reason)
    _more(table, len(plan.reprieved))
    return table


def _alternatives(cost: Cost, alternatives: Sequence[Alternative]) -> Table:
    table = _table("  way", "budgets broken", "highest priority", "units", "pods", "")
    for each in alternatives:
        cheaper = _compared(each.cost) < _compared(cost)
        table.add_row(
            f"  {each.title}",
            str(each.cost.budget_violations),
            "-" if each.cost.highest_priority is None else str(each.cost.highest_priority),
            str(each.cost.units),
            str(each.cost.pods),
            Text("cheaper", "green") if cheaper else Text(""),
        )
    return table


def _compared(cost: Cost) -> tuple[int, float, int, int]:
    highest = float("-inf") if cost.highest_priority is None else cost.highest_priority
    return cost.budget_violations, highest, cost.units, cost.pods


def _cost(cost: Cost) -> str:
    return (
        f"{cost.budget_violations} pods beyond their budget, "
        f"highest victim priority {cost.highest_priority}, {cost.units} units, {cost.pods} pods, "
        f"{cost.groups} of the units from groups"
    )


def _names(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _more(table: Table, count: int) -> None:
    if count > MOST_ROWS:
        table.add_row(Text(f"  and {count - MOST_ROWS} more", "dim"))


def render_comparison(screen: Console, data: Mapping[str, Any]) -> None:
    """A column for each algorithm, a line for each term of the cost."""
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
    *((term, _number(term)) for term in COST_TERMS),
    ("sum", _number("total")),
    ("proof", lambda plan: plan["cost"]["optimality"] or "–"),
]
