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

Every queue gets all the workload sets; the k-th workload of a set comes after k intervals, and of several
templates one comes after the other. A workload may have several pods (`podCount`) and ask for a domain of the
topology that the file describes (`topology`). What a file says beyond this is refused, not left out.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from reprieve.objects import Document, Object, ReprieveError, decode, exact, parse_yaml
from reprieve.simulate.jobs import TICKS, Job, Trace
from reprieve.simulate.topology import Flavor, Part, Topology, checked, flavor_spec, nodes_of, request_of
from reprieve.simulate.trace import MOST_PODS

RESOURCE = "cpu"
MOST_JOBS = 1_000_000
"""A file of a few lines could ask for more than any machine can hold."""
_MS = TICKS // 1000
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_JOBS)]
Amount = Annotated[int, msgspec.Meta(ge=0, le=10**9)] | Annotated[str, msgspec.Meta(max_length=40)]
"""A quantity: 20, or "500m"."""
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
Interval = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Priority = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
Pods = Annotated[int, msgspec.Meta(ge=1, le=MOST_PODS)]


class WorkloadTemplate(Part):
    class_name: str
    runtime_ms: Milliseconds
    priority: Priority = 0
    request: Amount = 1
    """Of each pod."""
    pod_count: Pods = 1
    tas_constraint: str = ""
    tas_level: str = ""
    slice_size: Annotated[int, msgspec.Meta(ge=0, le=MOST_PODS)] = 0


class WorkloadSet(Part):
    count: Count
    creation_interval_ms: Interval
    workloads: tuple[WorkloadTemplate, ...]


class QueueSet(Part):
    class_name: str
    count: Count
    nominal_quota: Amount
    borrowing_limit: Amount | None = None
    lending_limit: Amount | None = None
    reclaim_within_cohort: str = "Never"
    within_cluster_queue: str = "Never"
    workloads_sets: tuple[WorkloadSet, ...] = ()


class CohortSet(Part):
    class_name: str
    count: Count
    queues_sets: tuple[QueueSet, ...] = ()


class Generator(Part):
    cohorts: tuple[CohortSet, ...]
    topology: Topology | None = None
    resource_flavor: Flavor = Flavor(name="default")


def read_generator(path: str | Path) -> tuple[Trace, list[Object]]:
    """The jobs, the queues that they name, and the nodes if the file has any."""
    try:
        documents = [each for each in parse_yaml(Path(path).read_text(encoding="utf-8")) if each is not None]
    except OSError as error:
        raise ReprieveError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ReprieveError(f"{path}: byte {error.start} is not UTF-8") from None
    if len(documents) != 1:
        raise ReprieveError(f"{path}: expected one document with `cohorts`, found {len(documents)}")
    try:
        generator = msgspec.convert(documents[0], Generator)
    except msgspec.ValidationError as error:
        raise ReprieveError(f"{path}: not understood as a generator file: {error}") from None
    queues, jobs = _sizes(generator)
    if max(queues, jobs) > MOST_JOBS:
        raise ReprieveError(
            f"{path}: {queues:,} queues and {jobs:,} jobs; at most {MOST_JOBS:,} are simulated"
        )
    try:
        return generated(generator)
    except ReprieveError as error:
        raise ReprieveError(f"{path}: {error}") from None


def _sizes(generator: Generator) -> tuple[int, int]:
    """Queues and jobs, before any is made."""
    sets = [
        (cohorts.count * each.count, each) for cohorts in generator.cohorts for each in cohorts.queues_sets
    ]
    jobs = sum(
        queues * one.count * len(one.workloads) for queues, each in sets for one in each.workloads_sets
    )
    return sum(queues for queues, _ in sets), jobs


def generated(generator: Generator) -> tuple[Trace, list[Object]]:
    topology, flavor = generator.topology, generator.resource_flavor
    checked(topology, flavor)
    documents: list[Document] = [_kueue("ResourceFlavor", flavor.name, flavor_spec(flavor))]
    if topology is not None:
        levels = [{"nodeLabel": each.node_label} for each in topology.levels]
        documents += [_kueue("Topology", topology.name, {"levels": levels}), *nodes_of(topology, flavor)]
    jobs: list[Job] = []
    known: set[str] = set()
    for cohorts in generator.cohorts:
        for cohort in range(cohorts.count):
            name = f"{cohorts.class_name}-{cohort}"
            for queues in cohorts.queues_sets:
                for index in range(queues.count):
                    queue = f"{queues.class_name}-{index}-{cohort}"
                    if queue in known:
                        raise ReprieveError(f"two sets of queues have a queue {queue}; change a className")
                    known.add(queue)
                    documents += _queue(queue, name, queues, flavor.name)
                    jobs += _jobs(queue, queues.workloads_sets, topology)
    jobs.sort(key=lambda job: job.submit)
    return Trace(jobs=tuple(jobs)), [decode(document) for document in documents]


def _jobs(queue: str, sets: Sequence[WorkloadSet], topology: Topology | None) -> list[Job]:
    found: list[Job] = []
    used: Counter[str] = Counter()
    for each in sets:
        together = len(each.workloads)
        for at, template in enumerate(each.workloads):
            prefix = f"{queue}-{template.class_name}"
            used[prefix] += 1
            if used[prefix] > 1:  # another set has workloads of this class
                prefix += f"-set{used[prefix]}"
            first = Job(
                name="",
                submit=0,
                duration=template.runtime_ms * _MS,
                pods=template.pod_count,
                cpu=_thousandths(template),
                priority=template.priority,
                klass=template.class_name,
                kind=template.class_name,
                queue=queue,
                topology=request_of(
                    template.tas_constraint, template.tas_level, template.slice_size, topology
                ),
            )
            for number in range(each.count):
                turn = number * together + at + 1
                found.append(
                    msgspec.structs.replace(
                        first,
                        name=f"{prefix}-{number}",
                        submit=turn * each.creation_interval_ms * _MS,
                    )
                )
    return found


def _thousandths(template: WorkloadTemplate) -> int:
    try:
        found = exact(template.request) * 1000
    except ReprieveError as error:
        raise ReprieveError(f"request of {template.class_name}: {error}") from None
    if found < 0 or found != int(found):
        raise ReprieveError(
            f"{template.class_name}: request must be whole thousandths of a core, is {template.request!r}"
        )
    return int(found)


def _queue(name: str, cohort: str, queues: QueueSet, flavor: str) -> list[Document]:
    limits = {"borrowingLimit": queues.borrowing_limit, "lendingLimit": queues.lending_limit}
    quota: dict[str, Any] = {"name": RESOURCE, "nominalQuota": str(queues.nominal_quota)}
    quota |= {key: str(limit) for key, limit in limits.items() if limit is not None}
    group = {"coveredResources": [RESOURCE], "flavors": [{"name": flavor, "resources": [quota]}]}
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
