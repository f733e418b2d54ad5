"""The cluster as a replay begins with it: who runs, who waits, as units of pods that start and end together.

An *owner* is what runs for some time: a job, a service, a pod by itself. Its pods are units, each a gang or a
single pod, as the scheduler queues them; in a queue they wait for a workload first.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import msgspec

from reprieve.config import Configuration
from reprieve.forecast.run_times import RunTime
from reprieve.objects import (
    ClusterQueue,
    CompositePodGroup,
    Document,
    Ignored,
    LocalQueue,
    Node,
    Object,
    Pod,
    PodGroup,
    Reference,
    ResourceClaimTemplate,
    ResourceFlavor,
    Source,
    Workload,
    storage,
)
from reprieve.simulate import EPOCH, ticks

NO_WORKLOAD = -1
DEFAULT_GRACE = 30
"""Seconds: `terminationGracePeriodSeconds` of pods that name none."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that the scheduler places together: a gang, or one pod. Without pods: it only needs quota."""

    owner: int = 0
    pods: tuple[Pod, ...] = ()
    """As they are now, or as they would be made."""
    group: PodGroup | None = None
    workload: int = NO_WORKLOAD
    runs: bool = False
    """It has a place, or a part of it has."""
    since: int = 0
    """When it started; of one that runs."""
    leaves: int | None = None
    """When it is gone; of one that is on its way out."""
    comes_back: bool = True
    """Somebody makes its pods anew when they were evicted."""

    @property
    def waits(self) -> bool:
        return not self.runs or any(not pod.spec.node_name for pod in self.pods)

    @property
    def ref(self) -> Reference | None:
        """What the scheduler calls it; None without pods."""
        if self.group is not None:
            return Reference.of("PodGroup", self.group.key)
        return Reference.of("Pod", self.pods[0].key) if self.pods else None

    @property
    def grace(self) -> int:
        """How long its pods may take to end when they are told to."""
        return max((ticks(_grace(pod)) for pod in self.pods), default=0)


def _grace(pod: Pod) -> int:
    given = pod.spec.termination_grace_period_seconds
    return DEFAULT_GRACE if given is None else given


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    ref: Reference
    run_time: RunTime
    units: tuple[int, ...] = ()
    deadline: int | None = None
    """Of a Job: for how long it may be there, its pods running or not."""
    begun: int = 0
    """Since when that counts, unless it waits for quota first."""


class Refused(NamedTuple):
    """Pods of one owner, group or pod that a server would not create."""

    pods: int
    created: int
    """Its other pods."""
    why: str


@dataclass(frozen=True)
class Situation:
    config: Configuration
    now: int
    """Ticks since the epoch of simulations."""
    objects: list[Object]
    """What is neither pod, pod group nor workload: nodes, queues, budgets, classes."""
    owners: list[Owner]
    units: list[Unit]
    workloads: list[Workload]
    volumes: dict[str, storage.PersistentVolumeClaimSpec]
    """What the claims of ephemeral volumes ask for, by `NAMESPACE/POD-VOLUME`."""
    queues: dict[Reference, str]
    """Owners that name a queue, where nobody counts quota."""
    held: dict[Reference, str]
    """What never starts as things are, and why: suspended, or its pods are refused."""
    refusals: dict[Reference, Refused]
    """Of what has pods that a server would not create."""
    over: dict[Reference, str]
    """What is asked about and has ended: how, and when."""
    notes: list[str]
    ignored: tuple[Ignored, ...]
    documents: Sequence[Document | Source]
    """All of it, as people wrote it."""

    @cached_property
    def has_nodes(self) -> bool:
        return any(isinstance(each, Node) for each in self.objects)

    @cached_property
    def counts_quota(self) -> bool:
        """Also without queues: then nobody gives quota to a workload that waits for it."""
        waiting = any(each.status.admission is None for each in self.workloads)
        return waiting or any(isinstance(each, ClusterQueue) for each in self.objects)

    @cached_property
    def quota_objects(self) -> list[Object]:
        """Without queues that lead nowhere."""
        known = {each.name for each in self.objects if isinstance(each, ClusterQueue)}
        return [
            each
            for each in self.objects
            if not isinstance(each, LocalQueue) or each.spec.cluster_queue in known
        ]

    @cached_property
    def flavors(self) -> dict[str, ResourceFlavor]:
        return {each.name: each for each in self.objects if isinstance(each, ResourceFlavor)}

    @cached_property
    def templates(self) -> dict[str, ResourceClaimTemplate]:
        return {each.key: each for each in self.objects if isinstance(each, ResourceClaimTemplate)}

    @cached_property
    def _of_workload(self) -> dict[int, list[int]]:
        found = defaultdict(list)
        for number, unit in enumerate(self.units):
            found[unit.workload].append(number)
        return found

    def units_of_workload(self, number: int) -> list[int]:
        return [] if number == NO_WORKLOAD else self._of_workload.get(number, [])

    def units_of(self, target: Reference) -> list[int]:
        """The units that a target means."""
        units = self.units
        match target.kind:
            case "Pod":
                return [n for n, unit in enumerate(units) if any(p.key == target.key for p in unit.pods)]
            case "PodGroup":
                return [n for n, unit in enumerate(units) if unit.group and unit.group.key == target.key]
            case "CompositePodGroup":
                return [
                    n for n, unit in enumerate(units) if unit.group and self._is_below(unit.group, target)
                ]
            case "Workload":
                numbers = (n for n, each in enumerate(self.workloads) if each.key == target.key)
                return [unit for number in numbers for unit in self.units_of_workload(number)]
        return [number for owner in self.owners if owner.ref == target for number in owner.units]

    def _is_below(self, group: PodGroup, target: Reference) -> bool:
        """Whether a group is in the tree of the target, at any depth."""
        above, seen = group.parent_key, set[str]()
        while above and above != target.key and above not in seen:
            seen.add(above)
            above = self._parents.get(above, "")
        return above == target.key

    @cached_property
    def _parents(self) -> dict[str, str]:
        return {each.key: each.parent_key for each in self.objects if isinstance(each, CompositePodGroup)}


def moment(time: datetime) -> int:
    """In ticks, exactly."""
    span = time - EPOCH
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds
