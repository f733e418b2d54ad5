"""Quota as it is or as it would be after some changes: what stands between one workload and its quota."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

from reprieve.config import Configuration
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.advice.scene import Views
from reprieve.explain.sentences import advice as sentences
from reprieve.objects import Reference, ReprieveError, Workload, format_time, namespace_labels, well_known
from reprieve.quota import (
    Assignment,
    Cause,
    Mode,
    QueueNode,
    Quota,
    Refusal,
    Rules,
    Value,
    WorkloadInfo,
    find_assignment,
    load,
    refusal,
)


class Own(Enum):
    """What keeps a workload from its queue that quota does not refuse: it does not see the workload."""

    INACTIVE = auto()
    HELD = auto()
    BACKOFF = auto()


class Hold(NamedTuple):
    """What keeps a workload from being tried, its values, and the sentence."""

    cause: Cause | Own
    message: str
    values: tuple[Value, ...] = ()


class QuotaScene:
    """The quota of a cluster, and one workload that waits for some."""

    def __init__(
        self, draft: Draft, unit: Reference, config: Configuration, now: datetime, views: Views
    ) -> None:
        self.draft = draft
        self.unit = unit
        self.config = config
        self.rules = Rules.of(config)
        self.now = now
        self._views = views

    def after(self, changes: Iterable[Change]) -> "QuotaScene":
        """The scene with the changes carried out."""
        draft = self.draft.fork()
        for change in changes:
            change.carry_out(draft)
        return QuotaScene(draft, self.unit, self.config, self.now, self._views)

    @cached_property
    def workload(self) -> Workload:
        for view in self._views.of([self.draft.find("Workload", self.unit.key) or {}]):
            if isinstance(view, Workload):
                return view
        raise ReprieveError(sentences.no_such_workload(self.unit.key))

    @cached_property
    def quota(self) -> Quota:
        """Without the workload itself."""
        views = self._views.of(self.draft.documents)
        others = (each for each in views if not (isinstance(each, Workload) and each.key == self.unit.key))
        return load(others, self.rules, self.now)

    @cached_property
    def queue_name(self) -> str:
        """The ClusterQueue of its LocalQueue; empty where there is none."""
        local = self.draft.find("LocalQueue", f"{self.unit.namespace}/{self.workload.spec.queue_name}")
        return str(((local or {}).get("spec") or {}).get("clusterQueue", ""))

    @property
    def queue(self) -> QueueNode:
        return self.quota.cache.queues[self.queue_name]

    @cached_property
    def info(self) -> WorkloadInfo:
        ranges = self.quota.limit_ranges(self.unit.namespace)
        devices = self.quota.devices_of(self.workload).requests
        return WorkloadInfo(self.workload, self.queue_name, self.rules, ranges, devices=devices)

    def holds(self) -> list[Hold]:
        """What keeps it from being tried at all: itself, its queue, what it asks for."""
        refusals = (Hold(each.cause, each.message, each.values) for each in self._refusals())
        return [*self._own_holds(), *refusals]

    def _refusals(self) -> Iterator[Refusal]:
        _, unqueued = self.quota.queue_of(self.workload)
        if unqueued is not None:
            yield unqueued
            return
        yield from self.quota.cache.inactive.get(self.queue_name, ())
        namespace = self.quota.namespaces.get(self.unit.namespace)
        if namespace is None:
            namespace = namespace_labels(self.unit.namespace)
        refused = refusal(self.workload, self.queue, namespace, self.quota.limit_ranges(self.unit.namespace))
        if refused is not None:
            yield refused
        elif problem := self.quota.devices_of(self.workload).problem:
            yield Refusal(Cause.DEVICES_UNCOUNTABLE, (problem,))

    def _own_holds(self) -> Iterator[Hold]:
        workload = self.workload
        if not workload.spec.active:
            yield Hold(Own.INACTIVE, sentences.DEACTIVATED)
        by = workload.metadata.annotations.get(well_known.ADMISSION_GATED_BY_ANNOTATION)
        if by and self.rules.admission_gated_by:
            yield Hold(Own.HELD, by)
        state = workload.status.requeue_state
        if state is not None and state.requeue_at is not None and state.requeue_at > self.now:
            yield Hold(Own.BACKOFF, format_time(state.requeue_at))

    @cached_property
    def assignment(self) -> tuple[Assignment, int]:
        """Flavors for it, and how many workloads it would preempt for them."""
        found, victims = find_assignment(self.quota, self.info, self.queue)
        return found, len(victims)

    @property
    def gated(self) -> bool:
        """It could preempt, but for its gate."""
        found, victims = self.assignment
        return bool(found.mode == Mode.PREEMPT and victims and self.info.gate_closed)

    @property
    def works(self) -> bool:
        """It gets quota, at once or by preemption."""
        if self.holds():
            return False
        found, victims = self.assignment
        return found.mode == Mode.FIT or (found.mode == Mode.PREEMPT and bool(victims) and not self.gated)

    @property
    def fits(self) -> bool:
        return not self.holds() and self.assignment[0].mode == Mode.FIT

    def victims(self) -> list[str]:
        return sorted(victim.info.key for victim in find_assignment(self.quota, self.info, self.queue)[1])
