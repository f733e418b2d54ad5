"""Which workers ask to preempt, and who goes first.

Two orders, both ending in the cluster's name so that equal inputs give equal answers.

`first-come` (the proposal):
  1. clusters that had no turn yet, then the one whose last turn began longest ago,
  2. the oldest signal,
  3. the name.

`least-cost` (beyond the proposal):
  1. as above,
  2. signals that name a cost before those that do not,
  3. the cheaper preemption (`PreemptionCost`),
  4. the oldest signal,
  5. the name.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from reprieve.fleet.cost import PreemptionCost, cost_in
from reprieve.fleet.group import Group
from reprieve.fleet.names import BLOCKED
from reprieve.fleet.reading import condition, gate_is_open, moment
from reprieve.fleet.settings import LEAST_COST

_NEVER = datetime.min.replace(tzinfo=UTC)
_UNKNOWN = PreemptionCost(0, 0, 0)


class Signal(msgspec.Struct, frozen=True):
    """A worker that could preempt for the workload if its gate were open."""

    cluster: str
    since: datetime
    cost: PreemptionCost | None = None


def signals(group: Group, now: datetime) -> list[Signal]:
    """Every copy in sight that says it is blocked while its gate is not open."""
    found = []
    for cluster, copy in group.copies.items():
        blocked = condition(copy, BLOCKED)
        if blocked is None or blocked.get("status") != "True" or gate_is_open(copy):
            continue
        since = moment(blocked.get("lastTransitionTime")) or now
        found.append(Signal(cluster, since, cost_in(str(blocked.get("message", "")))))
    return found


def choose(waiting: list[Signal], past: Mapping[str, datetime], policy: str) -> Signal:
    """The next cluster to preempt (module docstring: the orders)."""

    def first_come(signal: Signal) -> tuple[datetime, datetime, str]:
        return past.get(signal.cluster, _NEVER), signal.since, signal.cluster

    def least_cost(signal: Signal) -> tuple[datetime, bool, PreemptionCost, datetime, str]:
        turn, since, cluster = first_come(signal)
        return turn, signal.cost is None, signal.cost or _UNKNOWN, since, cluster

    return min(waiting, key=least_cost) if policy == LEAST_COST else min(waiting, key=first_come)
