"""Jobs as the objects that a scheduler and a quota controller see: pods, pod groups and Workloads.

Jobs with the same requests share their typed specs; a pod differs from its template in its metadata alone.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import cast

import msgspec
from msgspec.structs import replace

from reprieve.objects import (
    Condition,
    Document,
    ObjectMeta,
    Pod,
    PodGroup,
    PodSpec,
    ResourceFlavor,
    Workload,
    core,
    decode,
    well_known,
)
from reprieve.scheduler import Mark
from reprieve.simulate.jobs import SHARE, TICKS, Job, TopologyRequest

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""The moment at which every simulation begins: decisions never depend on the real date."""
EPOCH_SECONDS = EPOCH.timestamp()
NAMESPACE = "simulate"
SCHEDULER = "reprieve"
GPU = "nvidia.com/gpu"
POD_SET = "main"

_Shape = tuple[int, int, int, int, bool]


@lru_cache(maxsize=16)
def instant(time: int) -> datetime:
    """Asked several times at one moment: for each object that changes."""
    seconds, rest = divmod(time, TICKS)
    return EPOCH + timedelta(0, seconds, rest)


class JobObjects:
    """`counted`: the resources that nodes offer; what no node states is not asked for.

    `shares`: GPUs are counted in thousandths on nodes and pods alike. `preempts`: without it all pods have
    one priority and make nobody go. `taken`: names of jobs, which no pod of a gang may have. `flavors`:
    by name, those that say on which nodes their quota is.
    """

    def __init__(
        self,
        counted: frozenset[str] | None,
        *,
        shares: bool,
        preempts: bool = True,
        taken: Iterable[str] = (),
        flavors: Mapping[str, ResourceFlavor] = MappingProxyType({}),
    ) -> None:
        self._counted = counted
        self._flavors = flavors
        self._given: dict[str, tuple[str, ...]] = {}
        """By job: those of these flavors that it has quota of."""
        self._taken = frozenset(taken)
        self._shares = shares
        self._preempts = preempts
        self._specs: dict[tuple[_Shape, tuple[str, ...]], PodSpec] = {}
        self._bound: dict[tuple[_Shape, tuple[str, ...], str, str], PodSpec] = {}
        self._groups: dict[tuple[int, int], PodGroup] = {}
        self._workloads: dict[tuple[_Shape, int, str, TopologyRequest | None], Workload] = {}
        self._made = 0

    def requests(self, job: Job) -> dict[str, str]:
        """What each pod of it asks for."""
        gpus = str(job.gpu) if self._shares else str(-(-job.gpu // SHARE))
        asked = {
            "cpu": (job.cpu, f"{job.cpu}m"),
            "memory": (job.memory, f"{job.memory}Mi"),
            GPU: (job.gpu, gpus),
        }
        return {
            name: text
            for name, (amount, text) in asked.items()
            if amount and (self._counted is None or name in self._counted)
        }

    def give(self, job: Job, workload: Workload) -> None:
        """It has quota: its pods go to the nodes of these flavors."""
        self._given[job.name] = tuple(n for n in _flavors_of(workload) if n in self._flavors)

    def pods(self, job: Job, created: int) -> list[Pod]:
        """Pods that wait. Each time they are made they are new ones, with UIDs of their own."""
        spec = self._spec(job)
        if job.pods == 1:
            return [self._pod(job.name, spec, created)]
        spec = replace(spec, scheduling_group=core.SchedulingGroup(pod_group_name=job.name))
        return [self._pod(self._member(job, number), spec, created) for number in range(job.pods)]

    def _member(self, job: Job, number: int) -> str:
        """The name of one pod of a gang; a job of one pod may be called the same."""
        name = f"{job.name}-{number}"
        while name in self._taken:
            name += "-"
        return name

    def group(self, job: Job) -> PodGroup:
        """The gang of a job with several pods."""
        known = self._groups.get((job.pods, job.priority))
        if known is None:
            policy: Document = {
                "schedulingPolicy": {"gang": {"minCount": job.pods}},
                "disruptionMode": {"all": {}},
            }
            if not self._preempts:
                policy["preemptionPolicy"] = "Never"
            priority = self._priority(job)
            known = cast(PodGroup, decode(_group_document({**policy, "priority": priority})))
            self._groups[job.pods, job.priority] = known
        meta = ObjectMeta(name=job.name, namespace=NAMESPACE, uid=f"group-{job.name}")
        return replace(known, metadata=meta)

    def workload(self, job: Job, queue: tuple[str, str], created: int) -> Workload:
        """`queue`: namespace and name of its LocalQueue."""
        key = self._shape(job), job.pods, queue[1], job.topology
        known = self._workloads.get(key)
        if known is None:
            document = self.workload_document(job, queue)
            known = self._workloads[key] = cast(Workload, decode(document))
        self._made += 1
        meta = ObjectMeta(
            name=job.name, namespace=queue[0], uid=f"{self._made:08d}", creation_timestamp=instant(created)
        )
        return replace(known, metadata=meta)

    def workload_document(self, job: Job, queue: tuple[str, str]) -> Document:
        container = {"name": "main", "resources": {"requests": self.requests(job)}}
        pods: Document = {
            "name": POD_SET,
            "count": job.pods,
            "template": {"spec": {"containers": [container]}},
        }
        if job.topology is not None:
            pods["topologyRequest"] = msgspec.to_builtins(job.topology)
        spec = {"queueName": queue[1], "priority": self._priority(job), "podSets": [pods]}
        meta = {"name": job.name, "namespace": queue[0]}
        return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": meta, "spec": spec}

    def placed(self, pod: Pod, job: Job, node: str, status: core.PodStatus) -> Pod:
        """The pod, on a node and running."""
        key = self._shape(job), self._given.get(job.name, ()), node, job.name if job.pods > 1 else ""
        spec = self._bound.get(key)
        if spec is None:
            spec = replace(pod.spec, node_name=node)
            if job.pods == 1:
                self._bound[key] = spec
        return replace(pod, spec=spec, status=status)

    def _shape(self, job: Job) -> _Shape:
        return job.cpu, job.memory, job.gpu, job.priority, job.pods > 1

    def _priority(self, job: Job) -> int:
        return job.priority if self._preempts else 0

    def _spec(self, job: Job) -> PodSpec:
        given = self._given.get(job.name, ())
        key = self._shape(job), given
        known = self._specs.get(key)
        if known is None:
            known = PodSpec(
                scheduler_name=SCHEDULER,
                priority=self._priority(job),
                preemption_policy="" if self._preempts else "Never",
                containers=(
                    core.Container(
                        name="main", resources=core.ResourceRequirements(requests=dict(self.requests(job)))
                    ),
                ),
            )
            known = self._specs[key] = _on_flavors(known, [self._flavors[name] for name in given])
        return known

    def _pod(self, name: str, spec: PodSpec, created: int) -> Pod:
        self._made += 1
        meta = ObjectMeta(
            name=name, namespace=NAMESPACE, uid=f"pod-{self._made}", creation_timestamp=instant(created)
        )
        return Pod(metadata=meta, spec=spec)


def _flavors_of(workload: Workload) -> list[str]:
    """Of the only pod set that a job has here."""
    admission = workload.status.admission
    given = admission.pod_set_assignments if admission is not None else ()
    return sorted({flavor for each in given for flavor in each.flavors.values()})


def _on_flavors(spec: PodSpec, flavors: Iterable[ResourceFlavor]) -> PodSpec:
    """As the quota controller starts it: on the nodes of its flavors, whose taints it tolerates."""
    selector, tolerations = dict(spec.node_selector), list(spec.tolerations)
    for each in flavors:
        selector |= each.spec.node_labels
        tolerations += each.spec.tolerations
    return replace(spec, node_selector=selector, tolerations=tuple(tolerations))


def _group_document(spec: Document) -> Document:
    meta = {"name": "template", "namespace": NAMESPACE}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}


@lru_cache(maxsize=16)
def running(start: int) -> core.PodStatus:
    return core.PodStatus(phase="Running", start_time=instant(start))


def terminating(pod: Pod, now: int, grace: int, mark: Mark | None = None) -> Pod:
    """The pod, being deleted, with the mark of the scheduler that evicts it."""
    notes, status = pod.metadata.annotations, pod.status
    if mark is not None:
        condition = Condition(
            type=well_known.DISRUPTION_TARGET, status="True", reason=mark.reason, message=mark.message
        )
        status = replace(status, conditions=(*status.conditions, condition))
        notes = {**notes, well_known.EVICTED_FOR_ANNOTATION: mark.annotation}
    meta = replace(pod.metadata, deletion_timestamp=instant(now + grace), annotations=notes)
    return replace(pod, metadata=meta, status=status)
