"""The scheduler as a pure state machine: observations in, actions out.

Nothing here performs an action, reads a clock or waits: time comes in as seconds, actions go out as data, and
their results come back. The live shell and the tests drive the same object:

    core.observe("ADDED", None, pod, now)      each change of a Pod, Node, PodGroup, … in order
    core.recover()                             once everything is observed: finish what a crash interrupted
    while (cycle := core.cycle(now)): …        decide on the next unit; perform cycle.actions
    core.bound(bind, error, now)               how each binding ended
    core.evicted(preempt, errors, now)         how each preemption's calls ended
    core.released(release, errors, now)        how each release's calls ended

Everything that must survive a crash is in the API objects: bindings, nominations, marks on victims.
"""

from dataclasses import replace
from typing import Any

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.preemption import decide
from reprieve.scheduler.actions import Action, Bind, Emit, Preempt, Release
from reprieve.scheduler.cycles import CycleResult, Cycles, Decide
from reprieve.scheduler.intake import Intake
from reprieve.scheduler.memory import Memory
from reprieve.scheduler.queue import State
from reprieve.scheduler.results import Results

__all__ = ["Core", "CycleResult"]


class Core:
    def __init__(
        self,
        config: Configuration,
        scheduler_name: str,
        *,
        cluster: Cluster | None = None,
        decide: Decide = decide,
    ) -> None:
        self.memory = Memory(cluster or Cluster(), config, scheduler_name)
        self.cluster = self.memory.cluster
        self.queue = self.memory.queue
        self.nominations = self.memory.nominations
        self.preemptions = self.memory.preemptions
        self.name = scheduler_name
        self._intake = Intake(self.memory)
        self._cycles = Cycles(self.memory, decide)
        self._results = Results(self.memory)

    def observe(self, type: str, old: Any, new: Any, now: float) -> None:
        """One change (ADDED, MODIFIED, DELETED) of one typed object, as an informer reports it."""
        self._intake.observe(type, old, new, now)

    def cycle(self, now: float) -> CycleResult | None:
        """Decide on the best waiting unit; None when no unit is ready."""
        return self._cycles.run(now)

    def crashed(self, message: str, now: float) -> CycleResult | None:
        """A cycle raised: report it on its unit, the last one popped, and retry later."""
        popped = [unit for unit in self.queue.units.values() if unit.state is State.IN_FLIGHT]
        unit = max(popped, key=lambda each: each.ticket, default=None)
        return None if unit is None else self._cycles.fail(unit, message, now)

    def signed(self, event: Emit) -> Emit:
        """The event, under the scheduler name of the pods it is about; of the preemptor's, if it has one."""
        if len(self.memory.names) == 1:
            return event
        about = event.related or event.regarding
        return replace(event, by=self.memory.scheduler_of(about))

    def bound(self, bind: Bind, error: str | None, now: float) -> list[Action]:
        return self._results.bound(bind, error, now)

    def evicted(self, preempt: Preempt, errors: dict[str, str], now: float) -> list[Action]:
        return self._results.evicted(preempt, errors, now)

    def released(self, release: Release, errors: dict[str, str], now: float) -> list[Action]:
        return self._results.released(release, errors, now)

    def recover(self) -> list[Action]:
        return self._results.recover()
