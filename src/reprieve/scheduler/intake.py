"""Each change of an object, carried into the cluster, the waiting pods and the queue.

A change wakes only the units it can help (`wakeups`); most changes help none.
"""

from collections.abc import Collection
from typing import Any

from reprieve.cluster import PodClass
from reprieve.objects import (
    CompositePodGroup,
    JobOwner,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    Reference,
    Workload,
    devices,
    find_condition,
    scheduling,
    storage,
    well_known,
)
from reprieve.scheduler import recovery, status, trees, wakeups
from reprieve.scheduler.memory import Memory
from reprieve.scheduler.queue import State
from reprieve.scheduler.waiting import unit_of


class Intake:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._cluster = memory.cluster
        self._waiting = memory.waiting
        self._queue = memory.queue

    def observe(self, type: str, old: Any, new: Any, now: float) -> None:
        if isinstance(new, Pod):
            as_scheduled = self._waiting.as_scheduled
            pod = as_scheduled(new)
            self._pod(type, None if old is None else as_scheduled(old), pod, now)
            if type == "ADDED" and len(pod.metadata.annotations) < len(new.metadata.annotations):
                ref = Reference.to(new)
                self._memory.unread[ref] = status.annotation_ignored(ref, new.metadata.annotations)
            return
        if isinstance(new, scheduling.Workload):
            self._templates(new, type == "DELETED", now)
            return
        if isinstance(new, JobOwner | Workload):
            self._owner(type, new, now)
            return
        self._memory.epoch += 1
        if isinstance(new, devices.ResourceClaim):
            self._cluster.devices.saw(new)
        if isinstance(new, PodGroup):
            self._memory.templates.see_group(new, type == "DELETED")
            old = None if old is None else self._memory.templates.complete(old)
            new = self._memory.templates.complete(new)
        before = trees.below(self._cluster, new) if isinstance(new, CompositePodGroup) else []
        if type == "DELETED":
            self._cluster.remove(new.__class__, new.key)
        else:
            self._cluster.set(self._waiting.in_this_life(new) if isinstance(new, PodGroup) else new)
        if isinstance(new, Node):
            if type == "DELETED" or wakeups.node_matters(old, new):
                self._queue.wake(lambda unit: wakeups.node_changed(self._cluster, unit, new.name), now)
                self._memory.retry_broken_nominations(new.name)
        elif isinstance(new, PodGroup):
            self._group(type, old, new, now)
        elif isinstance(new, CompositePodGroup):
            self._composite(type, old, new, before, now)
        elif isinstance(new, devices.DEVICE_KINDS):
            self._queue.wake(lambda unit: wakeups.devices_changed(self._cluster, unit), now)
        elif isinstance(new, storage.STORAGE_KINDS):
            if wakeups.storage_matters(type, old, new):
                self._queue.wake(lambda unit: wakeups.storage_changed(self._cluster, unit, new), now)
        elif not isinstance(new, PodDisruptionBudget):
            # A budget changes which victims are chosen, not whether there are any.
            self._wake_all(now)

    # --- pods -----------------------------------------------------------------------------------------------

    def _pod(self, type: str, old: Pod | None, pod: Pod, now: float) -> None:
        gone = type == "DELETED" or pod.status.phase in well_known.TERMINAL_PHASES
        if old is not None and not gone and _same(old, pod):
            self._only_status(old, pod)
            return
        self._memory.epoch += 1
        left = self._class_on_node(pod.key)
        if type == "DELETED":
            self._cluster.remove(Pod, pod.key)
        else:
            self._cluster.set(pod)
        self._note_mark(pod, gone)
        if pod.spec.scheduling_group is not None:
            self._note_divergence(pod, gone)
        owners = self._seen(pod, gone) if self._memory.holds.on else None
        if gone:
            self._gone(pod, left, now)
        elif self._waiting.ours(pod):
            self._waits(old, pod, now)
        else:
            self._placed(old, pod, left, now)
        if owners:
            self._memory.hold_pods(owners, now)

    def _seen(self, pod: Pod, gone: bool) -> set[str]:
        return self._memory.holds.see_pod(pod, gone or pod.metadata.deletion_timestamp is not None)

    def _only_status(self, old: Pod, pod: Pod) -> None:
        """Only its status changed, in parts that no decision reads; a mark is noted for recovery."""
        if pod.key in self._waiting.pods:
            self._waiting.pods[pod.key] = pod
        elif old.status.conditions != pod.status.conditions:
            self._note_mark(pod, gone=False)

    def _waits(self, old: Pod | None, pod: Pod, now: float) -> None:
        self._waiting.put(pod)
        if self._memory.holds.on:
            self._memory.hold(pod.key)
        self._memory.nominations.reconcile(pod)
        self._memory.refresh(unit_of(pod), now)
        if old is not None:
            made = old.status.resource_claim_statuses != pod.status.resource_claim_statuses
            if made or old.spec != pod.spec or old.metadata.labels != pod.metadata.labels:
                self._queue.wake_unit(unit_of(pod), now)
        elif pod.spec.workload_ref is not None:
            self._memory.unread[Reference.to(pod)] = status.old_link(Reference.to(pod))
        elif pod.spec.scheduling_group is not None:
            # A group that was refused may be placed with one more pod; until then the pod says why it waits.
            self._memory.untold.setdefault(unit_of(pod), now)
            self._queue.wake_unit(unit_of(pod), now)

    def _placed(self, old: Pod | None, pod: Pod, left: PodClass | None, now: float) -> None:
        """The pod is on a node, being deleted, or another scheduler's."""
        self._stop_waiting(pod.key, now)
        if pod.spec.scheduling_group is not None:
            self._memory.refresh(unit_of(pod), now)
        if not pod.spec.node_name or not self._queue.has_resting:
            return
        if (
            left is None
            or old is None
            or not old.spec.node_name
            or old.metadata.labels != pod.metadata.labels
        ):
            self._queue.wake(lambda unit: wakeups.pod_came(self._cluster, unit), now)
        elif old.spec != pod.spec:
            self._queue.wake(
                lambda unit: wakeups.pod_left(self._cluster, unit, pod.spec.node_name, left), now
            )
        if old is not None and _protection(old) != _protection(pod):
            self._wake_for([self._cluster.pods.row_of[pod.key]], now)

    def _wake_for(self, rows: Collection[int], now: float) -> None:
        """These pods may have lost what protected them."""
        self._queue.wake(lambda unit: wakeups.may_be_taken(self._cluster, unit, rows), now)

    def _gone(self, pod: Pod, left: PodClass | None, now: float) -> None:
        waited = self._stop_waiting(pod.key, now)
        preemptions = self._memory.preemptions
        for through in preemptions.ended(pod.key, pod.metadata.uid):
            unit = self._queue.units.get(through.unit)
            if unit is not None:
                unit.patient = False
                self._memory.settle(unit, now)
        if left is not None:
            self._queue.wake(
                lambda unit: (
                    not preemptions.waits_for(unit.ref, pod.key)
                    and wakeups.pod_left(self._cluster, unit, pod.spec.node_name, left)
                ),
                now,
            )
        elif waited is not None and waited.status.nominated_node_name:
            self._queue.wake(lambda unit: unit.priority <= (waited.spec.priority or 0), now)
        if pod.spec.scheduling_group is not None:
            self._memory.refresh(unit_of(pod), now)

    def _stop_waiting(self, key: str, now: float) -> Pod | None:
        pod = self._waiting.drop(key)
        if pod is not None:
            self._memory.nominations.forget(key)
            self._memory.refresh(unit_of(pod), now)
        return pod

    def _class_on_node(self, key: str) -> PodClass | None:
        row = self._cluster.pods.row_of.get(key)
        return None if row is None or self._cluster.pods.node[row] < 0 else self._cluster.class_of(row)

    def _note_mark(self, pod: Pod, gone: bool) -> None:
        if pod.spec.scheduling_group is not None:
            self._memory.incomplete.observe(pod, gone)
        mark = None if gone else recovery.marked(pod, self._memory.names)
        if mark is None:
            self._memory.marked.pop(pod.key, None)
        else:
            self._memory.marked[pod.key] = mark

    def _note_divergence(self, pod: Pod, gone: bool) -> None:
        """A member came, changed or left: whether its group has to be looked at."""
        unit, cluster = unit_of(pod), self._cluster
        group = self._waiting.group(unit)
        if group is None or not self._memory.is_ours(unit, pod):
            return
        row = cluster.pods.row_of.get(pod.key)
        differs = (
            row is not None
            and not gone
            and (
                int(cluster.pods.own_priority[row])
                != int(cluster.groups.priority[cluster.groups.number_of[unit.key]])
            )
        )
        known = find_condition(group.status.conditions, well_known.PODS_NOT_MATCHING_PRIORITY)
        untrue = known is not None and known.status == "True"
        if differs or untrue or self._memory.templates.contradiction(unit.key):
            self._memory.diverging[unit] = None

    # --- everything else ------------------------------------------------------------------------------------

    def _group(self, type: str, old: PodGroup | None, group: PodGroup, now: float) -> None:
        unit = Reference("PodGroup", group.namespace, group.name)
        if type == "DELETED":
            self._waiting.forget_group(group)
        if self._memory.holds.on:
            self._memory.hold_pods(self._memory.holds.see_group(group, type == "DELETED"), now)
        self._memory.refresh(unit, now)
        if type != "DELETED" and (old is None or old.spec != group.spec) and self._memory.is_ours(unit):
            self._memory.diverging[unit] = None
        if old is None or old.spec != group.spec or type == "DELETED":
            self._queue.wake_unit(unit, now)
        if type == "DELETED" or (old is not None and _group_protection(old) != _group_protection(group)):
            number = self._cluster.groups.number_of.get(group.key)
            self._wake_for(() if number is None else tuple(self._cluster.groups.members[number]), now)

    def _templates(self, workload: scheduling.Workload, gone: bool, now: float) -> None:
        """A Workload came, changed or went: what its templates give to groups may have changed."""
        for stored in self._memory.templates.see_workload(workload, gone):
            group = self._memory.templates.complete(stored)
            before = self._cluster.groups.get(group.key)
            if before is None or before.spec != group.spec:
                self._memory.epoch += 1
                self._cluster.set(self._waiting.in_this_life(group))
                self._group("MODIFIED", before, group, now)
            elif self._memory.is_ours(Reference.to(group)):
                self._memory.diverging[Reference("PodGroup", group.namespace, group.name)] = None

    def _composite(
        self,
        type: str,
        old: CompositePodGroup | None,
        group: CompositePodGroup,
        before: list[Reference],
        now: float,
    ) -> None:
        """Whether a tree is complete, and what it needs, decides about all groups in it."""
        if old is not None and old.spec == group.spec and type != "DELETED":
            return
        rows: list[int] = []
        for unit in dict.fromkeys([*before, *trees.below(self._cluster, group)]):
            self._memory.refresh(unit, now)
            self._queue.wake_unit(unit, now)
            number = self._cluster.groups.number_of.get(unit.key)
            rows += () if number is None else self._cluster.groups.members[number]
        self._wake_for(tuple(dict.fromkeys(rows)), now)

    def _owner(self, type: str, owner: JobOwner | Workload, now: float) -> None:
        """A Job, or the Workload of a Job or PodGroup: their pods may wait for quota."""
        holds, gone = self._memory.holds, type == "DELETED"
        if isinstance(owner, JobOwner):
            owners = holds.see_job(owner, gone)
        else:
            owners = holds.see_workload(owner, gone)
        self._memory.hold_pods(owners, now)

    def _wake_all(self, now: float) -> None:
        """Priority classes and namespaces change rarely and may matter to any unit."""
        for unit in list(self._queue.units.values()):
            if unit.state is not State.IN_FLIGHT:
                self._memory.refresh(unit.ref, now)
                self._queue.wake_unit(unit.ref, now)


def _protection(pod: Pod) -> tuple[object, ...]:
    """What decides, besides its priority, whether a running pod may be a victim."""
    notes = pod.metadata.annotations
    return (
        pod.status.start_time,
        notes.get(well_known.PREEMPTION_CLASS_ANNOTATION),
        notes.get(well_known.MIN_RUNTIME_ANNOTATION),
        notes.get(well_known.DISRUPTION_ROLE_ANNOTATION),
        pod.spec.scheduling_group,
    )


def _group_protection(group: PodGroup) -> tuple[object, ...]:
    note = group.metadata.annotations.get(well_known.PREEMPTION_CLASS_ANNOTATION)
    return group.spec, note


_UNREAD = frozenset(
    {well_known.POD_SCHEDULED, "Initialized", "Ready", "ContainersReady", "PodReadyToStartContainers"}
)
"""Conditions of a pod that no decision reads."""
_UNREAD_WHILE_IT_STAYS = _UNREAD | {well_known.DISRUPTION_TARGET}


def _same(old: Pod, new: Pod) -> bool:
    """Whether nothing changed that a decision reads; what changes in every pod's life comes first."""
    return (
        old.spec.node_name == new.spec.node_name
        and old.status.start_time == new.status.start_time
        and old.spec == new.spec
        and old.metadata.labels == new.metadata.labels
        and _annotations(old) == _annotations(new)
        and (old.metadata.deletion_timestamp is None) == (new.metadata.deletion_timestamp is None)
        and old.metadata.uid == new.metadata.uid
        and old.metadata.owner_references == new.metadata.owner_references
        and (old.status == new.status or _read_status(old) == _read_status(new))
    )


def _annotations(pod: Pod) -> dict[str, str]:
    """Without that of a mark, which comes and goes with the mark's condition."""
    found = pod.metadata.annotations
    if well_known.EVICTED_FOR_ANNOTATION not in found:
        return found
    return {name: text for name, text in found.items() if name != well_known.EVICTED_FOR_ANNOTATION}


def _read_status(pod: Pod) -> tuple[object, ...]:
    """What decisions read of its status. A mark matters only once the pod is on its way out."""
    status = pod.status
    unread = _UNREAD if pod.metadata.deletion_timestamp is not None else _UNREAD_WHILE_IT_STAYS
    return (
        status.resource_claim_statuses,
        status.phase in well_known.TERMINAL_PHASES,
        status.start_time,
        status.nominated_node_name,
        status.container_statuses,
        status.init_container_statuses,
        [each for each in status.conditions if each.type not in unread],
    )
