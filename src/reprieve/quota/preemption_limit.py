"""The rule that ends quarrels: nobody makes way for the same workload again and again in vain.

Upstream can preempt in circles for ever: a victim queues again, is let in before the workload it made way for (its queue borrows less,
or its share is smaller), and is preempted again. Here each pair of preemptor and victim is remembered:

1. The first two times, the victim leaves as upstream would have it: often others change the situation and all is well.
2. The third time, it also steps back: it is not tried again as long as its preemptor makes progress, that is, until the
   preemptor has its quota, is gone, or was tried and could neither get in nor preempt.
3. A fourth time does not happen: the victim is no candidate for that preemptor any more.

So every preemption uses up one of three chances of a pair, and between two preemptions reservations can only be added: with nothing
changing from outside, (preemptions so far, reservations) grows with every cycle that changes anything, and no state is seen twice.

A pair is forgotten when one of the two is gone or their quota changes. If the preemptor did get in since, the pair
is also forgotten when somebody else gives quota back: what happens then is a new situation, not the same circle.
"""

from __future__ import annotations

from collections import defaultdict

MOST = 3
"""How often a workload may preempt the same other one."""


class PreemptionLimit:
    def __init__(self) -> None:
        self._times: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """{preemptor: {victim: how often}}"""
        self._stepped_back: dict[str, str] = {}
        """{victim: the preemptor it lets pass}"""
        self._got_in: set[str] = set()

    def preempted(self, preemptor: str, victim: str) -> None:
        times = self._times[preemptor]
        times[victim] = times.get(victim, 0) + 1
        self._got_in.discard(preemptor)
        if times[victim] >= MOST:
            self._stepped_back[victim] = preemptor

    def lets_pass(self, workload: str) -> str:
        """The workload for which this one steps back; empty when for nobody."""
        return self._stepped_back.get(workload, "")

    def protected_from(self, preemptor: str) -> list[str]:
        """Whom it may not preempt again."""
        times = self._times.get(preemptor)
        return [victim for victim, number in times.items() if number >= MOST] if times else []

    def reserved(self, workload: str) -> list[str]:
        """It has its quota; who stepped back for it and may be tried again."""
        if workload in self._times:
            self._got_in.add(workload)
        self._stepped_back.pop(workload, None)
        return self.gave_up(workload)

    def gave_up(self, preemptor: str) -> list[str]:
        """It was tried and made no progress; who stepped back for it and may be tried again."""
        if not self._stepped_back:
            return []
        freed = [victim for victim, passing in self._stepped_back.items() if passing == preemptor]
        for victim in freed:
            del self._stepped_back[victim]
        return freed

    def gone(self, workload: str) -> list[str]:
        """The workload does not exist any more; who stepped back for it and may be tried again."""
        self._times.pop(workload, None)
        self._got_in.discard(workload)
        self._stepped_back.pop(workload, None)
        for times in self._times.values():
            times.pop(workload, None)
        return self.gave_up(workload)

    def quota_given_back(self) -> None:
        """Somebody finished: whoever got in meanwhile starts afresh."""
        for preemptor in self._got_in:
            self._times.pop(preemptor, None)
        self._got_in.clear()

    def quota_changed(self) -> None:
        self._times.clear()
        self._stepped_back.clear()
        self._got_in.clear()
