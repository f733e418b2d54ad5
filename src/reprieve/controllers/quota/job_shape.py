"""Conversions between a batch/v1 Job and its workload, with the node labels of flavors. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any

from reprieve.controllers import plain_template
from reprieve.controllers.quota.lifecycle import FINISHED, RUNNING, STOPPED, Owner
from reprieve.controllers.quota.ranks import placement_of
from reprieve.objects import Document, ResourceFlavor, Workload, encode, topology_request, well_known

_LONGEST_NAME = 63


def workload_name(kind: str, document: Document) -> str:
    """The workload of an owner: named by the user, or after the owner and its UID."""
    metadata = document["metadata"]
    named = (metadata.get("labels") or {}).get(well_known.PREBUILT_WORKLOAD_LABEL)
    if named:
        return str(named)
    digest = hashlib.sha256(f"{kind}/{metadata['name']}/{metadata.get('uid', '')}".encode()).hexdigest()[:5]
    return f"{kind.lower()}-{metadata['name']}"[: _LONGEST_NAME - 6] + f"-{digest}"


def owned_workload(
    kind: str, api_version: str, owner: Document, pod_sets: list[Document], priority: Document
) -> Document:
    """A new workload that is deleted with its owner."""
    metadata = owner["metadata"]
    reference = {
        "apiVersion": api_version, "kind": kind, "name": metadata["name"], "uid": metadata.get("uid", ""),
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": workload_name(kind, owner),
            "namespace": metadata["namespace"],
            "labels": {well_known.JOB_UID_LABEL: metadata.get("uid", "")},
            "ownerReferences": [reference],
        },
        "spec": {"queueName": metadata["labels"][well_known.QUEUE_LABEL], "podSets": pod_sets, **priority},
    }


def job_pod_sets(job: Document) -> list[Document]:
    spec = job.get("spec") or {}
    parallelism = spec.get("parallelism", 1)
    completions = spec.get("completions")
    count = min(parallelism, completions) if completions is not None else parallelism
    pod_set: Document = {
        "name": "main",
        "count": count,
        "template": plain_template(spec.get("template") or {}),
    }
    indexed = well_known.JOB_INDEX_LABEL if spec.get("completionMode") == "Indexed" else ""
    annotations = ((spec.get("template") or {}).get("metadata") or {}).get("annotations") or {}
    asked = topology_request(annotations, indexed)
    if asked is not None:
        pod_set["topologyRequest"] = asked
    least = (job["metadata"].get("annotations") or {}).get(well_known.MIN_PARALLELISM_ANNOTATION, "")
    if least.isdigit() and 0 < int(least) < count:
        pod_set["minCount"] = int(least)
    return [pod_set]


def job_owner(job: Document) -> Owner:
    """The state of a job. Terminating pods still occupy their nodes, so their quota is not free yet."""
    status = job.get("status") or {}
    for entry in status.get("conditions") or ():
        if entry.get("type") in well_known.JOB_ENDED and entry.get("status") == "True":
            reason = "Succeeded" if entry["type"] == well_known.JOB_COMPLETE else "Failed"
            return Owner(FINISHED, reason, entry.get("message") or f"Job {reason.lower()}")
    left = (status.get("active") or 0) + (status.get("terminating") or 0)
    suspended = bool((job.get("spec") or {}).get("suspend"))
    if suspended and not left and _suspension_seen(status):
        return Owner(STOPPED)
    return Owner(RUNNING, done=_pods_done(job))


def _pods_done(job: Document) -> int:
    """Pods that will not be started again: fewer completions are left than pods may run at once."""
    spec, succeeded = job.get("spec") or {}, (job.get("status") or {}).get("succeeded") or 0
    parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
    if completions is None or not succeeded:
        return 0
    return int(max(0, min(parallelism, completions) - (completions - succeeded)))


def same_demand(job: Document, workload: Document) -> bool:
    """Whether the workload still requests what its job would run."""
    wanted, held = job_pod_sets(job)[0], workload["spec"]["podSets"][0]
    return bool(wanted["count"] == held.get("count", 1) and _requests(wanted) == _requests(held))


def _requests(pod_set: Document) -> list[object]:
    spec = (pod_set.get("template") or {}).get("spec") or {}
    return [container.get("resources") for container in spec.get("containers") or ()]


def _suspension_seen(status: Document) -> bool:
    """A job that once started has stopped only when the job controller reports it as suspended."""
    conditions = status.get("conditions") or ()
    suspended = any(
        entry.get("type") == well_known.JOB_SUSPENDED and entry.get("status") == "True"
        for entry in conditions
    )
    return suspended or not status.get("startTime")


def started_spec(workload: Workload, job: Document, flavors: Mapping[str, ResourceFlavor]) -> Document:
    """The merge patch that starts a suspended job on the nodes of its flavors."""
    template = (job.get("spec") or {}).get("template", {}).get("spec") or {}
    labels, tolerations = injected(workload, "main", flavors)
    patch: Document = {"suspend": False}
    changes: Document = {}
    if labels:
        changes["nodeSelector"] = labels
    if tolerations:
        changes["tolerations"] = [*(template.get("tolerations") or ()), *tolerations]
    if placement_of(workload, "main") is not None:
        changes["schedulingGates"] = [
            *(template.get("schedulingGates") or ()),
            {"name": well_known.TOPOLOGY_GATE},
        ]
    if changes:
        patch["template"] = {"spec": changes}
    if "schedulingGates" in changes:
        patch["template"]["metadata"] = {
            "annotations": {well_known.WORKLOAD_ANNOTATION: workload.name},
            "labels": {well_known.POD_SET_LABEL: "main"},
        }
    count = _assigned_count(workload)
    if count is not None and count != (job.get("spec") or {}).get("parallelism", 1):
        patch["parallelism"] = count
    return patch


def restored_spec(workload: Document, job: Document) -> Document:
    """The merge patch that undoes what starting put in; empty when the job is as its user wrote it."""
    pod_set = workload["spec"]["podSets"][0]
    original = (pod_set.get("template") or {}).get("spec") or {}
    current = (job.get("spec") or {}).get("template", {}).get("spec") or {}
    changes: Document = {}
    before, after = current.get("nodeSelector") or {}, original.get("nodeSelector") or {}
    if before != after:
        changes["nodeSelector"] = {**dict.fromkeys(before), **after} or None
    if (current.get("tolerations") or []) != (original.get("tolerations") or []):
        changes["tolerations"] = original.get("tolerations")
    gates = [gate.get("name") for gate in current.get("schedulingGates") or ()]
    if well_known.TOPOLOGY_GATE in gates:
        changes["schedulingGates"] = [
            {"name": name} for name in gates if name != well_known.TOPOLOGY_GATE
        ] or None
    patch: Document = {"template": {"spec": changes}} if changes else {}
    if "schedulingGates" in changes:
        patch["template"]["metadata"] = {
            "annotations": {well_known.WORKLOAD_ANNOTATION: None},
            "labels": {well_known.POD_SET_LABEL: None},
        }
    if (
        well_known.MIN_PARALLELISM_ANNOTATION in (job["metadata"].get("annotations") or {})
        and job["spec"].get("parallelism", 1) != pod_set["count"]
    ):
        patch["parallelism"] = pod_set["count"]
    return patch


def injected(
    workload: Workload, pod_set: str, flavors: Mapping[str, ResourceFlavor]
) -> tuple[dict[str, str], list[Any]]:
    """Node labels and tolerations of the flavors that a podset was assigned."""
    labels: dict[str, str] = {}
    tolerations: list[Any] = []
    admission = workload.status.admission
    for assignment in admission.pod_set_assignments if admission is not None else ():
        if assignment.name != pod_set:
            continue
        for name in sorted(set(assignment.flavors.values())):
            flavor = flavors.get(name)
            if flavor is not None:
                labels |= flavor.spec.node_labels
                tolerations += encode(flavor).get("spec", {}).get("tolerations", [])
    return labels, tolerations


def _assigned_count(workload: Workload) -> int | None:
    admission = workload.status.admission
    if admission is None or not admission.pod_set_assignments:
        return None
    return admission.pod_set_assignments[0].count
