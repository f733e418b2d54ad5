"""The same question as a mixed integer program, solved by HiGHS: the judge of the exact core."""

from typing import Any

import highspy
import numpy as np

from reprieve.preemption.minimal.problem import NO_PRIORITY, Problem, Score


class Program:
    """Places `need` pods of a problem; objectives are solved one after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.highs = problem, highspy.Highs()
        h = self.highs
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.5,
        }.items():
            h.setOptionValue(option, value)
        self.evict = [h.addBinary() for _ in range(problem.units)]
        self.place = [
            [h.addIntegral(0, int(min(most, problem.counts[c], problem.need))) for most in row]
            for c, row in enumerate(problem.most)
        ]
        h.addConstr(h.qsum(v for row in self.place for v in row) == problem.need)
        for row, count in zip(self.place, problem.counts, strict=True):
            h.addConstr(h.qsum(row) <= int(count))
        # A pod is gone when its unit leaves, or the unit that takes it along.
        self.gone = [h.addBinary() for _ in range(len(problem.pod_unit))]
        takers = {unit: [unit] for unit in range(problem.units)}
        for absorber, absorbed in problem.absorbs.items():
            for unit in absorbed:
                takers[unit].append(absorber)
        for gone, unit in zip(self.gone, problem.pod_unit.tolist(), strict=True):
            h.addConstr(gone - h.qsum(self.evict[taker] for taker in takers[unit]) <= 0)
        for node in range(problem.nodes):
            self._fit(node)
        beyond = []
        for budget, allowed in enumerate(problem.allowed.tolist()):
            over = h.addVariable(0)
            used = h.qsum(int(problem.uses[u, budget]) * self.evict[u] for u in range(problem.units))
            h.addConstr(used - over <= allowed)
            beyond.append(over)
        self.violations = h.qsum(int(s) * e for s, e in zip(problem.spent, self.evict, strict=True)) + h.qsum(
            beyond
        )
        self.weight = h.qsum(int(w) * e for w, e in zip(problem.weight, self.evict, strict=True))
        self.row = h.addConstr(self.violations <= highspy.kHighsInf)

    def _fit(self, node: int) -> None:
        h, problem = self.highs, self.problem
        pods = np.flatnonzero(problem.pod_node == node).tolist()
        here = [(c, self.place[c][node]) for c in range(problem.classes) if problem.most[c, node]]
        for resource in range(problem.free.shape[1]):
            asking = [
                (int(problem.requests[c, resource]), v) for c, v in here if problem.requests[c, resource]
            ]
            freed = h.qsum(int(problem.pod_requests[p, resource]) * self.gone[p] for p in pods)
            total = h.qsum(a * v for a, v in asking) - freed
            room = int(problem.free[node, resource])
            if room >= 0:
                h.addConstr(total <= room)
            else:  # a node that is over its size matters only to pods that ask for the resource
                anyone, most = h.addBinary(), sum(a * int(problem.need) for a, _ in asking)
                for _, v in asking:
                    h.addConstr(v - problem.need * anyone <= 0)
                h.addConstr(total + (most - room) * anyone <= most)
        for c, v in here:
            for p in pods:
                if problem.pod_bars[p, c]:
                    h.addConstr(v - problem.need * self.gone[p] <= 0)
        for a, b in problem.apart:
            first = h.addBinary()
            h.addConstr(self.place[a][node] - problem.need * first <= 0)
            h.addConstr(self.place[b][node] + problem.need * first <= problem.need)

    def minimise(self, objective: Any) -> int | None:
        self.highs.minimize(objective)
        if self.highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return None
        assert self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return round(self.highs.getObjectiveValue())

    def optimum(self) -> Score | None:
        violations = self.minimise(self.violations)
        if violations is None:
            return None
        self.highs.changeRowBounds(self.row.index, -highspy.kHighsInf, violations)
        for level in [NO_PRIORITY, *np.unique(self.problem.priority).tolist()]:
            for unit, variable in enumerate(self.evict):
                self.highs.changeColBounds(variable.index, 0, int(self.problem.priority[unit] <= level))
            weight = self.minimise(self.weight)
            if weight is not None:
                return Score(violations, level, weight)
        raise AssertionError("feasible without limits, infeasible on every level")
