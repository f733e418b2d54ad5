"""One decision and its sentence: the unit, the state it was decided on, the outcome, the victims, and why."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from reprieve.objects import counted, some

NAMES = 3
"""How many victims are named before the rest is counted."""


class Decision(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Never changed once it is written. `victims`, `cost`, `reprieved` and `budgets` are as in a plan
    (docs/plan-format.md)."""

    id: str = ""
    """Given by the log; grows with time."""
    time: datetime
    controller: str
    """scheduler, quota or fleet."""
    for_: str = msgspec.field(name="for")
    """The unit, as `KIND/NAMESPACE/NAME`."""
    outcome: str
    """scheduled, preempts, unschedulable, gated, or a controller's own word."""
    revision: str = ""
    """The resource version of the newest object that the decision took into account."""
    duration_ms: float = 0.0
    placements: dict[str, str] = {}
    victims: list[dict[str, Any]] = []
    reasons: list[str] = []
    cost: dict[str, Any] = {}
    alternatives: list[dict[str, Any]] = []
    reprieved: list[dict[str, Any]] = []
    """Units that could have been evicted and stay, and why."""
    budgets: list[dict[str, Any]] = []
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document

    def summary(self) -> dict[str, Any]:
        """One line of a list: the victims only counted."""
        return {
            "id": self.id,
            "time": self.time.isoformat().replace("+00:00", "Z"),
            "controller": self.controller,
            "for": self.for_,
            "outcome": self.outcome,
            "victims": len(self.victims),
            "durationMs": self.duration_ms,
            "sentence": self.sentence,
        }

    @property
    def weight(self) -> int:
        """Roughly its size in memory: one for itself, one for each pod or unit in it."""
        return 1 + len(self.placements) + len(self.victims) + len(self.reprieved)

    @property
    def victim_names(self) -> list[str]:
        return [victim.get("pod") or victim.get("workload") or "" for victim in self.victims]


def decisions_in(lines: Iterable[bytes]) -> Iterator[Decision]:
    """Those among the lines of a file of records; the others are runs, or torn."""
    for line in lines:
        with suppress(msgspec.MsgspecError, RecursionError, ValueError):
            yield msgspec.json.decode(line, type=Decision)


def sentence(decision: Decision) -> str:
    """The decision in one sentence, which every surface shows: outcome, victims, first reason."""
    unit, count = decision.for_, len(decision.placements)
    if decision.outcome == "scheduled":
        return f"{unit} fits: {_placed(decision)}."
    if decision.outcome == "preempts":
        if not decision.victims:
            return f"{unit} gets {_placed(decision)}, once those end that were asked to go before."
        verb = "makes" if len(decision.victims) == 1 else "make"
        return f"{unit} gets {_placed(decision)}; {_victims(decision)} {verb} way."
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
