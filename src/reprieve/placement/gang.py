"""Where a gang goes: pod after pod in queue order, each seeing the earlier ones in place, all or nothing.

The caller has opened a checkpoint: placed pods stay attached, so that it can look at the result, and are rolled back by it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.cluster import Cluster
from reprieve.cluster.columns import Mask
from reprieve.placement.cycle import Cycle
from reprieve.placement.lane import Lane, has_lane
from reprieve.placement.resources import DEFAULT, Scoring
from reprieve.placement.single import place


class Assignment(NamedTuple):
    """A pod of the gang, the node it got, and its view of the cluster at that moment."""

    row: int
    slot: int
    cycle: Cycle


class GangPlacement(NamedTuple):
    feasible: bool
    assigned: list[Assignment]
    failed: list[int]
    """Pods that were tried and found no node."""
    status: str
    """Why not, in kube-scheduler's words; empty when feasible."""


def place_gang(
    cluster: Cluster,
    rows: Sequence[int],
    min_count: int,
    running: int,
    scoring: Scoring = DEFAULT,
    within: Mask | None = None,
    faithful: bool = True,
) -> GangPlacement:
    """Place as many pods as fit; feasible when, with those running, the minimum is reached and at least one was placed.

    Stops as soon as the minimum can no longer be reached. Pods beyond it are placed too.
    """
    remaining, scheduled = len(rows), running
    assigned: list[Assignment] = []
    failed: list[int] = []
    if remaining + scheduled < min_count:
        return GangPlacement(
            False, [], [], f"pod group is unschedulable, {_cannot(min_count, scheduled, remaining)}"
        )
    lanes: dict[int, Lane] = {}
    for row in rows:
        cycle = Cycle(cluster, row, faithful)
        slot = _place(lanes, cycle, scoring, within)
        remaining -= 1
        if slot is None:
            failed.append(row)
        else:
            cluster.attach(row, slot)
            assigned.append(Assignment(row, slot, cycle))
            scheduled += 1
        if remaining + scheduled < min_count:
            return GangPlacement(False, assigned, failed, _cannot(min_count, scheduled, remaining))
    if scheduled < min_count:
        text = f"minCount ({min_count}) is not yet satisfied: {scheduled} scheduled, {remaining} remaining"
        return GangPlacement(False, assigned, failed, f"pod group is unschedulable, {text}")
    if not assigned:
        return GangPlacement(False, assigned, failed, "pod group is unschedulable")
    return GangPlacement(True, assigned, failed, "")


def _place(lanes: dict[int, Lane], cycle: Cycle, scoring: Scoring, within: Mask | None) -> int | None:
    """One pod's slot, by its class's lane where there is one; a pod that was promised a node asks for that first."""
    if cycle.cluster.pods.about[cycle.row].nominated:
        return place(cycle, scoring, within)
    lane = lanes.get(cycle.cls.id)
    if lane is None:
        if not has_lane(cycle):
            return place(cycle, scoring, within)
        lane = lanes[cycle.cls.id] = Lane(cycle, scoring, within)
    return lane.best()


def _cannot(min_count: int, scheduled: int, remaining: int) -> str:
    return f"minCount ({min_count}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"
