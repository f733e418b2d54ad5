"""Jobs between the clusters: made on the winning worker, their status brought home, removed with their copy."""

from copy import deepcopy
from typing import Any, Final

from reprieve.controllers.fleet.connection import Connection
from reprieve.fleet.names import CONTROLLER, ORIGIN_LABEL, PREBUILT_LABEL
from reprieve.kube import JOBS, ApiError, Client
from reprieve.objects.meta import Document

_GENERATED_LABELS: Final = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)


def owner_job(workload: Document) -> str:
    """The name of the job that the workload stands for; empty when it stands for itself."""
    owners = (workload.get("metadata") or {}).get("ownerReferences") or ()
    return next(
        (owner["name"] for owner in owners if owner.get("controller") and owner.get("kind") == "Job"), ""
    )


def remote_job(job: Document, workload: str, origin: str) -> Document:
    """The job as the worker gets it: suspended until the worker's own quota lets it go, tied to the copy."""
    metadata = job["metadata"]
    spec = deepcopy(job.get("spec") or {})
    spec["suspend"] = True
    spec.pop("managedBy", None)
    if not spec.get("manualSelector"):
        spec.pop("selector", None)
        labels = (spec.get("template") or {}).get("metadata", {}).get("labels") or {}
        for name in _GENERATED_LABELS:
            labels.pop(name, None)
    kept = {
        key: value for key, value in (metadata.get("labels") or {}).items() if key not in _GENERATED_LABELS
    }
    return {
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {**kept, ORIGIN_LABEL: origin, PREBUILT_LABEL: workload},
            "annotations": dict(metadata.get("annotations") or {}),
        },
        "spec": spec,
    }


def is_over(job: Document) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(
        entry.get("type") in ("Complete", "Failed") and entry.get("status") == "True" for entry in conditions
    )


async def sync_job(
    home: Client, job: Document | None, worker: Connection, workload: Document, origin: str
) -> None:
    """Make the job on the worker, or bring its status home.

    A job that is `managedBy` the fleet shows the remote status all the time; any other job has its own controller
    here, so its status is written once, when it is over.
    """
    if job is None:
        return
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    remote = worker.job(namespace, name)
    if remote is None:
        await _create(worker, remote_job(job, workload["metadata"]["name"], origin))
        return
    managed = (job.get("spec") or {}).get("managedBy") == CONTROLLER
    status: dict[str, Any] = remote.get("status") or {}
    if status and (managed or is_over(remote)) and status != job.get("status"):

        def change(current: Document) -> bool:
            changed = current.get("status") != status
            current["status"] = status
            return changed

        await home.update_with_retries(JOBS, name, namespace, change, subresource="status")


async def _create(worker: Connection, job: Document) -> None:
    try:
        await worker.call(lambda client: client.create(JOBS, job))
    except ApiError as error:
        if not error.already_exists:
            raise
