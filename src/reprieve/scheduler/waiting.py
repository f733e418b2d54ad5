"""The waiting pods of our schedulers: the unit each belongs to, and why a unit may not be tried yet.

Reads the cluster, never changes it.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from reprieve.cluster import NOWHERE, Cluster
from reprieve.config import Configuration
from reprieve.objects import (
    Pod,
    PodGroup,
    PodGroupStatus,
    Reference,
    find_condition,
    is_run_time,
    well_known,
)
from reprieve.scheduler import sentences


def unit_of(pod: Pod) -> Reference:
    """What a decision is about: the pod's group, or the pod by itself."""
    link, meta = pod.spec.scheduling_group, pod.metadata
    if link is not None and link.pod_group_name:
        return Reference("PodGroup", meta.namespace, link.pod_group_name)
    return Reference("Pod", meta.namespace, meta.name)


class Gate(NamedTuple):
    """Why a unit may not be tried yet: the reason of its pods' conditions, and a sentence for people."""

    reason: str
    text: str
    steady: str = ""
    """For the pods of a group: the sentence without what changes with each pod that comes."""


class WaitingPods:
    def __init__(self, cluster: Cluster, scheduler_names: Collection[str], config: Configuration) -> None:
        self._cluster = cluster
        self._names = scheduler_names
        self._groups = config.gate("GenericWorkload")
        self._gangs = config.gate("GangScheduling")
        self.pods: dict[str, Pod] = {}
        self._free: dict[Reference, dict[str, None]] = {}
        """The pods of each unit that are not being bound."""
        self._gated: dict[Reference, dict[str, None]] = {}
        """The pods of each unit that have scheduling gates."""
        self._held: dict[Reference, dict[str, str]] = {}
        """The pods of each unit that wait for quota, and why (`holds`)."""
        self._completed: set[str] = set()
        """UIDs of groups that were complete once, before their condition shows it."""
        self._lapsed: set[str] = set()
        """UIDs of groups that were complete and have lost every pod, before their condition shows it."""

    def as_scheduled(self, pod: Pod) -> Pod:
        """The pod as it is scheduled: on its own where groups are turned off, without what makes no sense."""
        if well_known.MIN_RUNTIME_ANNOTATION in pod.metadata.annotations:
            pod = _readable(pod)
        if self._groups or (pod.spec.scheduling_group is None and pod.spec.workload_ref is None):
            return pod
        alone = msgspec.structs.replace(pod.spec, scheduling_group=None, workload_ref=None)
        return msgspec.structs.replace(pod, spec=alone)

    def ours(self, pod: Pod) -> bool:
        """Whether it waits for one of our schedulers."""
        return (
            not pod.spec.node_name
            and pod.spec.scheduler_name in self._names
            and pod.metadata.deletion_timestamp is None
            and pod.status.phase not in well_known.TERMINAL_PHASES
        )

    def put(self, pod: Pod) -> None:
        """Add or update a waiting pod. One that is being bound stays so."""
        key, unit = pod.key, unit_of(pod)
        known = self.pods.get(key)
        if known is not None and (unit_of(known) != unit or known.metadata.uid != pod.metadata.uid):
            self.drop(key)
            known = None
        self.pods[key] = pod
        if known is None:
            self._free.setdefault(unit, {})[key] = None
        if pod.spec.scheduling_gates:
            self._gated.setdefault(unit, {})[key] = None
        elif self._gated:
            self._gated.get(unit, {}).pop(key, None)

    def drop(self, key: str) -> Pod | None:
        """It does not wait any more."""
        pod = self.pods.pop(key, None)
        if pod is not None:
            unit = unit_of(pod)
            for index in (self._free, self._gated, self._held):
                members: dict[str, Any] | None = index.get(unit) if index else None
                if members is not None:
                    members.pop(key, None)
                    if not members:
                        del index[unit]
        return pod

    def hold(self, key: str, why: str) -> bool:
        """A waiting pod may not be placed, or may be again when `why` is empty; whether that is news."""
        unit = unit_of(self.pods[key])
        held = self._held.setdefault(unit, {})
        news = held.get(key, "") != why
        if why:
            held[key] = why
        else:
            held.pop(key, None)
            if not held:
                del self._held[unit]
        return news

    def is_held(self, unit: Reference) -> bool:
        """Whether a pod of the unit waits for quota."""
        return unit in self._held

    def take(self, key: str) -> None:
        """It is being bound: no cycle sees it until it is given back."""
        self._free[unit_of(self.pods[key])].pop(key, None)

    def give_back(self, key: str) -> None:
        self._free.setdefault(unit_of(self.pods[key]), {})[key] = None

    def free(self, unit: Reference) -> dict[str, None]:
        """Pods of a unit that wait and are not being bound; do not change it."""
        return self._free.get(unit, {})

    def since(self, unit: Reference, now: float) -> float:
        """When the unit's first pod was created: the same before and after a restart."""
        return min([_age(self.pods[key]) or now for key in self.free(unit)], default=now)

    def group(self, unit: Reference) -> PodGroup | None:
        return self._cluster.groups.get(unit.key) if unit.kind == "PodGroup" else None

    def priority(self, unit: Reference) -> int:
        if unit.kind == "Pod":
            return self._cluster.pods.priority.item(self._cluster.pods.row_of[unit.key])
        groups = self._cluster.groups
        number = groups.number_of.get(unit.key)
        return 0 if number is None or not groups.exists[number] else groups.ruling_priority(number)

    def known(self, unit: Reference) -> int:
        """Pods of a group that count towards its minimum: waiting, assumed, bound and done."""
        return len(self._members(unit)) + self.ended(unit)

    def ended(self, unit: Reference) -> int:
        """Pods of a group that have ended and count all the same (`GroupTable.ended`)."""
        groups = self._cluster.groups
        number = groups.number_of.get(unit.key) if unit.kind == "PodGroup" else None
        return 0 if number is None else groups.ended(number, self.placed(unit))

    def is_unfinished(self, unit: Reference) -> bool:
        """A gang of which some pods have a node, but too few."""
        group = self.group(unit)
        if not self._gangs or group is None or not group.is_gang:
            return False
        placed = self.placed(unit)
        return 0 < placed < group.min_count - self.ended(unit)

    def placed(self, unit: Reference) -> int:
        """Pods of a group that have a node, or are about to."""
        return sum(1 for row in self._members(unit) if self._cluster.pods.node[row] >= 0)

    def staying(self, unit: Reference) -> list[str]:
        """Pods of a group that are bound, or about to be, and not on their way out."""
        pods = self._cluster.pods
        rows = (row for row in self._members(unit) if pods.node[row] != NOWHERE and not pods.terminating[row])
        return sorted(pods.keys[row] for row in rows)

    def _stays(self, unit: Reference) -> bool:
        """Whether any pod of a group is on a node, or about to be, and not on its way out."""
        pods = self._cluster.pods
        return any(pods.node[row] != NOWHERE and not pods.terminating[row] for row in self._members(unit))

    def once_complete(self, group: PodGroup) -> bool:
        """Whether all of the gang was placed at some time. Losing pods later does not change that; losing
        all of them does: pods made anew are a new gang."""
        return group.metadata.uid in self._completed or _reported(group)

    def forget_group(self, group: PodGroup) -> None:
        self._completed.discard(group.metadata.uid)
        self._lapsed.discard(group.metadata.uid)

    def in_this_life(self, group: PodGroup) -> PodGroup:
        """The group as it is now, whatever its condition still says about pods that are gone."""
        if group.metadata.uid not in self._lapsed:
            return group
        if not _reported(group):
            self._lapsed.discard(group.metadata.uid)
            return group
        kept = tuple(c for c in group.status.conditions if c.type != well_known.POD_GROUP_SCHEDULED)
        return msgspec.structs.replace(group, status=PodGroupStatus(conditions=kept))

    def lapse(self, unit: Reference) -> PodGroup | None:
        """The group, if it was complete and none of its pods is left on a node: it starts over."""
        group = self.group(unit)
        if group is None or not self.once_complete(group) or self._stays(unit) or self.ended(unit):
            return None
        if not self._members(unit):
            return None  # it is over, or its controller has not made new pods yet
        self._completed.discard(group.metadata.uid)
        self._lapsed.add(group.metadata.uid)
        return group

    def gangs(self) -> Iterator[tuple[Reference, PodGroup]]:
        """The gangs whose pods are ours, by unit."""
        groups, info = self._cluster.groups, self._cluster.pods.info
        for group, rows in zip(groups.objects, groups.members, strict=True):
            if not self._gangs or group is None or not group.is_gang or not rows:
                continue
            if info[next(iter(rows))].scheduler in self._names:
                yield Reference("PodGroup", group.namespace, group.name), group

    def note_complete(self, group: PodGroup) -> None:
        self._completed.add(group.metadata.uid)
        self._lapsed.discard(group.metadata.uid)

    def _members(self, unit: Reference) -> Collection[int]:
        number = self._cluster.groups.number_of.get(unit.key)
        return () if number is None else self._cluster.groups.members[number]

    def gate(self, unit: Reference) -> Gate | None:
        """Why the unit may not be tried yet; None when it may.

        1. A pod of it has scheduling gates.
        2. A pod of it waits for quota.
        3. Its group has not been seen, or is named as nobody reads it any more.
        4. Fewer pods exist than the group needs at once.
        5. It never was complete, and pods of it are on their way out: their nodes must be free again first.
        """
        about_group = well_known.WAITING_FOR_POD_GROUP
        if gated := self._gated.get(unit):
            first = min(gated)
            gates = [gate.name for gate in self.pods[first].spec.scheduling_gates]
            return Gate(about_group, sentences.has_scheduling_gates(first, gates))
        if held := self._held.get(unit):
            return Gate(well_known.WAITING_FOR_QUOTA, held[min(held)])
        if unit.kind != "PodGroup":
            pod = self.pods.get(unit.key)
            if pod is None or pod.spec.workload_ref is None:
                return None
            return Gate(about_group, sentences.OLD_LINK)
        group = self.group(unit)
        if group is None:
            return Gate(about_group, sentences.waits_for_group(unit.key))
        if not self._gangs or not group.is_gang:
            return None
        known = self.known(unit)
        if known < group.min_count:
            text = sentences.waits_for_pods(known, group.min_count)
            return Gate(about_group, text, sentences.needs_pods(group.min_count))
        leaving = 0 if self.once_complete(group) else self._leaving(unit)
        if leaving:
            text = sentences.waits_for_leaving_pods(leaving)
            return Gate(about_group, text, sentences.FORMER_PODS_LEAVE)
        return None

    def _leaving(self, unit: Reference) -> int:
        pods = self._cluster.pods
        return sum(1 for row in self._members(unit) if pods.terminating[row] and pods.node[row] != NOWHERE)

    def misfits(self, unit: Reference, scheduler: str) -> tuple[list[str], list[str]]:
        """Pods of a group with another scheduler, and pods with another priority than the group's."""
        number = self._cluster.groups.number_of.get(unit.key) if unit.kind == "PodGroup" else None
        if number is None:
            return [], []
        pods = self._cluster.pods
        groups = self._cluster.groups
        wanted = groups.ruling_priority(number) if groups.exists[number] else int(groups.priority[number])
        rows = list(self._cluster.groups.members[number])
        strangers = sorted(pods.keys[row] for row in rows if pods.info[row].scheduler != scheduler)
        unequal = sorted(pods.keys[row] for row in rows if int(pods.own_priority[row]) != wanted)
        return strangers, unequal


def _readable(pod: Pod) -> Pod:
    """Without a minimum run time that is none: a pod must not go uncounted because of it."""
    notes = pod.metadata.annotations
    if is_run_time(notes[well_known.MIN_RUNTIME_ANNOTATION]):
        return pod
    kept = {name: text for name, text in notes.items() if name != well_known.MIN_RUNTIME_ANNOTATION}
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, annotations=kept))


def _reported(group: PodGroup) -> bool:
    found = find_condition(group.status.conditions, well_known.POD_GROUP_SCHEDULED)
    return found is not None and found.status == "True"


def _age(pod: Pod) -> float:
    created = pod.metadata.creation_timestamp
    return 0.0 if created is None else created.timestamp()


def instant(now: float) -> datetime:
    return datetime.fromtimestamp(now, UTC)
