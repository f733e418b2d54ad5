"""A simulation as tables for people. Nothing is computed here: a table shows what the answer holds."""

from collections.abc import Mapping, Sequence
from typing import Any

from reprieve.cli.layout import Row, Screen
from reprieve.objects import counted

MOST_ROWS = 12
_UNITS = (("hours", 3600), ("minutes", 60), ("seconds", 1))
_GROUP_TITLES = ("ended", "completion", "waiting", "preemptions a job", "lost", "goodput")
_GROUPS = (("classes", "class"), ("sizes", "size"), ("queues", "queue"))


def render_simulation(screen: Screen, data: Mapping[str, Any], *, everything: bool = False) -> None:
    found: Sequence[Mapping[str, Any]] = data["configurations"]
    screen.line((data["trace"], "bold"), f": {counted(data['jobs'], 'job')}")
    for note in dict.fromkeys([*data["notes"], *(note for each in found for note in each["notes"])]):
        screen.paragraph(f"{note[0].upper()}{note[1:]}.")
    unit = {"gpu": "GPU", "cpu": "core"}[found[0]["unit"]]
    units, seconds = _unit_of_time(found)
    screen.title(f"Waiting and completion ({units}: mean / p50 / p99)")
    screen.table(
        ("policy", "ended", "completion", "waiting", "makespan"),
        [
            Row(
                (
                    each["policy"],
                    _ended(each),
                    _spread(each["jct"], seconds),
                    _spread(each["delay"], seconds),
                    f"{each['makespanHours'] * 3600 / seconds:.1f}",
                )
            )
            for each in found
        ],
    )
    screen.title(f"Use and loss ({unit}-hours)")
    screen.table(
        ("policy", "used", "lost", "goodput", "preemptions", "a job", "late gangs", "Jain"),
        [
            Row(
                (
                    each["policy"],
                    _percent(each["utilisationWindow"]),
                    _amount(each["lostHours"]),
                    _number(each["goodput"]),
                    str(each["preemptions"]),
                    f"{each['preemptionsPerJob']:.3f}",
                    str(each["lateGangs"]),
                    _number(each["jain"]),
                )
            )
            for each in found
        ],
    )
    for key, word in _GROUPS:
        rows = [row for each in found for row in _group_rows(each["policy"], each[key], seconds)]
        if any(len(each[key]) > 1 for each in found):
            screen.title(f"By {word} ({units}: mean / p50 / p99)")
            screen.table(("policy", word, *_GROUP_TITLES), rows, most=None if everything else MOST_ROWS)


def _unit_of_time(found: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """One for all tables: the largest in which the slowest jobs take at least one, and its seconds."""
    longest = max((each["jct"]["p99"] for each in found if each["jct"]), default=0.0)
    return next((unit for unit in _UNITS if longest >= unit[1]), _UNITS[-1])


def _group_rows(policy: str, groups: Mapping[str, Mapping[str, Any]], seconds: int) -> list[Row]:
    return [
        Row(
            (
                policy,
                name or "-",
                _ended(group),
                _spread(group["jct"], seconds),
                _spread(group["delay"], seconds),
                f"{group['preemptionsPerJob']:.3f}",
                _amount(group["lostHours"]),
                _number(group["goodput"]),
            )
        )
        for name, group in groups.items()
    ]


def _spread(spread: Mapping[str, float] | None, seconds: int) -> str:
    if spread is None:
        return "-"
    return " / ".join(f"{spread[key] / seconds:.2f}" for key in ("mean", "p50", "p99"))


def _ended(group: Mapping[str, Any]) -> str:
    """Means and percentiles are over these."""
    return str(group["ended"]) if group["ended"] == group["jobs"] else f"{group['ended']} of {group['jobs']}"


def _amount(hours: float) -> str:
    """A small loss is not shown as none."""
    return f"{hours:.1f}" if hours >= 1 or not hours else f"{hours:.2g}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _number(number: float | None) -> str:
    return "-" if number is None else f"{number:.4f}"
