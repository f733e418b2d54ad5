"""How actions ended, and what an earlier scheduler left unfinished."""

from collections.abc import Iterable

from reprieve.objects import PodGroup, Reference, well_known
from reprieve.scheduler import devices, marks, recovery, sentences, status, volumes, wakeups
from reprieve.scheduler.actions import (
    Action,
    Bind,
    Evicted,
    Nominate,
    Preempt,
    Release,
    Reprieve,
    SetPodCondition,
)
from reprieve.scheduler.memory import Memory
from reprieve.scheduler.nominations import leaving_from
from reprieve.scheduler.preemptions import Preemption
from reprieve.scheduler.queue import QueuedUnit, State
from reprieve.scheduler.waiting import unit_of


class Results:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._failed: set[Reference] = set()
        """Units with a binding that failed while others are still under way."""

    def bound(self, bind: Bind, error: str | None, now: float) -> list[Action]:
        """A binding ended. After an error the pod waits again; else it counts as bound from now on."""
        memory = self._memory
        memory.binding[bind.unit] -= 1
        if bind.claims:
            memory.epoch += 1
            volumes.release(memory.cluster, bind)
        if bind.devices:
            memory.epoch += 1
            devices.ended(memory.cluster, bind)
        if error is None:
            actions: list[Action] = [status.scheduled(bind.pod, bind.node)]
        else:
            actions = self._not_bound(bind, error, now)
        if not memory.binding[bind.unit]:
            memory.binding.pop(bind.unit)
            actions += self._unit_bound(bind.unit, now)
        return actions

    def _not_bound(self, bind: Bind, error: str, now: float) -> list[Action]:
        memory, key = self._memory, bind.pod.key
        waiting = memory.waiting.pods.get(key)
        if waiting is None or waiting.metadata.uid != bind.pod.uid:
            return []
        memory.epoch += 1
        memory.cluster.forget(key)
        if memory.headroom.on:
            memory.headroom.look(key, now)
        memory.waiting.give_back(key)
        memory.look_again(memory.holds.place(waiting, placed=False), now)
        self._failed.add(bind.unit)
        text = sentences.binding_failed(bind.node, error)
        actions: list[Action] = [status.failed(bind.pod, text)]
        actions.append(SetPodCondition(bind.pod, well_known.SCHEDULER_ERROR, text))
        if bind.insist:
            # The rest of the gang may be bound: no less important pod may take this place meanwhile.
            memory.nominations.make(waiting, bind.node)
            actions.append(Nominate(bind.pod, bind.node))
        if bind.devices:
            memory.queue.wake(lambda unit: wakeups.devices_changed(memory.cluster, unit), now)
        left = memory.cluster.class_of(memory.cluster.pods.row_of[key])
        memory.queue.wake(lambda unit: wakeups.pod_left(memory.cluster, unit, bind.node, left), now)
        return actions

    def _unit_bound(self, ref: Reference, now: float) -> list[Action]:
        memory = self._memory
        failed = ref in self._failed
        self._failed.discard(ref)
        unit = memory.queue.units.get(ref)
        if unit is not None and unit.state is State.IN_FLIGHT:
            memory.settle(unit, now, failed=failed)
        elif unit is None:
            memory.refresh(ref, now)
        return self._complete(ref)

    def _complete(self, unit: Reference) -> list[Action]:
        """Report a group that has all its pods placed, once and for ever."""
        memory = self._memory
        group = memory.waiting.group(unit)
        if group is None or unit in memory.binding:
            return []
        staying = len(memory.waiting.staying(unit))
        if not staying or staying + memory.waiting.ended(unit) < group.min_count:
            return []
        memory.waiting.note_complete(group)
        condition = status.group_condition(group, well_known.POD_GROUP_SCHEDULED, "True", "Scheduled", "")
        return [*([condition] if condition else []), *memory.incomplete.over(unit)]

    def evicted(self, preempt: Preempt, errors: dict[str, str], now: float) -> list[Action]:
        """The calls of a preemption ended. After errors the nominations are withdrawn and the unit waits,
        but an eviction of a group in mode *all* that has begun is finished (`recover`)."""
        memory = self._memory
        memory.calls_ended(preempt.victims)
        unit, preemption = memory.queue.units.get(preempt.unit), memory.preemptions.get(preempt.unit)
        actions: list[Action] = []
        if unit is None or preemption is None:
            memory.preemptions.end(preempt.unit)
        elif errors or preemption.spoiled:
            key, why = next(iter(errors.items()), ("", sentences.SHARED_VICTIM_STAYS))
            note = sentences.victims_not_evicted(len(errors), len(preempt.victims), key, why)
            actions = [*self._give_up(unit, note, now), status.withdrawn(preempt.preemptor, note)]
        else:
            self._through(unit, preemption, now)
        return [*actions, *self._spoil(errors, now), *self.recover(now)] if errors else actions

    def released(self, release: Release, errors: dict[str, str], now: float) -> list[Action]:
        """The calls of a release ended. After errors the gang is tried again, and then released again."""
        memory = self._memory
        memory.calls_ended(release.pods)
        unit, preemption = memory.queue.units.get(release.unit), memory.preemptions.get(release.unit)
        if unit is None or preemption is None:
            memory.preemptions.end(release.unit)
        elif errors:
            note = sentences.pods_not_released(len(errors), len(release.pods))
            return self._give_up(unit, note, now)
        else:
            self._through(unit, preemption, now)
        return [*memory.incomplete.over(release.unit)]

    def _through(self, unit: QueuedUnit, preemption: Preemption, now: float) -> None:
        """Every call succeeded: wait for the victims that have not ended yet."""
        preemption.calling = False
        if preemption.victims:
            self._memory.queue.rest(unit, now)
        else:
            unit.patient = False
            self._memory.settle(unit, now)

    def _spoil(self, staying: Iterable[str], now: float) -> list[Action]:
        """These pods are not evicted after all: other preemptions that wait for them start over as well."""
        actions: list[Action] = []
        for sharer in self._memory.preemptions.sharing(staying):
            unit = self._memory.queue.units.get(sharer.unit)
            if sharer.calling:
                sharer.spoiled = True
            elif unit is not None:
                actions += self._give_up(unit, sentences.SHARED_VICTIM_STAYS, now)
        return actions

    def _give_up(self, unit: QueuedUnit, why: str, now: float) -> list[Action]:
        """Start over, after a pause."""
        memory = self._memory
        actions = memory.withdraw(unit.ref, unit.pods)
        unit.told = well_known.SCHEDULER_ERROR, why
        found = [
            status.not_scheduled(memory.waiting.pods[key], well_known.SCHEDULER_ERROR, why)
            for key in unit.pods
        ]
        actions += [each for each in found if each is not None]
        unit.patient = False
        self._memory.settle(unit, now, failed=True)
        return actions

    def recover(self, now: float) -> list[Action]:
        """Finish or undo evictions that no preemption covers; wait for victims that are on their way out."""
        memory = self._memory
        idle = {key: mark for key, mark in memory.marked.items() if not memory.preemptions.includes(key)}
        unfinished = recovery.judge(memory.cluster, idle, memory.stands)
        waited_for = self._counted_on(idle, unfinished)
        actions: list[Action] = [
            Reprieve(pod, sentences.PREEMPTION_DID_NOT_HAPPEN) for pod in unfinished.spare
        ]
        for preemptor, pods in unfinished.finish.items():
            victims = [Evicted(*each, sentences.PREEMPTION_HAD_BEGUN) for each in pods]
            actions.append(self._finish(preemptor, waited_for[preemptor], victims))
        for preemptor, leaving in waited_for.items():
            if preemptor not in memory.preemptions and memory.stands(preemptor):
                memory.preemptions.start(preemptor, leaving, calling=False)
                memory.queue.units[preemptor].patient = True
        return [*actions, *self._withdraw_held(), *self._recover_gangs(now)]

    def _withdraw_held(self) -> list[Action]:
        """A unit that lost its quota while it waited for its victims sets no node aside."""
        memory = self._memory
        held = [unit for unit in memory.queue.units.values() if memory.waiting.is_held(unit.ref)]
        return [
            action
            for unit in held
            if unit.state is State.GATED
            for action in memory.withdraw(unit.ref, unit.pods)
        ]

    def _recover_gangs(self, now: float) -> list[Action]:
        """Conditions of gangs that an earlier scheduler did not get to write, and gangs that lack pods."""
        memory = self._memory
        actions: list[Action] = []
        for unit, group in list(memory.waiting.gangs()):
            if unit not in memory.binding:
                if not memory.waiting.once_complete(group):
                    actions += self._complete(unit)
                actions += memory.incomplete.over(unit)
                actions += self._stranded(unit, group, now)
        saved = (pod for pod in memory.incomplete.saved() if not memory.preemptions.includes(pod.key))
        return [*actions, *(Reprieve(pod, sentences.GANG_IS_COMPLETE) for pod in saved)]

    def _stranded(self, ref: Reference, group: PodGroup, now: float) -> list[Action]:
        """A gang bound in part whose missing pods do not exist, or may not be tried: no cycle sees it."""
        memory, unit = self._memory, self._memory.queue.units.get(ref)
        shortfall = memory.incomplete.shortfall(ref)
        if shortfall is None or ref in memory.preemptions:
            return []
        if unit is not None and unit.state is not State.GATED:
            return []
        why = unit.gate if unit is not None else sentences.MISSING_PODS_DO_NOT_EXIST
        text = sentences.lacks_pods_because(shortfall.sentence(memory.incomplete.timeout), why)
        due = memory.incomplete.due(ref, shortfall, now)
        if due is None or now < due:
            condition = status.group_condition(
                group, well_known.INCOMPLETE, "True", well_known.UNSCHEDULABLE, text
            )
            return [condition] if condition else []
        if unit is not None:
            unit.patient = True
            memory.queue.hold(unit)
        return memory.release(ref, shortfall, text)

    def _counted_on(
        self, found: dict[str, recovery.Marked], unfinished: recovery.Unfinished
    ) -> dict[Reference, dict[str, str]]:
        """For each preemptor the pods (and their UIDs) that it waits for, as if the preemption were ours.

        A victim names one preemptor, but others may wait for it, too. So a unit also waits for every pod that
        leaves a node it is nominated for: woken too early, it would take what is set aside for others.
        """
        memory = self._memory
        waited_for: dict[Reference, dict[str, str]] = {}
        leaving: dict[str, dict[str, str]] = {}
        for key, mark in found.items():
            if mark.going:
                waited_for.setdefault(mark.preemptor, {})[key] = mark.pod.uid
        for preemptor, pods in unfinished.finish.items():
            waited_for.setdefault(preemptor, {}).update((pod.key, pod.uid) for pod, _ in pods)
            for pod, node in pods:
                leaving.setdefault(node, {})[pod.key] = pod.uid
        for node, rows in memory.cluster.nominated.items():
            going = {key: memory.uid(key) for key in leaving_from(memory.cluster, node)}
            going |= leaving.get(node, {})
            for row in rows if going else ():
                waiting = memory.waiting.pods.get(memory.cluster.pods.keys[row])
                if waiting is not None:
                    waited_for.setdefault(unit_of(waiting), {}).update(going)
        return waited_for

    def _finish(self, preemptor: Reference, leaving: dict[str, str], victims: list[Evicted]) -> Preempt:
        memory = self._memory
        unit = memory.queue.units.get(preemptor)
        memory.preemptions.start(preemptor, leaving)
        if unit is not None:
            unit.patient = True
            memory.queue.hold(unit)
        who = memory.identified(preemptor)
        mark = marks.preemption(memory.name, who, unit.priority if unit else 0, sentences.FINISHING)
        return Preempt(preemptor, who, (), tuple(victims), mark)
