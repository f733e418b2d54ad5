"""A gang preempts: the whole cluster is one domain, so all lower units are out at once and return one by one."""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.cluster.columns import Mask
from reprieve.placement import Assignment, GangPlacement, place_gang
from reprieve.preemption.importance import by_importance
from reprieve.preemption.reprieve import Verdict, bench_for, reprieve
from reprieve.preemption.selection import Selection
from reprieve.preemption.units import Candidates
from reprieve.preemption.view import View
from reprieve.preemption.violations import Split, split_by_budgets


class Gang(NamedTuple):
    """The preemptor: its waiting pods in queue order, and what it needs."""

    rows: tuple[int, ...]
    priority: int
    min_count: int
    running: int


def place_within(view: View, gang: Gang, within: Mask | None) -> GangPlacement:
    return place_gang(
        view.cluster, gang.rows, gang.min_count, gang.running, view.scoring, within, view.faithful
    )


def select_for_gang(view: View, gang: Gang, within: Mask | None = None) -> Selection | GangPlacement:
    """What kube-scheduler 1.37 does: one placement on the emptied cluster, then reprieve. A placement that failed says why."""
    cluster = view.cluster
    candidates = Candidates(view, gang.priority)
    rows = candidates.rows
    home = dict(zip(rows.tolist(), cluster.pods.node[rows].tolist(), strict=True))
    split = split_by_budgets(view, by_importance(view, candidates.units()))
    mark = cluster.checkpoint()
    try:
        cluster.detach_all(rows)
        emptied = cluster.checkpoint()
        placement = place_within(view, gang, within)
        if not placement.feasible:
            return placement
        cluster.rollback(emptied)
        verdict = reprieve(bench_for(view, placement.assigned, home), [*split.violating, *split.others])
        return selected(view, placement.assigned, verdict, split)
    finally:
        cluster.rollback(mark)


def selected(view: View, assigned: Sequence[Assignment], verdict: Verdict, split: Split) -> Selection:
    victims = by_importance(view, verdict.victims) if split.violating and split.others else verdict.victims
    return Selection(list(assigned), victims, verdict.reprieved, split.counts)
