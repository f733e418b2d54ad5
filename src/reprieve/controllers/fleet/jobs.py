"""Jobs between clusters: created on the winning worker, their status copied back, removed with their copy."""

from copy import deepcopy
from typing import Any

from reprieve.controllers import GENERATED_LABELS, plain_template
from reprieve.controllers.fleet.connection import Connection
from reprieve.kube import JOBS, ApiError, Client
from reprieve.objects import Document, split_key, well_known


def owner_job(workload: Document) -> str:
    """The name of the job that the workload stands for; empty when it stands for itself."""
    owners = (workload.get("metadata") or {}).get("ownerReferences") or ()
    return next(
        (owner["name"] for owner in owners if owner.get("controller") and owner.get("kind") == "Job"), ""
    )


def remote_job(job: Document, workload: str, origin: str) -> Document:
    """The job as the worker gets it: suspended until the worker admits it, tied to the copy."""
    metadata = job["metadata"]
    spec = deepcopy(job.get("spec") or {})
    spec["suspend"] = True
    spec.pop("managedBy", None)
    if not spec.get("manualSelector"):
        spec.pop("selector", None)
        spec["template"] = plain_template(spec.get("template") or {})
    kept = {
        key: value for key, value in (metadata.get("labels") or {}).items() if key not in GENERATED_LABELS
    }
    return {
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {**kept, well_known.ORIGIN_LABEL: origin, well_known.PREBUILT_WORKLOAD_LABEL: workload},
            "annotations": dict(metadata.get("annotations") or {}),
        },
        "spec": spec,
    }


def is_over(job: Document) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(
        entry.get("type") in well_known.JOB_ENDED and entry.get("status") == "True" for entry in conditions
    )


async def send_job(worker: Connection, job: Document, key: str, origin: str) -> None:
    """Create the job on the worker, for the copy `key`."""
    document = remote_job(job, split_key(key)[1], origin)
    try:
        await worker.call(lambda client: client.create(JOBS, document))
    except ApiError as error:
        if not error.already_exists:
            raise


async def fresh_job(worker: Connection, job: Document) -> Document | None:
    """The worker's job as its server has it now; None when there is none."""
    metadata = job["metadata"]
    try:
        found: Document = await worker.call(
            lambda client: client.get(JOBS.raw(), metadata["name"], metadata["namespace"])
        )
    except ApiError as error:
        if error.not_found:
            return None
        raise
    return found


async def copy_status_back(manager: Client, job: Document, remote: Document) -> None:
    """Copy the remote status to the manager's job.

    A job that is `managedBy` the fleet shows it all the time; any other job has its own controller here, so
    its status is written once, when it is over.
    """
    managed = (job.get("spec") or {}).get("managedBy") == well_known.MULTIKUEUE_CONTROLLER
    status: dict[str, Any] = remote.get("status") or {}
    if not status or not (managed or is_over(remote)) or status == job.get("status"):
        return

    def change(current: Document) -> bool:
        changed = bool(current.get("status") != status)
        current["status"] = status
        return changed

    metadata = job["metadata"]
    await manager.update_with_retries(
        JOBS, metadata["name"], metadata["namespace"], change, subresource="status"
    )
