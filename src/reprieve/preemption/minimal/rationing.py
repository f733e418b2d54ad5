"""Victims for one class of pods under budgets that allow some disruptions: what is allowed is shared out.

At first every budget counts as unlimited. Where the answer draws more than a budget allows, nodes keep what
they draw as long as it lasts, in their order; everything else under a budget that is used up counts as a
violation from then on, and the rest is looked for elsewhere.
"""

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reprieve.preemption.minimal.dynamic_program import INFINITE
from reprieve.preemption.minimal.problem import Answer, Flags, Ints, Problem
from reprieve.preemption.minimal.uniform import UniformSearch
from reprieve.preemption.minimal.work_limit import WorkLimit

ROUNDS = 6


def without_budgets(problem: Problem) -> Problem:
    """The problem as if every budget that allows some disruption allowed any."""
    return replace(problem, uses=np.zeros((problem.units, 0), np.int64), allowed=np.zeros(0, np.int64))


class Rationed(NamedTuple):
    """A valid answer, or none; how far from the optimum it is, is not known here."""

    answer: Answer | None
    spent: Ints  # [unit] pods that count as violations once what is allowed is shared out
    cost: Ints  # [node, k] what k pods cost there at least, then


def rationed(problem: Problem, evictable: Flags, work: WorkLimit) -> Rationed:
    best: Answer | None = None
    spent = problem.spent
    for _ in range(ROUNDS):
        search = UniformSearch(replace(without_budgets(problem), spent=spent), evictable, INFINITE, work)
        found = search.quick()
        if found is not None and (best is None or problem.cost(found.units) < problem.cost(best.units)):
            best = found
        if found is None or work.spent:
            break
        drawn = problem.uses[sorted(problem.whole(found.units))].sum(axis=0)
        if (drawn <= problem.allowed).all():
            break
        kept = _kept(problem, found)
        left = problem.allowed - problem.uses[kept].sum(axis=0)
        dear = ~kept & np.asarray((problem.uses > np.maximum(left, 0)).any(axis=1))
        spent = problem.spent + np.where(dear, problem.uses.sum(axis=1), 0)
    return Rationed(best, spent, search.cost)


def _kept(problem: Problem, answer: Answer) -> Flags:
    """Units that may leave within the budgets: node by node, as long as what is allowed lasts."""
    leaves = np.zeros(problem.units, np.bool_)
    leaves[list(answer.units)] = True
    pods = leaves[problem.pod_unit]
    units_on: dict[int, set[int]] = defaultdict(set)
    for unit, node in zip(problem.pod_unit[pods].tolist(), problem.pod_node[pods].tolist(), strict=True):
        units_on[node].add(unit)
    kept, left = np.zeros(problem.units, np.bool_), problem.allowed.tolist()
    uses = {unit: problem.uses[unit].tolist() for unit in answer.units}
    for node in np.flatnonzero(answer.placed[0]).tolist():
        new = [unit for unit in units_on[node] if not kept[unit]]
        rest = list(left)
        for unit in new:
            rest = [have - by for have, by in zip(rest, uses[unit], strict=True)]
        if min(rest, default=0) >= 0:
            kept[new], left = True, rest
    return kept
