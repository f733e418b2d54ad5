"""Jobs of any kind that wait for quota: held until their workload is admitted, stopped when it is evicted.

A kind with a field for suspension is suspended; the pods of the others get a gate through their templates.
Every step follows from the objects alone and can be repeated. The order of the writes is the one a real API
server allows: a Job's node selector may change only while it is suspended and has no start time.
"""

import logging
from collections.abc import Callable
from typing import Any

from reprieve.controllers.quota.groups import create, is_anothers, own, remove
from reprieve.controllers.quota.job_shape import (
    as_it_runs,
    fits_into,
    is_elastic,
    still_asks,
    with_assigned_counts,
)
from reprieve.controllers.quota.lifecycle import STOPPED
from reprieve.controllers.quota.managed import Managed
from reprieve.controllers.quota.observed import Observed
from reprieve.controllers.quota.owners import Asker, OwnerId
from reprieve.jobs import (
    JobKind,
    PodSet,
    controller_reference,
    dropped,
    ending,
    gate_additions,
    gated,
    job_workloads,
    merge_patch,
    pod_sets,
    prebuilt_workload,
    progress,
    queue_of,
    requested,
    restored,
    suspended,
    suspended_by,
    unheeded,
    was_changed,
)
from reprieve.kube import KUEUE_WORKLOADS, ApiError, Client, Resource
from reprieve.objects import Document, InvalidObject, Reference, Workload, raw, well_known
from reprieve.quota import is_true

log = logging.getLogger(__name__)

Tell = Callable[[Document, str, str], None]
"""An event about a job: the job, a reason, a message."""


def resource_of(kind: JobKind) -> Resource:
    return Resource(kind.group, kind.versions[0], kind.kind, kind.plural)


