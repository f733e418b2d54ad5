"""Episodes as lines for people: what one decision did to several is told once."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

from reprieve.explain.answer import Episode

NAMED = 5
Side = Literal["by", "victim", "both"]
"""Whom the reader does not know yet."""


def render(episodes: Iterable[Episode], side: Side) -> list[str]:
    """A line for each reason, and under the last line of a decision what it cost and what else was possible."""
    lines: list[str] = []
    for _, same in groupby(episodes, key=lambda each: (each.by, _seconds(each.time))):
        decision = list(same)
        by_reason: dict[str, list[Episode]] = {}
        for each in decision:
            by_reason.setdefault(each.reason, []).append(each)
        lines += [_line(those, side) for those in by_reason.values()]
        lines[-1] += _afterwards(decision[0])
    return lines


def _line(episodes: Sequence[Episode], side: Side) -> str:
    first = episodes[0]
    by = first.by or "somebody"
    victims = _some(sorted({each.victim for each in episodes}), "pods")
    who = {"by": by, "victim": victims, "both": f"{victims} for {by}"}[side]
    nodes = sorted({each.node for each in episodes if each.node})
    parts = [
        who,
        f"at {_seconds(first.time)}" if first.time else "",
        f"on {_some(nodes, 'nodes')}" if nodes else "",
    ]
    text = " ".join(part for part in parts if part)
    return f"{text}: {first.reason}" if first.reason else text


def _afterwards(episode: Episode) -> str:
    cost = ", ".join(_cost(name, value) for name, value in episode.cost.items() if name in _COSTS and value)
    lines = [f"cost: {cost}"] if cost else []
    lines += [f"instead: {alternative}" for alternative in episode.alternatives]
    return "".join(f"\n      {line}" for line in lines)


_COSTS = {
    "budgetViolations": "broken budget",
    "units": "unit",
    "pods": "pod",
    "groups": "disrupted group",
    "highestPriority": "",
    "lostPodSeconds": "lost pod second",
}


def _cost(name: str, value: float) -> str:
    if name == "highestPriority":
        return f"highest priority {value:g}"
    return f"{value:g} {_COSTS[name]}{'' if value == 1 else 's'}"


def _seconds(time: str) -> str:
    """Without fractions: nobody reads them."""
    head, dot, _ = time.partition(".")
    return f"{head}Z" if dot else time


def _some(names: Sequence[str], noun: str) -> str:
    if len(names) <= NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more {noun}"
