"""A decision in one sentence. Every surface shows this one; none makes up its own."""

from collections.abc import Sequence

from reprieve.objects import counted, some
from reprieve.records.decision import Decision

NAMES = 3
"""How many victims are named before the rest is counted."""


def sentence(decision: Decision) -> str:
    """What happened to the unit, who makes way, and the first reason."""
    unit, count = decision.for_, len(decision.placements)
    if decision.outcome == "scheduled":
        return f"{unit} fits: {_placed(decision)}."
    if decision.outcome == "preempts":
        return f"{unit} gets {_placed(decision)}; {_victims(decision)} {'makes' if len(decision.victims) == 1 else 'make'} way."
    if decision.outcome == "waits":
        return f"{unit} waits for {_victims(decision) if decision.victims else 'its victims'} to end."
    reason = f": {decision.reasons[0]}" if decision.reasons else ""
    if decision.outcome == "unschedulable":
        return f"{unit} has no place, and nobody was touched{reason}"
    if count:
        return f"{unit} is {decision.outcome}: {_placed(decision)}"
    return f"{unit} is {decision.outcome}{reason}"


def _placed(decision: Decision) -> str:
    nodes = sorted(set(decision.placements.values()))
    pods = len(decision.placements)
    return f"{counted(pods, 'pod')} on {_some(nodes, 'node')}"


def _victims(decision: Decision) -> str:
    return _some(decision.victim_names, "victim")


def _some(names: Sequence[str], noun: str) -> str:
    """`a`, `a and b`, or `a, b, c and 97 more nodes`."""
    if not names:
        return f"no {noun}"
    if len(names) <= NAMES:
        return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return some(names, NAMES, noun if len(names) == NAMES + 1 else f"{noun}s")