class Jobs:
    def __init__(self, client: Client, seen: Observed, managed: Managed, tell: Tell) -> None:
        self._client = client
        self._seen = seen
        self._owners = seen.owners
        self._kinds = seen.owners.kinds
        self._managed = managed
        self._tell = tell

    async def reconcile(self, id: OwnerId) -> None:
        """Bring one job in line with its workload; create the workload if there is none."""
        asker = self._owners.get(id)
        job = asker.job if asker is not None else None
        if (
            asker is None
            or job is None
            or ending(job, self._kinds) is not None
            or job["metadata"].get("deletionTimestamp")
        ):
            return
        kind = self._owners.kind(id)
        if not queue_of(job):
            await self._without_queue(kind, job)
        elif not await self._managed.by_another(job):
            await (self._suspended(kind, job, asker) if kind.asks == "job" else self._gated(kind, job, id))

    async def _without_queue(self, kind: JobKind, job: Document) -> None:
        if kind.asks == "job":
            if not suspended_by(job, self._kinds) and self._managed.must_name_queue(job):
                await self._suspend(kind, job)
        elif self._managed.must_name_queue(job) or was_changed(job):
            sets = self._pod_sets(job)
            must = self._managed.must_name_queue(job)
            held = gated(job, sets, gate_additions(job, kind, sets)) if must else restored(job, sets)
            await self._write(kind, job, held)

    # Kinds that can be suspended

    async def _suspended(self, kind: JobKind, job: Document, asker: Asker) -> None:
        key = self._owners.key(asker)
        stored, workload = self._seen.raw.get(key), self._seen.workloads.get(key)
        is_suspended = bool(suspended_by(job, self._kinds))
        if stored is None or workload is None:
            if not is_suspended:
                await self._suspend(kind, job)
            elif not prebuilt_workload(job["metadata"]):
                await self._create_workload(kind, job)
            return
        if is_anothers(job["metadata"]["uid"], workload):
            if not is_suspended:
                await self._suspend(kind, job)
            return
        if not workload.metadata.owner_references:
            await own(self._client, controller_reference(job), workload.metadata)
        if workload.metadata.deletion_timestamp is not None:
            if not is_suspended:
                await self._suspend(kind, job)  # it asks anew when that one is gone
        elif workload.may_run:
            if not self._as_admitted(kind, job, stored, workload):
                await self._ask_anew(kind, job, key, workload)
            elif is_suspended and self._has_stopped(key, workload):
                # Pods from before it was held go first: its own controller, which may never see that it was
                # suspended for a moment, would keep them, on nodes of any flavor.
                await self._start(kind, job, workload)
        elif not is_suspended:
            await self._suspend(kind, job)
        else:
            await self._restore(kind, job, key, stored, workload)

    async def _create_workload(self, kind: JobKind, job: Document) -> None:
        try:
            asking = job_workloads(job, self._kinds, self._runtimes)
        except InvalidObject as error:
            self._tell(job, "InvalidJob", f"asks for no quota until this is mended: {error}")
            return
        for each in asking:  # none if it has no pods
            count = sum(pod_set["count"] for pod_set in each.workload["spec"]["podSets"])
            for text in unheeded(job, kind, count):
                self._tell(job, "NotHeeded", text)
            self._seen.priorities.fill_in(each.workload)
            await create(self._client, each.workload)

    async def _suspend(self, kind: JobKind, job: Document) -> None:
        answer = await self._write(kind, job, suspended(job, kind))
        if not suspended_by({**job, **answer}, self._kinds):
            log.warning(
                "%s %s/%s runs without quota: this API server does not keep %s (Kubernetes keeps that of a "
                "Job from 1.21 on)",
                kind.kind,
                job["metadata"]["namespace"],
                job["metadata"]["name"],
                kind.suspend,
            )

    async def _start(self, kind: JobKind, job: Document, workload: Workload) -> None:
        flavors = self._seen.quota.cache.flavors
        running = as_it_runs(job, self._kinds, self._runtimes, workload, flavors)
        answer = await self._write(kind, job, running, await self._clear_start_time(kind, job))
        for path in dropped(running, answer, self._pod_sets(job)):
            what = (
                f"runs without the node labels and tolerations of its flavors: this API server drops {path}"
            )
            self._tell(job, "NotKept", what)
            log.warning("%s %s", Reference.read(job), what)

    def _as_admitted(self, kind: JobKind, job: Document, stored: Document, workload: Workload) -> bool:
        """Whether the job still asks for what its workload was admitted with."""
        if prebuilt_workload(job["metadata"]):
            return True
        waits = bool(suspended_by(job, self._kinds))
        try:
            sets = self._pod_sets(job)
            plain = restored(job, sets) if waits else job
            wanted = sets if plain is job else self._pod_sets(plain)
        except InvalidObject:
            return True  # whoever made it so has to mend it
        if is_elastic(job, kind):
            done = progress(job, kind, sets).done
            return fits_into(requested(plain, kind, wanted), workload, stored, done)
        held = stored if waits else with_assigned_counts(stored, workload)
        return still_asks(plain, kind, wanted, held)

    async def _ask_anew(self, kind: JobKind, job: Document, key: str, workload: Workload) -> None:
        """As Kueue does: what changed is stopped, and when nothing of it runs it asks for what it is now."""
        if not suspended_by(job, self._kinds):
            changed = "asks for other pods than it has quota for: it is stopped and asks anew"
            self._tell(job, "ChangedWhileRunning", changed)
            await self._suspend(kind, job)
        elif self._has_stopped(key, workload):
            metadata = workload.metadata
            await self._client.delete(KUEUE_WORKLOADS, metadata.name, metadata.namespace, uid=metadata.uid)

    async def _restore(
        self, kind: JobKind, job: Document, key: str, stored: Document, workload: Workload
    ) -> None:
        """A job that waits is as its user wrote it; if that has changed meanwhile, it queues again."""
        plain = restored(job, self._pod_sets(job))
        if plain is not job:
            # While its pods are there an API server may refuse another template.
            if self._has_stopped(key, workload):
                await self._write(kind, job, plain, await self._clear_start_time(kind, job))
            return
        if (
            is_true(workload, well_known.QUOTA_RESERVED)
            or prebuilt_workload(job["metadata"])
            or still_asks(job, kind, self._pod_sets(job), stored)
        ):
            return
        metadata = stored["metadata"]
        await self._client.delete(
            KUEUE_WORKLOADS, metadata["name"], metadata["namespace"], uid=metadata["uid"]
        )

    def _has_stopped(self, key: str, workload: Workload) -> bool:
        """Whether nothing of the job behind a workload is left, as its pods and its status say."""
        return self._owners.state(key, workload).state == STOPPED

    async def _clear_start_time(self, kind: JobKind, job: Document) -> str:
        """Remove the time at which it began, which would keep its template from changing; its new version."""
        steps, metadata = kind.status.started.split("."), job["metadata"]
        if not kind.status.started or not raw.at(job, *steps):
            return ""
        patch: Any = None
        for step in reversed(steps):
            patch = {step: patch}
        patch["metadata"] = {"resourceVersion": metadata["resourceVersion"]}
        answer = await self._client.patch(
            resource_of(kind), metadata["name"], patch, metadata["namespace"], subresource="status"
        )
        return str(answer["metadata"]["resourceVersion"])

    # Kinds whose pods are gated

    async def _gated(self, kind: JobKind, job: Document, id: OwnerId) -> None:
        try:
            sets = self._pod_sets(job)
            held = gated(job, sets, gate_additions(job, kind, sets))
        except InvalidObject as error:
            self._tell(job, "InvalidJob", f"asks for no quota until this is mended: {error}")
            return
        if held != job:
            await self._write(kind, job, held)
            return
        for pod in self._owners.pods_of(id).values():
            is_old = well_known.QUEUE_LABEL not in pod.metadata.labels
            if is_old and pod.metadata.deletion_timestamp is None:
                await remove(self._client, pod)  # from before the templates held them

    def _pod_sets(self, job: Document) -> list[PodSet]:
        return pod_sets(job, self._kinds, self._runtimes)

    @property
    def _runtimes(self) -> list[Document]:
        return list(self._owners.runtimes.values())

    async def _write(self, kind: JobKind, job: Document, new: Document, revision: str = "") -> Document:
        """Change what differs, unless the job is not any more what was looked at: it comes again as it is."""
        patch = merge_patch(job, new)
        if not patch:
            return job
        metadata = job["metadata"]
        patch.setdefault("metadata", {})["resourceVersion"] = revision or metadata["resourceVersion"]
        resource = resource_of(kind)
        try:
            return await self._client.patch(resource, metadata["name"], patch, metadata["namespace"])
        except ApiError as error:
            if not (error.conflict or error.not_found):
                raise
            return new
