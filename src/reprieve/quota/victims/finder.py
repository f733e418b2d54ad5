"""Looks for victims on behalf of one workload, by the search that the configuration asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from reprieve.quota.assignment import Assignment, Outlook, Prospect
from reprieve.quota.claims import Claim
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.tree import FlavorResource
from reprieve.quota.victims import classical, fair
from reprieve.quota.victims.candidates import Ask, Victim

_Question = tuple[frozenset[tuple[FlavorResource, int]], frozenset[FlavorResource]]


class Scout:
    """Valid for the tree as it is: make a new one after any change.

    Called with one resource of one flavor it is the oracle of the flavor scan. Its answers are remembered, so a workload
    that asks for a single resource is searched for once.
    """

    __slots__ = ("_answers", "_claim", "_protected", "_queue", "_rules")

    def __init__(self, claim: Claim, queue: QueueNode, rules: Rules, protected: Collection[str] = ()) -> None:
        self._claim = claim
        self._queue = queue
        self._rules = rules
        self._protected = frozenset(protected)
        """Workloads that are no candidates, whatever the policies say."""
        self._answers: dict[_Question, list[Victim]] = {}

    def victims(
        self, requests: Mapping[FlavorResource, int], short: frozenset[FlavorResource]
    ) -> list[Victim]:
        """Whom to preempt so that all requests fit; empty when that cannot be done."""
        question = frozenset(requests.items()), short
        found = self._answers.get(question)
        if found is None:
            for key in requests.keys() | short:
                self._queue.cell(key)
            ask = Ask(self._claim, self._queue, requests, short, self._protected)
            found = (
                fair.find_victims(ask, self._rules)
                if self._rules.fair_sharing
                else classical.find_victims(ask)
            )
            self._answers[question] = found
        return found

    def victims_for(self, assignment: Assignment) -> list[Victim]:
        requests = {key: amount for key, amount in assignment.usage.items() if amount}
        return self.victims(requests, assignment.needing_preemption())

    def __call__(self, key: FlavorResource, amount: int) -> Outlook:
        found = self.victims({key: amount}, frozenset((key,)))
        cell = self._queue.cell(key)
        if not found:
            return Outlook(Prospect.NO_CANDIDATES, cell.lowest_fit(amount)[0])
        for victim in found:
            victim.leave()
        height, _ = cell.lowest_fit(amount)
        for victim in found:
            victim.stay()
        own = any(victim.queue is self._queue for victim in found)
        return Outlook(Prospect.PREEMPT if own else Prospect.RECLAIM, height)
