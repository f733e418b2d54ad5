"""The pods as columns: where each pod is, what it counts for, and the few facts that are not numbers.

A pod keeps its row for as long as it exists. Typed objects are not kept: a row costs a few hundred bytes.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import numpy as np

from reprieve.cluster.columns import NOWHERE, Ints, Mask, Rows, grown
from reprieve.objects import (
    InvalidObject,
    Pod,
    PodResourceClaim,
    TimeError,
    find_condition,
    parse_duration,
    parse_time,
    well_known,
)

NOT_STARTED = 2**62
"""The start time of a pod that has none: later than any other."""

LEADER = "leader"
"""The disruption role of a pod that is not to go before the others of its group."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PodClaims(NamedTuple):
    """The ResourceClaims that a pod names."""

    named: tuple[PodResourceClaim, ...]
    made: dict[str, str | None]
    """Claims that were made from templates, by the pod's name for them; None: deliberately none."""


class PodInfo(msgspec.Struct, frozen=True, gc=False):
    """Facts about a pod that only some decisions read."""

    uid: str = ""
    never_preempts: bool = False
    gated: bool = False
    scheduler: str = ""
    node_name: str = ""
    nominated_node: str = ""
    annotations: Mapping[str, str] = MappingProxyType({})
    claims: PodClaims | None = None
    """None for most pods: they name none."""


_UNKNOWN = PodInfo()


def ticks(instant: datetime | None) -> int:
    """Microseconds since 1970; `NOT_STARTED` for None."""
    if instant is None:
        return NOT_STARTED
    since = instant - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _all_ticks(instants: list[datetime | None]) -> Ints:
    """The same for many at once."""
    since = [(instant or _EPOCH) - _EPOCH for instant in instants]
    days = np.fromiter([each.days for each in since], np.int64, len(since))
    seconds = np.fromiter([each.seconds for each in since], np.int64, len(since))
    found = (days * 86_400 + seconds) * 1_000_000
    if any(parts := [each.microseconds for each in since]):
        found += parts
    found[[at for at, instant in enumerate(instants) if instant is None]] = NOT_STARTED
    return found


class PodTable:
    def __init__(self) -> None:
        self.row_of: dict[str, int] = {}
        self.keys: list[str] = []
        self.info: list[PodInfo] = []
        self.node: Rows = np.full(0, NOWHERE, dtype=np.int32)
        self.cls: Rows = np.zeros(0, dtype=np.int32)
        self.group: Rows = np.full(0, -1, dtype=np.int32)
        self.priority: Ints = np.zeros(0, dtype=np.int64)
        """The one that counts: its own, or its group's where groups rule (`Cluster.let_groups_rule`)."""
        self.own_priority: Ints = np.zeros(0, dtype=np.int64)
        self.preemption_class: Rows = np.full(0, -1, dtype=np.int32)
        """Number of the priority class whose value it counts for as a victim, -1 for none."""
        self.start: Ints = np.zeros(0, dtype=np.int64)
        self.checkpoint: Ints = np.zeros(0, dtype=np.int64)
        """When its work was last saved (`reprieve.dev/checkpointed-at`); 0 for most pods."""
        self.leader: Mask = np.zeros(0, dtype=np.bool_)
        """Marked as the leader of its group (`reprieve.dev/disruption-role`)."""
        self.min_runtime_end: Ints = np.zeros(0, dtype=np.int64)
        """Until then it cannot be a victim (`reprieve.dev/min-runtime`); 0 for most pods."""
        self.sequence: Ints = np.zeros(0, dtype=np.int64)
        self.terminating: Mask = np.zeros(0, dtype=np.bool_)
        self.preempted: Mask = np.zeros(0, dtype=np.bool_)
        """Terminating because a scheduler preempted it."""
        self.noted: dict[int, None] = {}
        """Rows of the few pods with annotations of ours."""
        self._next = 0
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def rows(self) -> int:
        """Length of the columns in use; some rows may be empty."""
        return len(self.keys)

    def add(self, key: str) -> int:
        """A row for a new pod; the caller fills in everything else."""
        if self._free:
            row = self._free.pop()
        else:
            row = len(self.keys)
            self.keys.append("")
            self.info.append(_UNKNOWN)
            if row >= len(self.node):
                self._reserve(row + 1)
        self.keys[row] = key
        self.row_of[key] = row
        self.sequence[row] = self._next
        self._next += 1
        self.node[row] = NOWHERE
        return row

    def add_all(self, pods: Mapping[str, Pod], classes: list[int]) -> range:
        """Rows for many new pods by key, one after the other; only while no row is free in between.

        What `fill` writes for few pods only is not filled in.
        """
        rows = range(len(self.keys), len(self.keys) + len(pods))
        span = slice(rows.start, rows.stop)
        self._reserve(rows.stop)
        self.keys += pods
        self.row_of.update(zip(pods, rows, strict=True))
        self.info += map(pod_info, pods.values())
        self.cls[span] = classes
        self.start[span] = _all_ticks([pod.status.start_time for pod in pods.values()])
        self.sequence[span] = np.arange(self._next, self._next + len(rows))
        self._next += len(rows)
        return rows

    @property
    def is_dense(self) -> bool:
        """Whether every row holds a pod."""
        return not self._free

    def fill(self, row: int, pod: Pod) -> None:
        """Set everything that follows from the pod's own object alone."""
        self.info[row] = pod_info(pod)
        self.start[row] = ticks(pod.status.start_time)
        self.terminating[row] = pod.metadata.deletion_timestamp is not None
        self.preempted[row] = terminating_by_preemption(pod)
        notes = self.info[row].annotations
        self.checkpoint[row] = checkpointed_at(notes) if notes else 0
        self.leader[row] = bool(notes) and notes.get(well_known.DISRUPTION_ROLE_ANNOTATION) == LEADER
        if notes:
            self.noted[row] = None
        else:
            self.noted.pop(row, None)

    def remove(self, row: int) -> None:
        del self.row_of[self.keys[row]]
        self.noted.pop(row, None)
        self.keys[row] = ""
        self.node[row] = NOWHERE
        self.group[row] = -1
        self._free.append(row)

    def _reserve(self, size: int) -> None:
        self.node = grown(self.node, size, NOWHERE)
        self.cls = grown(self.cls, size)
        self.group = grown(self.group, size, -1)
        self.priority = grown(self.priority, size)
        self.own_priority = grown(self.own_priority, size)
        self.preemption_class = grown(self.preemption_class, size, -1)
        self.start = grown(self.start, size)
        self.checkpoint = grown(self.checkpoint, size)
        self.leader = grown(self.leader, size)
        self.min_runtime_end = grown(self.min_runtime_end, size)
        self.sequence = grown(self.sequence, size)
        self.terminating = grown(self.terminating, size)
        self.preempted = grown(self.preempted, size)


