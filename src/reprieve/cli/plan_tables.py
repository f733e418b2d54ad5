"""A node plan and the comparison of algorithms, for people. Nothing is decided here."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reprieve.cli.layout import Row, Screen
from reprieve.objects import counted, some

if TYPE_CHECKING:
    from reprieve.preemption import Cost, Plan, Reprieved, Victim
    from reprieve.whatif import JobPlan

MOST_ROWS = 12
HELPED = ("scheduled", "preempts")
STYLES = {
    "scheduled": "bold green",
    "preempts": "bold yellow",
    "unschedulable": "bold red",
    "gated": "bold magenta",
    "partial": "bold yellow",
}
VERDICTS = {
    "scheduled": "fits",
    "preempts": "fits if others make way",
    "unschedulable": "does not fit",
    "gated": "waits for its gate",
    "partial": "fits in part",
}


def render_plan(screen: Screen, plan: "Plan", *, everything: bool = False) -> None:
    """`everything`: every pod and every unit in a row of its own."""
    most = None if everything else MOST_ROWS
    verdict = "waits for an earlier preemption" if plan.ongoing else VERDICTS[plan.outcome]
    screen.line((plan.for_, "bold"), " ", (verdict, STYLES[plan.outcome]))
    for reason in plan.reasons:
        screen.paragraph(reason, 2, "yellow" if reason.startswith("Warning") else "")
    if plan.placements:
        screen.title("Where it goes")
        screen.table(("node", "pods"), _placements(plan.placements), most=most)
    if plan.victims:
        screen.title("Who makes way")
        _victims(screen, plan.victims, most)
    if plan.reprieved:
        screen.title("Who was reprieved")
        screen.table(("unit", "units", "priority"), _reprieved(plan, everything), names="on", most=most)
    if plan.budgets:
        screen.title("What the budgets say")
        for budget in plan.budgets:
            screen.paragraph(budget.sentence, 2, "red" if budget.victims > budget.allowed else "")
    if plan.victims:
        screen.title("What it costs")
        for sentence in _cost(plan):
            screen.paragraph(sentence)
    if plan.alternatives:
        screen.title("Other ways")
        _alternatives(screen, plan)


def render_job_plan(screen: Screen, plan: "JobPlan", *, everything: bool = False) -> None:
    """One job: its pod sets, then where they go and who makes way, for all of its pods together."""
    most = None if everything else MOST_ROWS
    verdict = "does not start as it is" if plan.outcome == "gated" else VERDICTS[plan.outcome]
    screen.line((plan.for_, "bold"), " ", (verdict, STYLES[plan.outcome]))
    for reason in plan.reasons:
        screen.paragraph(reason, 2, "yellow" if reason.startswith("Warning") else "")
    screen.title("Its pods")
    screen.table(
        ("pod set", "pods", "fit", "make way"),
        [Row((each.name, str(each.count), str(each.placed), str(each.victims))) for each in plan.pod_sets],
    )
    if plan.placements:
        screen.title("Where it goes")
        screen.table(("node", "pods"), _placements(plan.placements), most=most)
    if victims := [victim for each in plan.plans for victim in each.victims]:
        screen.title("Who makes way")
        _victims(screen, victims, most)


def _placements(placements: Mapping[str, str]) -> list[Row]:
    by_node: dict[str, list[str]] = {}
    for pod, node in placements.items():
        by_node.setdefault(node or "(none yet)", []).append(pod)
    return [Row((node, str(len(pods))), pods) for node, pods in sorted(by_node.items())]


def _victims(screen: Screen, victims: "Sequence[Victim]", most: int | None) -> None:
    broken = any(victim.violates_budget for victim in victims)
    titles = ("unit", "pods", "priority", *(("over budget",) if broken else ()))
    together: dict[str, list[Victim]] = {}
    for victim in victims:
        alone = victim.unit.startswith("Pod/") and victim.owner and most is not None
        together.setdefault(victim.owner if alone else victim.unit, []).append(victim)
    rows = []
    for name, pods in together.items():
        beyond = sum(pod.violates_budget for pod in pods)
        cells = (pods[0].unit if len(pods) == 1 else name, str(len(pods)), _range(pods))
        nodes = list(dict.fromkeys(pod.node for pod in pods))
        rows.append(
            Row(
                (*cells, *((str(beyond or ""),) if broken else ())),
                nodes,
                _why(pods),
                "red" if beyond else "",
            )
        )
    screen.table(titles, rows, names="on", most=most)


def _range(pods: "Sequence[Victim]") -> str:
    lowest, highest = min(pod.priority for pod in pods), max(pod.priority for pod in pods)
    return str(highest) if lowest == highest else f"{lowest} to {highest}"


def _why(pods: "Sequence[Victim]") -> str:
    reason = pods[0].reason
    others = sum(pod.reason != reason for pod in pods)
    text = f"{pods[0].pod}: {reason}; {others} more likewise" if others else reason
    return text + (" (terminating already)" if all(pod.terminating for pod in pods) else "")


def _reprieved(plan: "Plan", everything: bool) -> list[Row]:
    together: dict[str, list[Reprieved]] = {}
    for unit in plan.reprieved:
        together.setdefault(unit.unit if everything else unit.owner or unit.unit, []).append(unit)
    rows = []
    for name, units in together.items():
        nodes = list(dict.fromkeys(node for unit in units for node in unit.nodes))
        reason = units[0].reason
        others = sum(unit.reason != reason for unit in units)
        note = f"{units[0].unit}: {reason}; {others} more likewise" if others else reason
        label = units[0].unit if len(units) == 1 else name
        rows.append(Row((label, str(len(units)), str(units[0].priority)), nodes, note))
    return rows


def _cost(plan: "Plan") -> list[str]:
    cost = plan.cost
    beyond = counted(cost.budget_violations, "pod")
    return [
        f"{counted(cost.pods, 'pod')} in {counted(cost.units, 'unit')} make way, "
        f"none with a priority above {cost.highest_priority}.",
        f"{beyond} {'goes' if cost.budget_violations == 1 else 'go'} beyond a disruption budget."
        if cost.budget_violations
        else "No disruption budget is broken.",
        lost(plan.lost_hours, plan.without_start, cost.pods),
    ]


def lost(hours: Mapping[str, float], without_start: int, pods: int) -> str:
    """What the victims worked for nothing, in a sentence."""
    if without_start >= pods:
        return "How long they have run is not known: none has a status.startTime."
    silent = "does not say when it" if without_start == 1 else "do not say when they"
    unknown = f"; {without_start} of them {silent} started" if without_start else ""
    return f"Work lost since their start or last checkpoint: {hours_text(hours) or 'next to none'}{unknown}."


def hours_text(hours: Mapping[str, float]) -> str:
    """`12.5 GPU-hours`; cpu-hours where there is no accelerator."""
    devices = {name: number for name, number in hours.items() if name != "cpu"}
    chosen = devices or hours
    return " and ".join(_hours_of(name, _short(number)) for name, number in chosen.items())


def _hours_of(resource: str, number: str) -> str:
    name = resource.rpartition("/")[2]
    return f"{number} {'GPU' if name == 'gpu' else name}-{'hour' if number == '1' else 'hours'}"


def _short(number: float) -> str:
    return (
        f"{number:,.0f}"
        if number >= 100
        else f"{number:.1f}".removesuffix(".0")
        if number >= 0.1
        else f"{number:g}"
    )


def _alternatives(screen: Screen, plan: "Plan") -> None:
    rows = []
    for each in plan.alternatives:
        cost = each.cost
        highest = "-" if cost.highest_priority is None else str(cost.highest_priority)
        cells = (each.title, str(cost.budget_violations), highest, str(cost.units), str(cost.pods))
        cheaper = _compared(cost) < _compared(plan.cost)
        rows.append(Row((*cells, "cheaper" if cheaper else ""), style="green" if cheaper else ""))
    screen.table(("way", "over budget", "priority", "units", "pods", ""), rows)


def _compared(cost: "Cost") -> tuple[int, float, int, int]:
    highest = float("-inf") if cost.highest_priority is None else cost.highest_priority
    return cost.budget_violations, highest, cost.units, cost.pods


def render_comparison(screen: Screen, data: Mapping[str, Any], *, everything: bool = False) -> None:
    """A column for each algorithm, a line for each term of the cost, and then only what differs."""
    plans = data["plans"]
    screen.line((f"{data['for']}: who makes way, by algorithm", "bold"))
    shown = [(title, [cell(plan) for plan in plans]) for title, cell in _LINES]
    rows = [Row((title, *cells)) for title, cells in shown if set(cells) - {"", "0", "-"}]
    screen.table(("", *(plan["algorithm"] for plan in plans)), rows)
    most = None if everything else MOST_ROWS
    _difference(screen, data, most)
    for plan in plans:
        if plan["cost"]["optimality"]:
            screen.paragraph(f"{plan['algorithm']}: {plan['cost']['optimality']}.", 0)
    for warning in data["warnings"]:
        screen.paragraph(warning, 0, "yellow" if warning.startswith("Warning") else "")
    cheapest = data["cheapest"]
    screen.line((f"Cheapest: {cheapest}" if cheapest else "None of them finds a place.", "bold"))


def _difference(screen: Screen, data: Mapping[str, Any], most: int | None) -> None:
    helped = [plan for plan in data["plans"] if plan["outcome"] in HELPED]
    if not any(plan["victims"] for plan in helped):
        return
    screen.line()
    others: dict[tuple[str, ...], list[str]] = {}
    for plan in helped:
        others.setdefault(tuple(plan["also"]), []).append(plan["algorithm"])
    shared = "With each" if len(others) > 1 else "The same with each"
    if data["common"]:
        screen.paragraph(f"{shared}: {_units(data, data['common'], most)}", 0)
    for units, algorithms in others.items():
        if len(others) > 1:
            also = "Also with" if data["common"] else "With"
            screen.paragraph(f"{also} {' and '.join(algorithms)}: {_units(data, units, most) or 'nobody'}", 0)


def _units(data: Mapping[str, Any], units: Sequence[str], most: int | None) -> str:
    """Units by name; pods of one controller as their controller, with their number."""
    numbers: dict[str, int] = {}
    for unit in units:
        name = data["owners"].get(unit, unit) if most is not None else unit
        numbers[name] = numbers.get(name, 0) + 1
    named = [name if number == 1 else f"{name} ({number} pods)" for name, number in numbers.items()]
    return some(named, len(named) if most is None else most)


def _term(term: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda plan: f"{plan['cost'][term]:g}" if plan["outcome"] in HELPED else "-"


def _highest(plan: Mapping[str, Any]) -> str:
    highest = plan["cost"]["highestPriority"]
    return "-" if highest is None else str(highest)


def _hours(plan: Mapping[str, Any]) -> str:
    if plan["outcome"] not in HELPED or not plan["cost"]["pods"]:
        return "-"
    if plan["withoutStart"] >= plan["cost"]["pods"]:
        return "not known"
    return hours_text(plan["lostHours"]) or "next to none"


_LINES: list[tuple[str, Callable[[Mapping[str, Any]], str]]] = [
    ("outcome", lambda plan: plan["outcome"]),
    ("pods beyond a budget", _term("budgetViolations")),
    ("highest priority", _highest),
    ("units", _term("units")),
    ("pods", _term("pods")),
    ("work lost", _hours),
    ("stated cost", _term("preemptionCost")),
    ("weighted sum", _term("total")),
    ("pods that displace others", lambda plan: str(plan["displacing"])),
]
