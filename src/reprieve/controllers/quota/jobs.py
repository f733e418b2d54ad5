"""Jobs that wait for quota: suspended until their workload is admitted, suspended again when it is evicted.

The order of the writes is the one a real API server allows: a job's node selector may change only while it is
suspended and has no start time.
"""

import logging
from collections.abc import Mapping

from reprieve.controllers.quota.job_shape import (
    job_owner,
    job_pod_sets,
    owned_workload,
    restored_spec,
    same_demand,
    started_spec,
    workload_name,
)
from reprieve.controllers.quota.lifecycle import FINISHED
from reprieve.controllers.quota.priorities import Priorities
from reprieve.kube import JOBS, KUEUE_WORKLOADS, ApiError, Client
from reprieve.objects import Document, ResourceFlavor, Workload, must_name_queue, well_known
from reprieve.quota import is_true

log = logging.getLogger(__name__)


async def reconcile_job(
    client: Client,
    job: Document,
    raw: Document | None,
    workload: Workload | None,
    flavors: Mapping[str, ResourceFlavor],
    priorities: Priorities,
) -> None:
    """Bring one job in line with its workload (`raw` and typed); create the workload if there is none."""
    suspended = bool((job.get("spec") or {}).get("suspend"))
    if job_owner(job).state == FINISHED:
        return
    if well_known.QUEUE_LABEL not in (job["metadata"].get("labels") or {}):
        if not suspended and _must_name_queue(job):
            await _suspend(client, job)
        return
    if raw is None or workload is None:
        if not suspended:
            await _suspend(client, job)
        elif well_known.PREBUILT_WORKLOAD_LABEL not in (job["metadata"].get("labels") or {}):
            await _create_workload(client, job, priorities)
        return
    if _is_anothers(job, workload):
        if not suspended:
            await _suspend(client, job)
        return
    if not raw["metadata"].get("ownerReferences"):
        await _own(client, job, raw)
    if workload.may_run:
        if suspended:
            await _start(client, job, started_spec(workload, job, flavors))
        return
    if not suspended:
        await _suspend(client, job)
    elif (
        is_true(workload, well_known.QUOTA_RESERVED)
        or well_known.PREBUILT_WORKLOAD_LABEL in job["metadata"]["labels"]
        or same_demand(job, raw)
    ):
        await _restore(client, job, raw)
    else:
        # The user changed the job while it waited: it queues again.
        metadata = raw["metadata"]
        await client.delete(KUEUE_WORKLOADS, metadata["name"], metadata["namespace"], uid=metadata["uid"])


def _must_name_queue(job: Document) -> bool:
    """Of a job without a queue, where all jobs are followed."""
    owners = job["metadata"].get("ownerReferences") or ()
    kind = next((each.get("kind", "") for each in owners if each.get("controller")), "")
    return must_name_queue(job["metadata"]["namespace"], kind)


def _is_anothers(job: Document, workload: Workload) -> bool:
    """Whether the workload that the job names was made for another owner: its quota is not this job's."""
    owners = workload.metadata.owner_references
    return bool(owners) and all(each.uid != job["metadata"]["uid"] for each in owners)


async def _create_workload(client: Client, job: Document, priorities: Priorities) -> None:
    template = (job.get("spec") or {}).get("template", {}).get("spec") or {}
    priority = priorities.resolve(job["metadata"].get("labels") or {}, template.get("priorityClassName", ""))
    document = owned_workload("Job", "batch/v1", job, job_pod_sets(job), priority)
    try:
        await client.create(KUEUE_WORKLOADS, document)
    except ApiError as error:
        if not error.already_exists:
            raise


async def _own(client: Client, job: Document, workload: Document) -> None:
    """A workload that existed before its job (a copy from a manager) gets the job as its owner."""
    metadata = job["metadata"]
    reference = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    patch = {
        "metadata": {
            "ownerReferences": [reference],
            "labels": {well_known.JOB_UID_LABEL: metadata["uid"]},
            "resourceVersion": workload["metadata"]["resourceVersion"],  # one job alone can own it
        }
    }
    await client.patch(KUEUE_WORKLOADS, workload["metadata"]["name"], patch, metadata["namespace"])


async def _suspend(client: Client, job: Document) -> None:
    answer = await _patch(client, job, {"spec": {"suspend": True}})
    if not (answer.get("spec") or {}).get("suspend"):
        log.warning(
            "Job %s/%s runs without quota: this API server does not keep spec.suspend "
            "(Kubernetes from 1.21 on does)",
            job["metadata"]["namespace"],
            job["metadata"]["name"],
        )


async def _start(client: Client, job: Document, spec: Document) -> None:
    await _clear_start_time(client, job)
    await _patch(client, job, {"spec": spec})


async def _restore(client: Client, job: Document, workload: Document) -> None:
    spec = restored_spec(workload, job)
    if spec:
        await _clear_start_time(client, job)
        await _patch(client, job, {"spec": spec})


async def _clear_start_time(client: Client, job: Document) -> None:
    if (job.get("status") or {}).get("startTime"):
        await _patch(client, job, {"status": {"startTime": None}}, "status")


async def _patch(client: Client, job: Document, patch: Document, subresource: str = "") -> Document:
    metadata = job["metadata"]
    return await client.patch(JOBS, metadata["name"], patch, metadata["namespace"], subresource=subresource)


def job_workload_key(job: Document) -> str:
    return f"{job['metadata']['namespace']}/{workload_name('Job', job)}"
