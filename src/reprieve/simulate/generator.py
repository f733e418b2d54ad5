"""Jobs and queues from a generator file in the shape of Kueue's performance tests.

    cohorts:
    - className: cohort
      count: 5
      queuesSets:
      - className: cq
        count: 6
        nominalQuota: 20
        borrowingLimit: 100
        reclaimWithinCohort: Any
        withinClusterQueue: LowerPriority
        workloadsSets:
        - count: 350
          creationIntervalMs: 100
          workloads:
          - {className: small, runtimeMs: 200, priority: 50, request: 1}

Every queue gets all the workload sets; the k-th workload of a set comes after k intervals. What a file says
beyond this (topologies, podset groups) is refused, not left out.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, dataclass_transform

import msgspec

from reprieve.objects import Document, Object, ReprieveError, decode, parse_yaml
from reprieve.simulate.jobs import TICKS, Job, Trace

FLAVOR = "default"
RESOURCE = "cpu"
_MS = TICKS // 1000


@dataclass_transform(frozen_default=True, kw_only_default=True)
class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Frozen, camelCase in the file, and nothing is left out in silence."""


class WorkloadTemplate(_Part):
    class_name: str
    runtime_ms: int
    priority: int = 0
    request: int = 1
    pods: int = 1


class WorkloadSet(_Part):
    count: int
    creation_interval_ms: int
    workloads: tuple[WorkloadTemplate, ...]


class QueueSet(_Part):
    class_name: str
    count: int
    nominal_quota: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    reclaim_within_cohort: str = "Never"
    within_cluster_queue: str = "Never"
    workloads_sets: tuple[WorkloadSet, ...] = ()


class CohortSet(_Part):
    class_name: str
    count: int
    queues_sets: tuple[QueueSet, ...] = ()


class Generator(_Part):
    cohorts: tuple[CohortSet, ...]


def read_generator(path: str | Path) -> tuple[Trace, list[Object]]:
    """The jobs, and the queues that they name."""
    try:
        documents = [each for each in parse_yaml(Path(path).read_text()) if each is not None]
    except OSError as error:
        raise ReprieveError(f"{path}: {error.strerror or error}") from None
    if len(documents) != 1:
        raise ReprieveError(f"{path}: expected one document with `cohorts`, found {len(documents)}")
    try:
        generator = msgspec.convert(documents[0], Generator)
    except msgspec.ValidationError as error:
        raise ReprieveError(f"{path}: not understood as a generator file: {error}") from None
    return generated(generator)


def generated(generator: Generator) -> tuple[Trace, list[Object]]:
    documents: list[Document] = [_kueue("ResourceFlavor", FLAVOR, {})]
    jobs: list[Job] = []
    for cohorts in generator.cohorts:
        for cohort in range(cohorts.count):
            name = f"{cohorts.class_name}-{cohort}"
            for queues in cohorts.queues_sets:
                for index in range(queues.count):
                    queue = f"{queues.class_name}-{index}-{cohort}"
                    documents += _queue(queue, name, queues)
                    jobs += _jobs(queue, queues.workloads_sets)
    jobs.sort(key=lambda job: job.submit)
    return Trace(jobs=tuple(jobs)), [decode(document) for document in documents]


def _jobs(queue: str, sets: Sequence[WorkloadSet]) -> list[Job]:
    return [
        Job(
            name=f"{queue}-{template.class_name}-{number}",
            submit=(number + 1) * each.creation_interval_ms * _MS,
            duration=template.runtime_ms * _MS,
            pods=template.pods,
            cpu=template.request * 1000,
            priority=template.priority,
            klass=template.class_name,
            kind=template.class_name,
            queue=queue,
        )
        for each in sets
        for template in each.workloads
        for number in range(each.count)
    ]


def _queue(name: str, cohort: str, queues: QueueSet) -> list[Document]:
    limits = {"borrowingLimit": queues.borrowing_limit, "lendingLimit": queues.lending_limit}
    quota: dict[str, Any] = {"name": RESOURCE, "nominalQuota": str(queues.nominal_quota)}
    quota |= {key: str(limit) for key, limit in limits.items() if limit is not None}
    group = {"coveredResources": [RESOURCE], "flavors": [{"name": FLAVOR, "resources": [quota]}]}
    preemption = {
        "withinClusterQueue": queues.within_cluster_queue,
        "reclaimWithinCohort": queues.reclaim_within_cohort,
    }
    spec = {
        "cohortName": cohort,
        "namespaceSelector": {},
        "preemption": preemption,
        "resourceGroups": [group],
    }
    local = _kueue("LocalQueue", "lq", {"clusterQueue": name})
    local["metadata"]["namespace"] = name
    return [_kueue("ClusterQueue", name, spec), local]


def _kueue(kind: str, name: str, spec: Document) -> Document:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}
