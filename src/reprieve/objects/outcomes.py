"""The outcomes of a plan, the same for nodes and for quota."""

from typing import Final, Literal

PlanOutcome = Literal["scheduled", "preempts", "unschedulable", "gated"]

SCHEDULED: Final = "scheduled"
PREEMPTS: Final = "preempts"
UNSCHEDULABLE: Final = "unschedulable"
GATED: Final = "gated"
