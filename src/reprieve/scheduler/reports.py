"""What units that may not be tried yet tell people: no pod waits without a condition that says why.

Units that are tried get their conditions from each cycle. Those that are not (`WaitingPods.gate`) are told
here, `SETTLE` seconds after the first change: most gangs are complete by then, and nothing has to be written.
"""

from reprieve.objects import Pod, PodGroup, well_known
from reprieve.scheduler import status
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
        if self._memory.lapsed:
            return 0.0
        first = min(self._memory.untold.values(), default=None)
        return None if first is None else first + SETTLE

    def due(self, now: float) -> list[Action]:
        memory = self._memory
        actions: list[Action] = [status.lapsed(group) for group in memory.lapsed.values()]
        memory.lapsed.clear()
        for ref in [ref for ref, since in memory.untold.items() if since + SETTLE <= now]:
            del memory.untold[ref]
            unit = memory.queue.units.get(ref)
            gate = memory.waiting.gate(ref) if unit is not None and unit.state is State.GATED else None
            if unit is not None and gate is not None:
                actions += self._gated(unit, gate)
        return actions

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
        return status.not_scheduled(pod, well_known.SCHEDULING_GATED, status.GATED)
    return status.not_scheduled(pod, gate.reason, gate.steady or gate.text)


def _of_group(group: PodGroup, gate: Gate) -> SetGroupCondition | None:
    return status.group_condition(group, well_known.POD_GROUP_SCHEDULED, "False", gate.reason, gate.text)
