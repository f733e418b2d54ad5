"""A simulation as tables for people. Nothing is computed here: a table shows what the answer holds."""

from collections.abc import Mapping, Sequence
from typing import Any

from reprieve.cli.layout import Row, Screen
from reprieve.objects import counted

HOUR = 3600
MOST_ROWS = 12
_GROUPS = (("classes", "class"), ("sizes", "size"), ("queues", "queue"))


def render_simulation(screen: Screen, data: Mapping[str, Any], *, everything: bool = False) -> None:
    found: Sequence[Mapping[str, Any]] = data["configurations"]
    screen.line((data["trace"], "bold"), f": {counted(data['jobs'], 'job')}")
    for note in dict.fromkeys([*data["notes"], *(note for each in found for note in each["notes"])]):
        screen.paragraph(f"{note[0].upper()}{note[1:]}.")
    unit = {"gpu": "GPU", "cpu": "core"}[found[0]["unit"]]
    screen.title("Waiting and completion (hours: mean / p50 / p99)")
    screen.table(
        ("policy", "ended", "completion", "waiting", "makespan"),
        [
            Row(
                (
                    each["policy"],
                    str(each["ended"]),
                    _spread(each["jct"]),
                    _spread(each["delay"]),
                    f"{each['makespanHours']:.1f}",
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
                    f"{each['lostHours']:.1f}",
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
        rows = [row for each in found for row in _group_rows(each["policy"], each[key])]
        if any(len(each[key]) > 1 for each in found):
            screen.title(f"By {word} (hours: mean / p50 / p99)")
            titles = ("policy", word, "jobs", "completion", "waiting", "preemptions a job", "lost", "goodput")
            screen.table(titles, rows, most=None if everything else MOST_ROWS)


def _group_rows(policy: str, groups: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    return [
        Row(
            (
                policy,
                name or "-",
                str(group["jobs"]),
                _spread(group["jct"]),
                _spread(group["delay"]),
                f"{group['preemptionsPerJob']:.3f}",
                f"{group['lostHours']:.1f}",
                _number(group["goodput"]),
            )
        )
        for name, group in groups.items()
    ]


def _spread(spread: Mapping[str, float]) -> str:
    return " / ".join(f"{spread[key] / HOUR:.2f}" for key in ("mean", "p50", "p99"))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _number(number: float | None) -> str:
    return "-" if number is None else f"{number:.4f}"
