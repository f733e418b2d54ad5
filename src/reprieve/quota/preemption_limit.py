"""Limits how often one workload preempts the same other one, so that preemption always comes to an end.

Upstream can preempt in circles for ever: a victim queues again, gets quota before the workload it was
preempted for (its queue borrows less, or its share is smaller), and is preempted again. Here each pair of
preemptor and victim is counted:

1. The first two times, the victim leaves as it does upstream. Often the situation changes and that is enough.
2. The third time, the victim also yields to its preemptor: it is not tried again until the preemptor has its
   quota, is gone, or was tried and could neither get quota nor preempt.
3. There is no fourth time: the victim is no candidate for that preemptor any more.

So every preemption uses up one of three chances of a pair, and between two preemptions reservations can
only be added. With nothing changing from outside, (preemptions so far, reservations) grows with every cycle
that changes anything, and no state is seen twice.

A pair is forgotten when one of the two is gone or their quota changes. If the preemptor has got its quota
since, the pair is also forgotten when another workload releases quota: what follows is a new situation, not
the same circle.
"""

from __future__ import annotations

from collections import defaultdict

MOST = 3
"""How often a workload may preempt the same other one."""


class PreemptionLimit:
    def __init__(self) -> None:
        self._times: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """{preemptor: {victim: how often}}"""
        self._yielding: dict[str, str] = {}
        """{victim: the preemptor it yields to}"""
        self._satisfied: set[str] = set()
        """Preemptors that got their quota."""

    def preempted(self, preemptor: str, victim: str) -> None:
        times = self._times[preemptor]
        times[victim] = times.get(victim, 0) + 1
        self._satisfied.discard(preemptor)
        if times[victim] >= MOST:
            self._yielding[victim] = preemptor

    def yields_to(self, workload: str) -> str:
        """The preemptor that must be tried before this workload; empty when there is none."""
        return self._yielding.get(workload, "")

    def protected_from(self, preemptor: str) -> list[str]:
        """The workloads it may not preempt again."""
        times = self._times.get(preemptor)
        return [victim for victim, number in times.items() if number >= MOST] if times else []

    def reserved(self, workload: str) -> list[str]:
        """The workload got its quota; returns the victims that no longer yield."""
        if workload in self._times:
            self._satisfied.add(workload)
        self._yielding.pop(workload, None)
        return self.gave_up(workload)

    def gave_up(self, preemptor: str) -> list[str]:
        """The preemptor was tried and made no progress; returns the victims that no longer yield."""
        if not self._yielding:
            return []
        freed = [victim for victim, other in self._yielding.items() if other == preemptor]
        for victim in freed:
            del self._yielding[victim]
        return freed

    def gone(self, workload: str) -> list[str]:
        """The workload does not exist any more; returns the victims that no longer yield."""
        self._times.pop(workload, None)
        self._satisfied.discard(workload)
        self._yielding.pop(workload, None)
        for times in self._times.values():
            times.pop(workload, None)
        return self.gave_up(workload)

    def quota_released(self) -> None:
        """A workload is done: preemptors that have their quota start afresh."""
        for preemptor in self._satisfied:
            self._times.pop(preemptor, None)
        self._satisfied.clear()

    def quota_changed(self) -> None:
        self._times.clear()
        self._yielding.clear()
        self._satisfied.clear()
