"""Finds the victims of one preemptor, by the search that the configuration selects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from reprieve.quota.assignment import Assignment, GranularMode, PreemptionMode
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.topology.capacity import Capacity
from reprieve.quota.topology.step import TopologyStep
from reprieve.quota.tree import FlavorResource
from reprieve.quota.victims import classical, fair
from reprieve.quota.victims.candidates import PreemptionRequest, Victim
from reprieve.quota.workload_info import WorkloadInfo

_Needs = tuple[frozenset[tuple[FlavorResource, int]], frozenset[FlavorResource]]


class VictimFinder:
    """Valid for the tree as it is: make a new one after any change.

    Called with one resource of one flavor it is the `Oracle` of the flavor scan. Results are remembered, so
    that the victims of a workload that requests a single resource are searched for once.
    """

    __slots__ = (
        "_capacity",
        "_found",
        "_preemptor",
        "_protected",
        "_queue",
        "_rules",
        "_topology",
        "_usage_of",
    )

    def __init__(
        self,
        preemptor: WorkloadInfo,
        queue: QueueNode,
        rules: Rules,
        protected: Collection[str] = (),
        topology: TopologyStep | None = None,
        capacity: Capacity | None = None,
        usage_of: Callable[[WorkloadInfo], float] | None = None,
    ) -> None:
        self._preemptor = preemptor
        self._queue = queue
        self._rules = rules
        self._protected = frozenset(protected)
        """Workloads that are no candidates, whatever the policies say."""
        self._topology = topology
        self._usage_of = usage_of
        self._capacity = None if capacity is None or capacity.unused else capacity
        self._found: dict[_Needs, list[Victim]] = {}

    def victims(self, usage: Mapping[FlavorResource, int], short: frozenset[FlavorResource]) -> list[Victim]:
        """The workloads to preempt so that the usage fits; empty when that cannot be done."""
        if self._preemptor.cannot_preempt:
            return []
        needs = frozenset(usage.items()), short
        found = self._found.get(needs)
        if found is None:
            found = self._found[needs] = self._search(usage, short, None)
        return found

    def _search(
        self,
        usage: Mapping[FlavorResource, int],
        short: frozenset[FlavorResource],
        placed: Callable[[], bool] | None,
    ) -> list[Victim]:
        for key in usage.keys() | short:
            self._queue.cell(key)
        request = PreemptionRequest(
            self._preemptor,
            self._queue,
            usage,
            short,
            self._protected,
            placed,
            self._capacity,
            self._usage_of,
        )
        if self._rules.fair_sharing:
            return fair.find_victims(request, self._rules)
        return classical.find_victims(request)

    def victims_for(self, assignment: Assignment) -> list[Victim]:
        """As `victims`; and so that all pods have their domains, if they need some."""
        usage = {key: amount for key, amount in assignment.usage.items() if amount}
        short = assignment.needing_preemption()
        placed = self._topology.fits(assignment) if self._topology is not None else None
        if placed is None:
            return self.victims(usage, short)
        return self._search(usage, short, placed)

    def __call__(self, key: FlavorResource, amount: int) -> GranularMode:
        found = self.victims({key: amount}, frozenset((key,)))
        cell = self._queue.cell(key)
        if not found:
            return GranularMode(PreemptionMode.NO_CANDIDATES, cell.lowest_fit(amount)[0])
        for victim in found:
            victim.leave()
        height, _ = cell.lowest_fit(amount)
        for victim in found:
            victim.stay()
        own = any(victim.queue is self._queue for victim in found)
        return GranularMode(PreemptionMode.PREEMPT if own else PreemptionMode.RECLAIM, height)