def terminating_by_preemption(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is None:
        return False
    condition = find_condition(pod.status.conditions, well_known.DISRUPTION_TARGET)
    return (
        condition is not None
        and condition.status == "True"
        and condition.reason == well_known.PREEMPTION_BY_SCHEDULER
    )


def is_finished(pod: Pod) -> bool:
    """A pod in a terminal phase uses nothing: to the scheduler it is gone."""
    return pod.status.phase in well_known.TERMINAL_PHASES


def pod_info(pod: Pod) -> PodInfo:
    spec, notes = pod.spec, pod.metadata.annotations
    info = PodInfo(
        pod.metadata.uid,
        spec.preemption_policy == "Never",
        bool(spec.scheduling_gates),
        spec.scheduler_name,
        spec.node_name,
        pod.status.nominated_node_name,
    )
    if spec.resource_claims:
        info = msgspec.structs.replace(info, claims=_claims(pod))
    if not notes:
        return info
    ours = {key: text for key, text in notes.items() if key.startswith(well_known.ANNOTATION_PREFIX)}
    return msgspec.structs.replace(info, annotations=ours) if ours else info


def checkpointed_at(annotations: Mapping[str, str]) -> int:
    """When a pod or group last saved its work, in microseconds since 1970; 0 when it does not say, or not
    in a way that can be read."""
    text = annotations.get(well_known.CHECKPOINTED_AT_ANNOTATION)
    if not text:
        return 0
    try:
        return ticks(parse_time(text))
    except TimeError:
        return 0


def _claims(pod: Pod) -> PodClaims:
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    return PodClaims(pod.spec.resource_claims, made)


def min_runtime_end(pod: Pod) -> int:
    """When the pod's minimum run time ends, in microseconds since 1970; 0 when it states none."""
    text = pod.metadata.annotations.get(well_known.MIN_RUNTIME_ANNOTATION)
    if text is None:
        return 0
    try:
        seconds = parse_duration(text)
    except TimeError as wrong:
        raise InvalidObject(
            f"metadata.annotations[{well_known.MIN_RUNTIME_ANNOTATION}]", text, str(wrong), f"Pod/{pod.key}"
        ) from None
    start = ticks(pod.status.start_time)
    return NOT_STARTED if start == NOT_STARTED else start + int(seconds * 1_000_000)
