"""Three plans for one submission, drawn side by side."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

LINES = (
    ("budget violations", "budgetViolations"),
    ("highest victim priority", "highestPriority"),
    ("units", "units"),
    ("pods", "pods"),
    ("lost work", "lostWork"),
    ("restart", "restart"),
    ("preemption cost", "preemptionCost"),
    ("cascade", "cascade"),
    ("weighted sum", "total"),
)


def render(screen: "Console", data: dict[str, Any]) -> None:
    """Draw a comparison as `reprieve.whatif.compare.compare` gives it: one column for each algorithm."""
    from rich.table import Table

    plans = data["plans"]
    table = Table(title=f"Who would make way for {data['for']}", title_justify="left")
    table.add_column("")
    for plan in plans:
        cheapest = plan["algorithm"] == data["cheapest"]
        table.add_column(f"{plan['algorithm']}{' (cheapest)' if cheapest else ''}", justify="right")
    table.add_row("outcome", *(plan["outcome"] for plan in plans))
    table.add_row("pods placed", *(str(len(plan["placements"])) for plan in plans))
    for title, field in LINES:
        table.add_row(title, *(_number(plan["cost"][field]) for plan in plans))
    screen.print(table)
    for plan in plans:
        victims = ", ".join(plan["victims"]) or "nobody"
        screen.print(f"{plan['algorithm']}: {victims}{_optimality(plan['cost'])}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _optimality(cost: dict[str, Any]) -> str:
    return f" ({cost['optimality']})" if cost["optimality"] else ""
