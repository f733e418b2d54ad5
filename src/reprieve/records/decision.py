"""One decision: what was asked, on which state of the cluster, what came out, who makes way, and why."""

from datetime import datetime
from typing import Any

import msgspec


class Decision(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Written once, never changed. `victims`, `cost`, `reprieved` and `budgets` are as in a plan (docs/plan-format.md)."""

    id: str = ""
    """Given by the log; grows with time."""
    time: datetime
    controller: str
    """Who decided: scheduler, quota or fleet."""
    for_: str = msgspec.field(name="for")
    """The unit, as `KIND/NAMESPACE/NAME`."""
    outcome: str
    """scheduled, preempts, unschedulable, gated, or a controller's own word."""
    revision: str = ""
    """The resource version of the newest object that the decision has seen."""
    duration_ms: float = 0.0
    placements: dict[str, str] = {}
    victims: list[dict[str, Any]] = []
    reasons: list[str] = []
    cost: dict[str, Any] = {}
    alternatives: list[dict[str, Any]] = []
    reprieved: list[dict[str, Any]] = []
    """Who could have been evicted and stays, and why."""
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
        """About how much room it takes: one for itself, one for each pod or unit in it."""
        return 1 + len(self.placements) + len(self.victims) + len(self.reprieved)

    @property
    def victim_names(self) -> list[str]:
        return [victim.get("pod") or victim.get("workload") or "" for victim in self.victims]
