"""What pods are told that no cycle has looked at: no pod waits without a condition that says why.

A cycle tells the pods of its unit. Units that may not be tried yet (`WaitingPods.gate`), and pods that joined
a group after it was tried, are told here, `SETTLE` seconds after the first change: most gangs are complete by
then, and nothing has to be written.
"""

from reprieve.objects import Pod, PodGroup, well_known
from reprieve.scheduler import sentences, status
from reprieve.scheduler.actions import Action, SetGroupCondition, SetPodCondition
from reprieve.scheduler.memory import Memory
from reprieve.scheduler.queue import QueuedUnit, State
from reprieve.scheduler.waiting import Gate

SETTLE = 1.0


class Reports:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def next(self) -> float | None:
        """When there is something to report."""
        if self._memory.lapsed or self._memory.unread or self._memory.diverging:
            return 0.0
        first = next(iter(self._memory.untold.values()), None)  # in the order of their times
        return None if first is None else first + SETTLE

    def due(self, now: float) -> list[Action]:
        memory = self._memory
        if self.next() is None:
            return []
        actions: list[Action] = [status.lapsed(group) for group in memory.lapsed.values()]
        memory.lapsed.clear()
        actions += memory.unread.values()
        memory.unread.clear()
        actions += self._diverging()
        for ref in [ref for ref, since in memory.untold.items() if since + SETTLE <= now]:
            del memory.untold[ref]
            unit = memory.queue.units.get(ref)
            if unit is not None:
                actions += self._of(unit)
        return actions

    def _diverging(self) -> list[Action]:
        """Told at once, to waiting groups and to running ones."""
        memory, found = self._memory, list[Action]()
        for ref in memory.diverging:
            group = memory.waiting.group(ref)
            if group is None:
                continue
            difference = memory.divergence(ref)[0]
            condition = status.matching(group, difference)
            if condition is not None:
                found.append(condition)
                workload = memory.templates.workload_of(group.key)
                if difference and workload is not None:
                    found.append(status.diverging(workload, ref, difference))
            unlike = status.like_template(group, memory.templates.contradiction(group.key))
            if unlike is not None:
                found.append(unlike)
        memory.diverging.clear()
        return found

    def _of(self, unit: QueuedUnit) -> list[Action]:
        gate = self._memory.waiting.gate(unit.ref) if unit.state is State.GATED else None
        if gate is not None:
            return self._gated(unit, gate)
        if unit.state is State.IN_FLIGHT or not unit.told[1]:
            return []
        # It was tried, and pods have joined it since. Or it pauses: what its pods say is not true any more.
        tell = status.not_scheduled if unit.paused else status.first_reason
        found = (tell(self._memory.waiting.pods[key], *unit.told) for key in unit.pods)
        return [each for each in found if each is not None]

    def _gated(self, unit: QueuedUnit, gate: Gate) -> list[Action]:
        memory = self._memory
        found = [_of_pod(memory.waiting.pods[key], gate) for key in unit.pods]
        actions: list[Action] = [each for each in found if each is not None]
        group = memory.waiting.group(unit.ref)
        condition = None if group is None else _of_group(group, gate)
        return actions if condition is None else [*actions, condition]


def _of_pod(pod: Pod, gate: Gate) -> SetPodCondition | None:
    """One with scheduling gates of its own has been told so by the API server."""
    if pod.spec.scheduling_gates:
        return status.not_scheduled(pod, well_known.SCHEDULING_GATED, sentences.GATED)
    return status.not_scheduled(pod, gate.reason, gate.steady or gate.text)


def _of_group(group: PodGroup, gate: Gate) -> SetGroupCondition | None:
    return status.group_condition(group, well_known.POD_GROUP_SCHEDULED, "False", gate.reason, gate.text)
