"""Kinds that scheduling and quota decide about: groups, queues, workloads. Gates have a say here."""

from collections.abc import Callable
from typing import Any

from reprieve.objects import well_known
from reprieve.objects.defaults.resources import state_requests
from reprieve.objects.meta import Document
from reprieve.objects.raw import fill, items

Gate = Callable[[str], bool]
_PRIORITY_CLASS = ("scheduling.k8s.io", "PriorityClass")


def apply_defaults(document: Document, key: tuple[str, str], gate: Gate, *, creating: bool) -> None:
    """Fills in what is absent; what is stated stays, whatever it is."""
    spec = document.get("spec")
    if not isinstance(spec, dict):
        spec = (
            document.setdefault("spec", {}) if key in _SPECS_FROM_NOTHING and "spec" not in document else None
        )
    default = _DEFAULTS.get(key)
    if default is not None and isinstance(spec, dict):
        default(spec, gate)
    if key == _PRIORITY_CLASS:
        fill(document, preemptionPolicy="PreemptLowerPriority")
    if creating and key in _FINALIZERS:
        _add_finalizer(document, _FINALIZERS[key])


def _pod(spec: Document, _gate: Gate) -> None:
    state_requests(spec)


def _pod_group(spec: Document, gate: Gate) -> None:
    if gate("WorkloadAwarePreemption"):
        fill(spec, disruptionMode={"single": {}})


def default_policy(spec: Any, stored: Any, gate: Gate) -> None:
    """The preemption policy of a group whose class, if it has one, has been asked: it stays, or preempts."""
    if not gate("PodGroupPreemptionPolicy") or not isinstance(spec, dict):
        return
    if isinstance(stored, dict) and "preemptionPolicy" in stored:
        fill(spec, preemptionPolicy=stored["preemptionPolicy"])
    elif not spec.get("priorityClassName"):
        fill(spec, preemptionPolicy="PreemptLowerPriority")


def _cluster_queue(spec: Document, _gate: Gate) -> None:
    fill(spec, queueingStrategy="BestEffortFIFO", stopPolicy="None", flavorFungibility={}, preemption={})
    fill(spec["flavorFungibility"], whenCanBorrow="MayStopSearch", whenCanPreempt="TryNextFlavor")
    fill(spec["preemption"], withinClusterQueue="Never", reclaimWithinCohort="Never", borrowWithinCohort={})
    if isinstance(spec["preemption"], dict):
        fill(spec["preemption"]["borrowWithinCohort"], policy="Never")
    fill(spec.get("fairSharing"), weight="1")


def _cohort(spec: Document, _gate: Gate) -> None:
    fill(spec.get("fairSharing"), weight="1")


def _local_queue(spec: Document, _gate: Gate) -> None:
    fill(spec, stopPolicy="None")
    fill(spec.get("fairSharing"), weight="1")


def _workload(spec: Document, gate: Gate) -> None:
    fill(spec, active=True)
    for pod_set in items(spec, "podSets"):
        fill(pod_set, name="main", count=1)
        if not gate("PartialAdmission"):
            pod_set.pop("minCount", None)


def _multikueue_config(spec: Document, _gate: Gate) -> None:
    fill(spec, quotaManagement="Manual")


def _multikueue_cluster(spec: Document, _gate: Gate) -> None:
    source = spec.get("clusterSource")
    fill(source.get("kubeConfig") if isinstance(source, dict) else None, locationType="Secret")


def _add_finalizer(document: Document, finalizer: str) -> None:
    metadata = document.get("metadata")
    if isinstance(metadata, dict):
        present = metadata.setdefault("finalizers", [])
        if isinstance(present, list) and finalizer not in present:
            present.append(finalizer)


_DEFAULTS: dict[tuple[str, str], Callable[[Document, Gate], None]] = {
    ("", "Pod"): _pod,
    ("scheduling.k8s.io", "PodGroup"): _pod_group,
    ("scheduling.k8s.io", "CompositePodGroup"): _pod_group,
    ("kueue.x-k8s.io", "ClusterQueue"): _cluster_queue,
    ("kueue.x-k8s.io", "Cohort"): _cohort,
    ("kueue.x-k8s.io", "LocalQueue"): _local_queue,
    ("kueue.x-k8s.io", "Workload"): _workload,
    ("kueue.x-k8s.io", "MultiKueueConfig"): _multikueue_config,
    ("kueue.x-k8s.io", "MultiKueueCluster"): _multikueue_cluster,
}
_SPECS_FROM_NOTHING = (("kueue.x-k8s.io", "ClusterQueue"), ("kueue.x-k8s.io", "LocalQueue"))
_FINALIZERS = {
    ("kueue.x-k8s.io", "ClusterQueue"): well_known.RESOURCE_IN_USE,
    ("kueue.x-k8s.io", "ResourceFlavor"): well_known.RESOURCE_IN_USE,
    ("scheduling.k8s.io", "PodGroup"): well_known.POD_GROUP_PROTECTION,
}
