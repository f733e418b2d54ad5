"""Answers as tables for people. Nothing is computed here: a table shows what the answer holds."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reprieve.objects import counted, some

if TYPE_CHECKING:
    from reprieve.preemption import Alternative, Cost, Plan, Victim
    from reprieve.whatif import FleetPlan

MOST_ROWS = 12
MOST_NAMES = 4
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

QUOTA_VERDICTS = {
    "scheduled": "fits: quota is free",
    "preempts": "fits once others made way",
    "gated": "could preempt, but its preemption gate is closed",
    "unschedulable": "does not fit",
}


def render_plan(screen: Console, plan: "Plan") -> None:
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


def _placements(plan: "Plan") -> Table:
    table = _table("  node", "pods", "")
    by_node: dict[str, list[str]] = {}
    for pod, node in plan.placements.items():
        by_node.setdefault(node or "(none yet)", []).append(pod)
    for node, pods in sorted(by_node.items())[:MOST_ROWS]:
        table.add_row(f"  {node}", str(len(pods)), some(pods, MOST_NAMES))
    _more(table, len(by_node))
    return table


def _victims(victims: "Sequence[Victim]") -> Table:
    table = _table("  unit", "pods", "on", "priority", "budget", "why")
    units = [list(group) for _, group in groupby(victims, key=lambda victim: victim.unit)]
    for pods in units[:MOST_ROWS]:
        first = pods[0]
        nodes = some(list(dict.fromkeys(pod.node for pod in pods)), MOST_NAMES)
        budget = Text("broken", "red") if first.violates_budget else Text("")
        leaving = " (terminating already)" if all(pod.terminating for pod in pods) else ""
        table.add_row(
            f"  {first.unit}", str(len(pods)), nodes, str(first.priority), budget, first.reason + leaving
        )
    _more(table, len(units))
    return table


def _reprieved(plan: "Plan") -> Table:
    table = _table("  unit", "on", "priority", "why it stays")
    for unit in plan.reprieved[:MOST_ROWS]:
        table.add_row(f"  {unit.unit}", some(list(unit.nodes), MOST_NAMES), str(unit.priority), unit.reason)
    _more(table, len(plan.reprieved))
    return table


def _alternatives(cost: "Cost", alternatives: "Sequence[Alternative]") -> Table:
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


def _compared(cost: "Cost") -> tuple[int, float, int, int]:
    highest = float("-inf") if cost.highest_priority is None else cost.highest_priority
    return cost.budget_violations, highest, cost.units, cost.pods


def _cost(cost: "Cost") -> str:
    return (
        f"{cost.budget_violations} pods beyond their budget, "
        f"highest victim priority {cost.highest_priority}, {cost.units} units, {cost.pods} pods, "
        f"{cost.groups} of the units from groups"
    )


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


def render_fleet_plan(screen: Console, plan: "FleetPlan") -> None:
    where = plan.chosen.cluster if plan.chosen is not None else "no cluster"
    screen.print(f"[bold]Workload/{plan.workload}[/]: {plan.outcome} in [bold]{where}[/]")
    table = Table(box=None, pad_edge=False)
    for title in ("CLUSTER", "OUTCOME", "VICTIMS", "COST"):
        table.add_column(title)
    for candidate in plan.candidates:
        mark = "→ " if candidate is plan.chosen else "  "
        victims = ", ".join(candidate.victims) or candidate.problem or "-"
        table.add_row(mark + candidate.cluster, candidate.outcome, victims, str(candidate.cost or "-"))
    screen.print(table)
    for reason in plan.reasons:
        screen.print(f"  {reason}")


def render_admissions(screen: Console, data: dict[str, Any]) -> None:
    """Queues, what happened cycle by cycle, who runs, who waits for what."""
    _queues(screen, data["queues"])
    _events(screen, data["cycles"])
    _running(screen, data["admitted"])
    _waiting(screen, data["waiting"])
    endings = {
        "queues-empty": "nobody is left to try",
        "steady": "nothing changes any more",
        "stopped": "stopped here",
    }
    number = len(data["cycles"])
    screen.print(f"{counted(number, 'cycle')}, then {endings[data['converged']]}.")


def _quota_table(title: str, *columns: str, right: int = 0) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(
            column, justify="right" if index >= len(columns) - right else "left", overflow="fold"
        )
    return table


def _queues(screen: Console, queues: dict[str, Any]) -> None:
    amounts = ("nominal", "used", "borrowed", "lent", "available")
    table = _quota_table("Quota", "queue", "cohort", "flavor", "resource", *amounts, right=len(amounts))
    for name, queue in queues.items():
        for line in queue["quota"]:
            cells = [line["flavor"], line["resource"], *(line[amount] for amount in amounts)]
            table.add_row(name, queue["cohort"], *cells)
    screen.print(table)
    shares = [
        f"{name} {queue['weightedShare']}" for name, queue in queues.items() if "weightedShare" in queue
    ]
    if shares:
        screen.print(f"Dominant shares (thousandths, by weight): {', '.join(shares)}", markup=False)
    for name, queue in queues.items():
        if not queue["active"]:
            screen.print(f"ClusterQueue {name} is inactive. {queue.get('message', '')}", markup=False)


def _events(screen: Console, cycles: list[dict[str, Any]]) -> None:
    table = _quota_table("What happened", "cycle", "workload", "event")
    for cycle in cycles:
        for key, got in cycle["admitted"].items():
            table.add_row(str(cycle["cycle"]), key, f"gets quota in {got['clusterQueue']}: {_flavors(got)}")
        for victim in cycle["preempted"]:
            text = f"makes way for {victim['preemptor']} ({victim['reason']})"
            table.add_row(str(cycle["cycle"]), victim["workload"], text)
        for key in cycle["gated"]:
            table.add_row(str(cycle["cycle"]), key, "could preempt, but its preemption gate is closed")
    if table.row_count:
        screen.print(table)


def _flavors(got: dict[str, Any]) -> str:
    parts = []
    for pod_set, flavors in got["flavors"].items():
        used = ", ".join(f"{resource} on {flavor}" for resource, flavor in flavors.items())
        parts.append(f"{pod_set} x{got['counts'].get(pod_set, 0)} {used}".rstrip())
    return "; ".join(parts)


def _running(screen: Console, admitted: dict[str, Any]) -> None:
    table = _quota_table("Have quota", "workload", "queue", "flavors")
    for key, got in admitted.items():
        table.add_row(key, got["clusterQueue"], _flavors(got))
    if table.row_count:
        screen.print(table)


def _waiting(screen: Console, waiting: dict[str, Any]) -> None:
    table = _quota_table("Wait", "workload", "queue", "reason", "what for")
    for key, each in waiting.items():
        table.add_row(key, each["clusterQueue"] or "-", each["reason"], each["message"])
    if table.row_count:
        screen.print(table)


def render_quota_plan(screen: Console, plan: dict[str, Any]) -> None:
    """A quota plan: the verdict, flavors, victims and the reasons."""
    answer = plan.get("withPartialAdmission", plan)
    screen.print(
        f"{plan['for']} in ClusterQueue {plan['clusterQueue']} {QUOTA_VERDICTS[plan['outcome']]}.",
        markup=False,
    )
    table = _quota_table("Flavors", "pod set", "pods", "resource", "flavor", "mode")
    for pod_set, flavors in answer["flavors"].items():
        for resource, flavor in flavors.items():
            mode = answer["modes"][pod_set][resource]
            table.add_row(pod_set, str(answer["counts"][pod_set]), resource, flavor, mode)
    if table.row_count:
        screen.print(table)
    _quota_victims(screen, plan, answer)
    for reason in plan["reasons"]:
        screen.print(f"- {reason}", markup=False)


def _quota_victims(screen: Console, plan: dict[str, Any], answer: dict[str, Any]) -> None:
    known = {victim["workload"]: victim for victim in plan["victims"]}
    table = _quota_table("Would make way", "workload", "queue", "priority", "why")
    for victim in answer["victims"]:
        more = known.get(victim["workload"], victim)
        table.add_row(
            victim["workload"], more.get("clusterQueue", ""), str(more.get("priority", "")), victim["reason"]
        )
    if table.row_count:
        screen.print(table)
