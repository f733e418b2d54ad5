"""The scheduler as a pure state machine: observations in, actions out.

Nothing here performs an action, reads a clock or waits: time comes in as seconds, actions go out as data, and
their results come back. The live shell and the tests drive the same object:

    core.observe_all(pods, now)                what a list brings when it is read for the first time
    core.observe("ADDED", None, pod, now)      each change of a Pod, Node, PodGroup, … in order
    core.recover(now)                          once everything is observed, and every few seconds: finish
                                               what was interrupted, undo what is not wanted any more
    while (cycle := core.cycle(now)): …        decide on the next unit; perform cycle.actions
    core.report(now)                           what units that may not be tried yet have to say
    core.bound(bind, error, now)               how each binding ended
    core.evicted(preempt, errors, now)         how each preemption's calls ended
    core.released(release, errors, now)        how each release's calls ended

Everything that must survive a crash is in the API objects: bindings, nominations, marks on victims.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Pod, Reference, ResourceClaim
from reprieve.preemption import decide
from reprieve.scheduler import devices, volumes
from reprieve.scheduler.actions import Action, Bind, Emit, Preempt, Release
from reprieve.scheduler.cycles import CycleResult, Cycles, Decide
from reprieve.scheduler.intake import Intake
from reprieve.scheduler.memory import Memory
from reprieve.scheduler.queue import State
from reprieve.scheduler.reports import Reports
from reprieve.scheduler.results import Results
from reprieve.scheduler.waiting import unit_of

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
        self._reports = Reports(self.memory)

    def observe(self, type: str, old: Any, new: Any, now: float) -> None:
        """One change (ADDED, MODIFIED, DELETED) of one typed object, as an informer reports it."""
        self._intake.observe(type, old, new, now)

    def observe_all(self, objects: Iterable[Any], now: float) -> None:
        """Typed objects that are all new: the same as if each of them was ADDED, in less time."""
        self._intake.observe_all(objects, now)

    def count_quota(self, known: Iterable[Pod], now: float) -> None:
        """Workloads are served here: from now on nobody is placed on quota that was not given.

        `known`: the pods that were observed before. Jobs and Workloads are observed from now on.
        """
        memory = self.memory
        memory.holds.on = True
        for group in memory.cluster.groups.objects:
            if group is not None:
                memory.holds.see_group(group, gone=False)
        for pod in known:
            memory.holds.see_pod(pod, pod.metadata.deletion_timestamp is not None)
        memory.look_again(memory.waiting.pods, now)

    def report(self, now: float) -> list[Action]:
        """What units that may not be tried yet have to say, as far as it is time."""
        return self._reports.due(now)

    def next_time(self) -> float | None:
        """When the next unit becomes ready by itself, or has something to report."""
        ready, told = self.queue.next_ready(), self._reports.next()
        if ready is None or told is None:
            return told if ready is None else ready
        return min(ready, told)

    def turn_back(self, seconds: float) -> None:
        """The clock was set back: nobody pauses, or is told, later because of it."""
        self.queue.turn_back(seconds)
        untold = self.memory.untold
        untold.update({ref: since - seconds for ref, since in untold.items()})

    def has_work(self, until: float) -> bool:
        """Whether there may be a unit to try, or something to do by itself before `until`."""
        if self.queue.may_be_ready:
            return True
        following = self.next_time()
        return following is not None and following < until

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

    def unit_of(self, pod: Reference) -> Reference:
        """The unit of a pod that waits, or waited not long ago."""
        waiting = self.memory.waiting.pods.get(pod.key)
        return pod if waiting is None else unit_of(waiting)

    def bound(self, bind: Bind, error: str | None, now: float) -> list[Action]:
        return self._results.bound(bind, error, now)

    def claims_bound(self, bind: Bind, written: Mapping[str, str]) -> bool:
        """Whether the claims of a pod have their volumes by now; raises `BindingFailed` if they never will.

        `written`: by claim, the version of the object that was written for it.
        """
        return volumes.all_bound(self.cluster, bind, written)

    def claim_written(self, claim: ResourceClaim) -> None:
        """The API's answer to a write: it counts at once, whenever the watch tells of it."""
        self.memory.epoch += 1
        self.cluster.devices.written(claim)

    def devices_ready(self, bind: Bind) -> bool:
        """Whether the devices of a pod may be used by now; raises `DevicesFailed` if they never will."""
        return devices.ready(self.cluster, bind)

    def still_evicts(self, pod: Reference) -> bool:
        """Whether a pod that carries our mark is still to be deleted; asked right before it is."""
        return self.memory.still_evicts(pod)

    def has_ended(self, pod: Reference) -> bool:
        """Whether a pod that had a node is gone or has finished: it holds nothing any more."""
        return self.memory.has_ended(pod)

    def evicted(self, preempt: Preempt, errors: dict[str, str], now: float) -> list[Action]:
        return self._results.evicted(preempt, errors, now)

    def released(self, release: Release, errors: dict[str, str], now: float) -> list[Action]:
        return self._results.released(release, errors, now)

    def recover(self, now: float) -> list[Action]:
        return self._results.recover(now)
