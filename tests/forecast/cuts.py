"""A simulated day, cut: what a cluster looks like at a moment, as documents, and what happens afterwards."""

from collections.abc import Iterator
from typing import Any

from reprieve.objects import encode, format_micro_time, well_known
from reprieve.simulate import Simulation, instant

Document = dict[str, Any]
NAMESPACE = "ns"


def as_documents(simulation: Simulation, *, announced: bool) -> list[Document]:
    """Nodes, queues, pods, groups and workloads as they are now. `announced`: each says how long it runs."""
    return [
        *map(encode, simulation.scene.objects),
        *_pods(simulation, announced),
        *_workloads(simulation, announced),
    ]


def _pods(simulation: Simulation, announced: bool) -> Iterator[Document]:
    scheduling = simulation.scheduling
    if scheduling is None:
        return
    for index, keys in scheduling._keys.items():
        job = simulation.jobs[index]
        if job.pods > 1:
            yield _document(scheduling._objects.group(job), job, announced)
        for key in keys:
            document = _document(scheduling._pods[key], job, announced)
            document["spec"] |= {"terminationGracePeriodSeconds": 0, "restartPolicy": "Never"}
            yield document


def _workloads(simulation: Simulation, announced: bool) -> Iterator[Document]:
    if simulation.admission is None:
        return
    quota, index = simulation.admission._quota, simulation.admission._index
    waiting = [info for pending in quota.pending.values() for info in pending]
    for info in (*quota.cache.workloads.values(), *waiting):
        job = simulation.jobs[index[info.key]]
        document = _document(info.workload, job, announced)
        (pods,) = document["spec"]["podSets"]
        # As the pods are that the simulator makes.
        pods["template"]["spec"] |= {"priority": job.priority, "terminationGracePeriodSeconds": 0}
        yield document


def _document(view: Any, job: Any, announced: bool) -> Document:
    """As a Job of this name made it: it makes evicted pods anew."""
    versions = {"Pod": "v1", "PodGroup": "scheduling.k8s.io/v1beta1", "Workload": "kueue.x-k8s.io/v1beta2"}
    kind = type(view).__name__
    document = {**encode(view), "apiVersion": versions[kind], "kind": kind}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job.name, "uid": job.name, "controller": True}
    length = {well_known.EXPECTED_RUNTIME_ANNOTATION: f"{job.duration / 1e6}s"}
    document["metadata"] |= {
        "namespace": NAMESPACE, "annotations": length if announced else {}, "ownerReferences": [owner],
    }  # fmt: skip
    return document


def now(simulation: Simulation) -> str:
    return format_micro_time(instant(simulation.now))
