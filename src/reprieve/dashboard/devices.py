"""Devices of dynamic resource allocation: how many GPUs there are, how many are given away, whose they are.

A device belongs to a pool of a driver. GPUs are what a driver offers whose name says `gpu`
(`gpu.nvidia.com`), or which a device class of such a name chooses. Parts of one device (they draw on the same
counters) are one GPU, in use as soon as one of them is. A change costs the pools that it touches.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from reprieve.dashboard.compact import (
    Asks,
    ClaimRecord,
    ClassRecord,
    DeviceId,
    PodRecord,
    SliceRecord,
    gpus_in,
    is_gpu,
)
from reprieve.objects import core, kueue, pod_requests

PoolId = tuple[str, str]


class PoolCount(NamedTuple):
    """Devices of a pool: a device that is offered in parts is one."""

    total: int = 0
    used: int = 0


class Devices:
    """All devices of a cluster. `claims` hold or want some; `templates` are what claims ask for that are made
    for each pod."""

    def __init__(self, claims: Mapping[str, ClaimRecord], templates: Mapping[str, Asks]) -> None:
        self._claims, self._templates = claims, templates
        self._slices: defaultdict[PoolId, dict[str, SliceRecord]] = defaultdict(dict)
        self._held: defaultdict[PoolId, Counter[str]] = defaultdict(Counter)
        self._counts: dict[PoolId, PoolCount] = {}
        self._stale: set[PoolId] = set()
        self._on_node: defaultdict[str, set[PoolId]] = defaultdict(set)
        self._classes: dict[str, ClassRecord] = {}
        self._gpu_drivers: set[str] = set()
        self._for_resources: dict[str, ClaimRecord] = {}
        """Claims by the pod for whose resources they stand; what they hold is counted as its requests."""
        self._counted: Counter[str] = Counter()
        """Devices of such claims, by driver."""

    # -- changes: those of slices and claims return the nodes whose devices are others now ----------------

    def change_slice(self, name: str, old: SliceRecord | None, new: SliceRecord | None) -> set[str]:
        for each in filter(None, (old, new)):  # what was goes before what is comes
            pool = each.driver, each.pool
            if each is new:
                self._slices[pool][name] = each
                self._on_node[each.node].add(pool)
            else:
                del self._slices[pool][name]
                if all(other.node != each.node for other in self._slices[pool].values()):
                    self._on_node[each.node].discard(pool)
            self._stale.add(pool)
            self._name_gpus([each.driver])
        return {each.node for each in (old, new) if each is not None and each.node}

    def change_claim(self, old: ClaimRecord | None, new: ClaimRecord | None) -> set[str]:
        for claim, step in ((old, -1), (new, +1)):
            for driver, pool, device in claim.devices if claim is not None else ():
                self._held[driver, pool][device] += step
                self._stale.add((driver, pool))
                self._counted[driver] += step * bool(claim and claim.stands_for)
        if old is not None:
            self._for_resources.pop(old.stands_for, None)
        if new is not None and new.stands_for:
            self._for_resources[new.stands_for] = new
        touched = {device[:2] for each in (old, new) if each is not None for device in each.devices}
        return {each.node for pool in touched for each in self._slices.get(pool, {}).values() if each.node}

    def change_class(self, name: str, new: ClassRecord | None) -> None:
        if new is None:
            self._classes.pop(name, None)
        else:
            self._classes[name] = new
        self._gpu_drivers.clear()
        self._name_gpus({driver for driver, _ in self._slices})

    def _name_gpus(self, drivers: Iterable[str]) -> None:
        """Which of these offer GPUs: by their own name, or by that of a class that chooses them."""
        wanted = [each for each in self._classes.values() if is_gpu(each.name)]
        self._gpu_drivers.update(
            driver for driver in drivers if is_gpu(driver) or any(each.names(driver) for each in wanted)
        )

    # -- answers ------------------------------------------------------------------------------------------

    def gpus(self) -> PoolCount:
        """Of the whole cluster; used: without what pods ask for as a resource, which counts as that."""
        self._refresh()
        counts = [count for (driver, _), count in self._counts.items() if driver in self._gpu_drivers]
        counted = sum(self._counted[driver] for driver in self._gpu_drivers)
        return PoolCount(sum(each.total for each in counts), sum(each.used for each in counts) - counted)

    def on_node(self, name: str) -> dict[str, int]:
        """How many devices of each driver a node has."""
        self._refresh()
        found: Counter[str] = Counter()
        for pool in self._on_node.get(name, ()):
            found[pool[0]] += self._counts.get(pool, PoolCount()).total
        return {driver: count for driver, count in found.items() if count}

    def of_pod(self, pod: PodRecord) -> dict[str, float]:
        """What a pod has of each driver's devices; those who share a claim have a part of it each."""
        found: dict[str, float] = defaultdict(float)
        behind = self._for_resources.get(pod.key)
        for claim in (*self._claims_of([pod]), *([behind] if behind is not None else [])):
            for driver, count in Counter(driver for driver, _, _ in self._whole(claim)).items():
                found[driver] += count / claim.sharers
        return found

    def gpus_of_pod(self, pod: PodRecord) -> float:
        """With what it asks for in the old way; those who share a claim have a part of it each."""
        return pod.gpus + sum(self._gpus(claim) / claim.sharers for claim in self._claims_of([pod]))

    def gpus_of(self, pods: Iterable[PodRecord]) -> float:
        """Of these together; a claim that they share counts once."""
        found = list(pods)
        return sum(pod.gpus for pod in found) + sum(map(self._gpus, self._claims_of(found)))

    def promised(self, nominated: Iterable[PodRecord]) -> int:
        """GPUs that pods with a nomination are going to get: their claims hold none yet."""
        return sum(self._gpus(claim) for claim in self._claims_of(nominated) if not claim.devices)

    def gpus_of_workload(self, workload: kueue.Workload) -> float:
        """What all its pods ask for."""
        return sum(
            gpus_in(pod_requests(each.template.spec)) * each.count
            + self._gpus_asked(workload.namespace, each.template.spec, each.count)
            for each in workload.spec.pod_sets
        )

    def _gpus_asked(self, namespace: str, spec: core.PodSpec, pods: int) -> int:
        """What so many pods ask for with claims: one of its own each from a template, or all of them one."""
        found = 0
        for each in spec.resource_claims:
            if each.resource_claim_template_name is not None:
                asks = self._templates.get(f"{namespace}/{each.resource_claim_template_name}", ())
                found += pods * self._asked(asks)
            elif (claim := self._claims.get(f"{namespace}/{each.resource_claim_name}")) is not None:
                found += self._gpus(claim)
        return found

    def _claims_of(self, pods: Iterable[PodRecord]) -> Iterator[ClaimRecord]:
        for key in dict.fromkeys(key for pod in pods for key in pod.claims):
            if (claim := self._claims.get(key)) is not None:
                yield claim

    def _gpus(self, claim: ClaimRecord) -> int:
        """Those it holds, else those it asks for."""
        if claim.devices:
            return sum(driver in self._gpu_drivers for driver, _, _ in self._whole(claim))
        return self._asked(claim.asks)

    def _asked(self, asks: Asks) -> int:
        return sum(count for name, count in asks if self._is_gpu_class(name))

    def _is_gpu_class(self, name: str) -> bool:
        held = self._classes.get(name)
        return is_gpu(name) or (held is not None and any(map(held.names, self._gpu_drivers)))

    def _whole(self, claim: ClaimRecord) -> set[DeviceId]:
        """The devices that it holds, whole ones for parts."""
        return {
            (driver, pool, part)
            for driver, pool, device in claim.devices
            for part in self._parts((driver, pool)).get(device, (device,))
        }

    def _parts(self, pool: PoolId) -> dict[str, tuple[str, ...]]:
        """Devices of a pool, and what each is a part of; only the slices of its newest generation count."""
        slices = self._slices.get(pool, {}).values()
        newest = max((each.generation for each in slices), default=0)
        return {
            name: whole
            for each in slices
            if each.generation == newest
            for name, whole in each.devices.items()
        }

    def _refresh(self) -> None:
        for pool in self._stale:
            parts = self._parts(pool)
            held = self._held[pool] = +self._held[pool]
            there = {whole for each in parts.values() for whole in each}
            used = {whole for device in held for whole in parts.get(device, ())}
            self._counts[pool] = PoolCount(len(there), len(used))
            if not self._slices[pool]:
                self._forget(pool)
        self._stale.clear()

    def _forget(self, pool: PoolId) -> None:
        """Its node is gone, or its driver."""
        del self._counts[pool], self._slices[pool]
        if not self._held[pool]:
            del self._held[pool]
