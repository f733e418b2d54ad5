"""Each change of an object, carried into the cluster, the waiting pods and the queue.

A change wakes only the units it can help (`wakeups`); most changes help none.
"""

from collections.abc import Collection, Iterable
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
    selecting,
    storage,
    well_known,
)
from reprieve.scheduler import changes, marks, recovery, status, trees, wakeups
from reprieve.scheduler.memory import Memory
from reprieve.scheduler.queue import State
from reprieve.scheduler.returns import who
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
        if isinstance(new, selecting.SELECTING_KINDS):
            self._selects(type, new)
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

    def observe_all(self, objects: Iterable[Any], now: float) -> None:
        """Objects that are new, as a list brings them: the same as `observe` for one after the other.

        Most of a long list are pods that run by themselves: the cluster takes them in together.
        """
        running: list[Pod] = []
        for each in objects:
            if isinstance(each, Pod) and self._only_runs(each):
                running.append(each)
                continue
            if running:
                self._run(running, now)
                running = []
            self.observe("ADDED", None, each, now)
        self._run(running, now)

    def _only_runs(self, pod: Pod) -> bool:
        """Whether a new pod changes nothing but what is free: nobody waits for it or is woken by it."""
        spec = pod.spec
        return (
            bool(spec.node_name)
            and spec.scheduling_group is None
            and spec.workload_ref is None
            and pod.status.phase not in well_known.TERMINAL_PHASES
            and well_known.MIN_RUNTIME_ANNOTATION not in pod.metadata.annotations
            and not self._queue.has_resting
        )

    def _run(self, pods: list[Pod], now: float) -> None:
        memory = self._memory
        memory.epoch += len(pods)
        self._cluster.set_all(pods)
        for pod in pods:
            if pod.status.conditions:
                self._note_mark(pod, pod.key, gone=False)
            if memory.headroom.on:
                memory.headroom.look(pod.key, now)
            if memory.returns.on:
                self._note_preempted(None, pod, now)
            if memory.holds.on:
                memory.look_again(self._seen(pod, gone=False), now)

    def _pod(self, type: str, old: Pod | None, pod: Pod, now: float) -> None:
        gone = type == "DELETED" or pod.status.phase in well_known.TERMINAL_PHASES
        if old is not None and not gone and changes.same(old, pod):
            self._only_status(old, pod)
            return
        self._memory.epoch += 1
        key = pod.key
        left = self._class_on_node(key)
        if type == "DELETED":
            self._cluster.remove(Pod, key)
        else:
            self._cluster.set(pod)
        self._note_mark(pod, key, gone)
        if self._memory.headroom.on:
            self._memory.headroom.look(key, now)
        if self._memory.returns.on:
            self._note_preempted(old, pod, now)
        if pod.spec.scheduling_group is not None:
            self._note_divergence(pod, gone)
        again = self._seen(pod, gone) if self._memory.holds.on else ()
        if gone:
            self._gone(pod, left, now)
        elif self._waiting.ours(pod):
            self._waits(old, pod, now)
        else:
            self._placed(old, pod, left, now)
        if again:
            self._memory.look_again(again, now)

    def _seen(self, pod: Pod, gone: bool) -> set[str]:
        return self._memory.holds.see_pod(pod, gone or pod.metadata.deletion_timestamp is not None)

    def _only_status(self, old: Pod, pod: Pod) -> None:
        """Only its status changed, in parts that no decision reads; a mark is noted for recovery."""
        if pod.key in self._waiting.pods:
            self._waiting.pods[pod.key] = pod
        elif old.status.conditions != pod.status.conditions:
            self._note_mark(pod, pod.key, gone=False)

    def _waits(self, old: Pod | None, pod: Pod, now: float) -> None:
        unit = unit_of(pod)
        self._waiting.put(pod)
        if self._memory.holds.on:
            self._memory.hold(pod.key)
        self._memory.nominations.reconcile(pod)
        self._memory.refresh(unit, now)
        if old is not None:
            made = old.status.resource_claim_statuses != pod.status.resource_claim_statuses
            if made or old.spec != pod.spec or old.metadata.labels != pod.metadata.labels:
                self._queue.wake_unit(unit, now)
        elif pod.spec.workload_ref is not None:
            self._memory.unread[Reference.to(pod)] = status.old_link(Reference.to(pod))
        elif pod.spec.scheduling_group is not None:
            # A group that was refused may be placed with one more pod; until then the pod says why it waits.
            self._memory.untold.setdefault(unit, now)
            self._queue.wake_unit(unit, now)

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
        if old is not None and changes.protection(old) != changes.protection(pod):
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
        return None if row is None or self._cluster.pods.node.item(row) < 0 else self._cluster.class_of(row)

    def _note_mark(self, pod: Pod, key: str, gone: bool) -> None:
        if pod.spec.scheduling_group is not None:
            self._memory.incomplete.observe(pod, gone)
        mark = None if gone else recovery.marked(pod, self._memory.names)
        if mark is not None:
            self._memory.marked[key] = mark
        elif self._memory.marked:
            self._memory.marked.pop(key, None)

    def _note_preempted(self, old: Pod | None, pod: Pod, now: float) -> None:
        """A pod that one of our schedulers preempted begins to leave: its unit comes back after a pause."""
        if pod.metadata.deletion_timestamp is None:
            return
        if old is None or old.metadata.deletion_timestamp is None:
            origin = marks.read(pod)
            if origin is not None and origin.scheduler in self._memory.names:
                self._memory.returns.preempted(who(pod), now)

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

    def _selects(self, type: str, obj: selecting.Service | selecting.Controller) -> None:
        """It changes where pods go and never whether they can: nothing is woken."""
        if type == "DELETED":
            self._cluster.remove(obj.__class__, obj.key)
        else:
            self._cluster.set(obj)

    # --- everything else ------------------------------------------------------------------------------------

    def _group(self, type: str, old: PodGroup | None, group: PodGroup, now: float) -> None:
        unit = Reference("PodGroup", group.namespace, group.name)
        if type == "DELETED":
            self._waiting.forget_group(group)
        if self._memory.holds.on and self._memory.holds.see_group(group, type == "DELETED"):
            self._memory.look_again(self._waiting.free(unit), now)
        self._memory.refresh(unit, now)
        if type != "DELETED" and (old is None or old.spec != group.spec) and self._memory.is_ours(unit):
            self._memory.diverging[unit] = None
        if old is None or old.spec != group.spec:
            self._queue.wake_unit(unit, now)
        kept = old is None or changes.group_protection(old) == changes.group_protection(group)
        if type == "DELETED" or not kept:
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
