"""Jobs: pods until enough of them succeed, or too many fail.

Every pod of a job carries the finalizer `batch.kubernetes.io/job-tracking` until it is counted, so that a
pod that ends and is deleted is counted exactly once, also across a crash: its uid goes into
`status.uncountedTerminatedPods` (the index of one that succeeded into `completedIndexes`), then the finalizer
is removed, then the total grows. What a job needs is decided by the pure functions of `jobplan`, from what
`jobcounts` counts and `jobfailures` knows about failed pods.

A job that ends gets two conditions: SuccessCriteriaMet or FailureTarget when that is clear, Complete or
Failed when its last pod has stopped. One that another controller manages (`spec.managedBy`) is left alone.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial

import msgspec

from reprieve.objects import Document, parse_time, put_condition, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Key, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.jobcounts import (
    PodCounts,
    completions_of,
    count_pods,
    format_indexes,
    has_valid_index,
    is_tracked,
    parse_indexes,
)
from reprieve.server.controllers.jobfailures import BackOff, Failure, failure_of, finish_time, is_failed
from reprieve.server.controllers.jobgroups import ensure_group, wants_group
from reprieve.server.controllers.jobplan import FINAL, JobOutcome, decide, finished_condition, job_pod
from reprieve.server.controllers.pod_owners import PodOwners
from reprieve.server.controllers.pods import Pod, PodIndex, PodKey
from reprieve.server.documents import shifted
from reprieve.server.errors import ApiError
from reprieve.server.patch import STRATEGIC_MERGE_PATCH
from reprieve.server.storage import Record

MANAGER = "job-controller"
MANAGED_BY = "kubernetes.io/job-controller"
MOST_UNCOUNTED = 500
"""Uids in `status.uncountedTerminatedPods`, so that a status stays small."""


class Jobs(PodOwners):
    resource = "jobs.batch"
    kind = "Job"
    manager = MANAGER

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._back_off: dict[str, BackOff] = {}
        """By uid, of jobs with failures since their last success."""
        self._leaving: dict[Key, set[PodKey]] = {}
        """Tracked pods that are being deleted, by job; if the job is gone nobody will count them."""
        super().__init__(api, pods)

    def changed(self, record: Record, gone: bool) -> None:
        if gone:
            self._back_off.pop(record.object["metadata"].get("uid", ""), None)
        super().changed(record, gone)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        super()._pod_changed(before, after)
        if after is not None and after.controller_kind == self.kind and after.deleting and is_tracked(after):
            self._leaving.setdefault((after.namespace, after.controller_name), set()).add(after.key)

    async def reconcile(self, key: Key) -> datetime | None:
        job = self.api.peek(self.resource, key[1], key[0])
        await self._release_orphans(key, job["metadata"]["uid"] if job is not None else "")
        if job is None or job["spec"].get("managedBy", MANAGED_BY) != MANAGED_BY:
            return None
        if finished_condition(job) is None:
            return await self._advance(job, self.pods.of_controller(job["metadata"]["uid"]))
        await self._untrack([p for p in self.pods.of_controller(job["metadata"]["uid"]) if is_tracked(p)])
        self._back_off.pop(job["metadata"]["uid"], None)
        return await self._expire(job)

    async def _release_orphans(self, key: Key, uid: str) -> None:
        """Pods of a deleted job are not counted and need no finalizer."""
        leaving = [self.pods.get(pod) for pod in self._leaving.pop(key, ())]
        await self._untrack(
            [p for p in leaving if p is not None and p.controller_uid != uid and is_tracked(p)]
        )

    async def _advance(self, job: Document, pods: list[Pod]) -> datetime | None:
        """One step: decide, carry it out, record it."""
        failures = self._failures(job, pods)
        counts = count_pods(job, pods, failures)
        back_off = self._next_back_off(job, pods, counts)
        outcome = decide(job, counts, self.api.now(), back_off)
        deleting = bool(job["metadata"].get("deletionTimestamp"))
        due = [outcome.look_again] if outcome.look_again is not None else []
        if not deleting:
            due += await self._adjust_pods(job, counts, outcome)
        pods = self.pods.of_controller(job["metadata"]["uid"])
        status = self._status(job, pods, outcome)
        removable = [p for p in pods if is_tracked(p) and self._countable(job, p, counts, outcome, deleting)]
        batch = sorted(removable, key=lambda p: (p.completion_index or 0, p.name))[:MOST_UNCOUNTED]
        self._note(job, status, batch, failures, outcome)
        job = await self._write(job, status)
        self._back_off[job["metadata"]["uid"]] = back_off
        await self._untrack(batch)
        await self._settle(job, outcome, all_counted=len(batch) == len(removable))
        return min(due, default=None)

    def _failures(self, job: Document, pods: list[Pod]) -> dict[str, Failure]:
        """What is to be known about failed pods that are not counted yet."""
        found = {}
        for pod in pods:
            if is_tracked(pod) and is_failed(job, pod):
                document = self.api.peek("pods", pod.name, pod.namespace)
                if document is not None:
                    found[pod.uid] = failure_of(job, document)
        return found

    def _next_back_off(self, job: Document, pods: list[Pod], counts: PodCounts) -> BackOff:
        known = self._back_off.get(job["metadata"]["uid"], BackOff())
        noted = ((job.get("status") or {}).get("uncountedTerminatedPods") or {}).get("succeeded") or ()
        limit = completions_of(job)
        won = [
            self.api.peek("pods", p.name, p.namespace)
            for p in pods
            if p.phase == "Succeeded" and is_tracked(p) and p.uid not in noted and has_valid_index(p, limit)
        ]
        if not won and not counts.new_failures:
            return known
        return known.after([finish_time(p) for p in won if p], [f.time for f in counts.new_failures])

    async def _adjust_pods(self, job: Document, counts: PodCounts, outcome: JobOutcome) -> list[datetime]:
        if outcome.surplus:
            if outcome.ending is None or outcome.complete:
                await self._untrack(list(outcome.surplus))
            await self.delete_pods(list(outcome.surplus))
        missing, group = outcome.missing, ""
        if (missing or outcome.surplus) and wants_group(job):
            try:
                group = await ensure_group(self.api, job, self.manager)
            except ApiError as error:
                return self.later(await self._no_group(job, error))
        made = (_made(job, index, counts, group) for index in missing)
        return self.later(await self.create_pods(job, made)) if missing else []

    async def _no_group(self, job: Document, error: ApiError) -> ApiError:
        """Without its group no pod is made: one by one is not what the job asks for."""
        message = f"Error creating the job's Workload or PodGroup: {error}"
        await record_event(self.api, job, "FailedCreate", message, component=self.manager, warning=True)
        return error

    # -- status ----------------------------------------------------------------------------------------------

    def _status(self, job: Document, pods: list[Pod], outcome: JobOutcome) -> Document:
        counts = count_pods(job, pods)
        now = self.api.backend.timestamp()
        status = dict(job.get("status") or {})
        status["conditions"] = [dict(c) for c in status.get("conditions") or ()]
        status |= {"active": len(counts.active), "ready": counts.ready, "terminating": counts.terminating}
        suspended = bool(job["spec"].get("suspend"))
        if not suspended:
            status.setdefault("startTime", now)
        if outcome.ending is not None:
            _add_condition(status, now, **msgspec.structs.asdict(outcome.ending))
        elif suspended:
            said = {"reason": "JobSuspended", "message": "Job suspended"}
            if _add_condition(status, now, type=well_known.JOB_SUSPENDED, **said):
                status.pop("startTime", None)
        elif any(c["type"] == well_known.JOB_SUSPENDED for c in status["conditions"]):
            said = {"status_": "False", "reason": "JobResumed", "message": "Job resumed"}
            if _add_condition(status, now, type=well_known.JOB_SUSPENDED, **said):
                status["startTime"] = now
        if not status["conditions"]:
            del status["conditions"]
        return status

    def _countable(
        self, job: Document, pod: Pod, counts: PodCounts, outcome: JobOutcome, deleting: bool
    ) -> bool:
        if deleting or outcome.ending is not None or pod.phase == "Succeeded":
            return True
        waits = counts.awaiting_retry.get(-1 if pod.completion_index is None else pod.completion_index)
        kept = waits is not None and waits.uid == pod.uid and pod.completion_index not in outcome.missing
        return is_failed(job, pod) and not kept

    def _note(
        self,
        job: Document,
        status: Document,
        batch: list[Pod],
        failures: Mapping[str, Failure],
        outcome: JobOutcome,
    ) -> None:
        """Write into the status which pods will be counted once their finalizers are gone."""
        limit = completions_of(job)
        uncounted = {
            kind: list((status.get("uncountedTerminatedPods") or {}).get(kind) or ())
            for kind in ("succeeded", "failed")
        }
        completed = parse_indexes(str(status.get("completedIndexes") or ""), limit or 0)
        for pod in batch:
            if pod.phase == "Succeeded" and pod.uid not in uncounted["failed"]:
                if limit is None and pod.uid not in uncounted["succeeded"]:
                    uncounted["succeeded"].append(pod.uid)
                elif limit is not None and has_valid_index(pod, limit):
                    completed |= {pod.completion_index or 0}
            elif is_failed(job, pod) or (outcome.ending is not None and not outcome.complete):
                # Every pod of a failed job that has not ended counts as failed, too.
                ordinary = pod.uid not in failures or failures[pod.uid].counted
                if ordinary and has_valid_index(pod, limit) and pod.uid not in uncounted["failed"]:
                    uncounted["failed"].append(pod.uid)
        status["uncountedTerminatedPods"] = {kind: uids for kind, uids in uncounted.items() if uids}
        if limit is not None:
            status["succeeded"], status["completedIndexes"] = len(completed), format_indexes(completed)
            if job["spec"].get("backoffLimitPerIndex") is not None:
                failed = count_pods(job, batch, failures).failed_indexes
                status["failedIndexes"] = format_indexes(failed)

    async def _settle(self, job: Document, outcome: JobOutcome, *, all_counted: bool) -> None:
        """Move uncounted pods into the totals, now that their finalizers are gone; end the job if it can."""
        status = dict(job.get("status") or {})
        tracked = {p.uid for p in self.pods.of_controller(job["metadata"]["uid"]) if is_tracked(p)}
        left = {}
        for kind, uids in (status.get("uncountedTerminatedPods") or {}).items():
            left[kind] = [uid for uid in uids if uid in tracked]
            if len(left[kind]) < len(uids):
                status[kind] = int(status.get(kind) or 0) + len(uids) - len(left[kind])
        status["uncountedTerminatedPods"] = {kind: uids for kind, uids in left.items() if uids}
        counts = count_pods(job, self.pods.of_controller(job["metadata"]["uid"]))
        settled = all_counted and not status["uncountedTerminatedPods"]
        ended = outcome.ending is not None and settled and not counts.active and not counts.terminating
        if ended and outcome.ending is not None:
            now = self.api.backend.timestamp()
            status["conditions"] = [dict(c) for c in status.get("conditions") or ()]
            final = {**msgspec.structs.asdict(outcome.ending), "type": FINAL[outcome.ending.type]}
            _add_condition(status, now, **final)
            if outcome.complete:
                status["completionTime"] = now
        job = await self._write(job, status)
        if ended and outcome.ending is not None:
            reason, message = outcome.ending.reason, outcome.ending.message
            if outcome.complete:
                reason, message = "Completed", "Job completed"
            await record_event(
                self.api, job, reason, message, component=MANAGER, warning=not outcome.complete
            )

    async def _write(self, job: Document, status: Document) -> Document:
        if status == job.get("status"):
            return job
        return await self.api.update_status(self.resource, {**job, "status": status}, manager=MANAGER)

    async def _untrack(self, pods: list[Pod]) -> None:
        patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": [well_known.JOB_TRACKING_FINALIZER]}}
        await in_parallel(
            partial(
                self.api.patch,
                "pods",
                pod.name,
                patch,
                pod.namespace,
                content_type=STRATEGIC_MERGE_PATCH,
                manager=MANAGER,
            )
            for pod in pods
        )

    async def _expire(self, job: Document) -> datetime | None:
        """A finished job is deleted after its time to live."""
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        ended = finished_condition(job)
        if ttl is None or ended is None or job["metadata"].get("deletionTimestamp"):
            return None
        due = shifted(parse_time(ended["lastTransitionTime"]), ttl)
        if due > self.api.now():
            return due
        meta = job["metadata"]
        await self.api.delete(
            self.resource, meta["name"], meta["namespace"], propagation="Foreground", uid=meta["uid"]
        )
        return None


def _made(job: Document, index: int | None, counts: PodCounts, group: str) -> Document:
    pod = job_pod(job, index, counts.awaiting_retry.get(index or 0))
    if group:
        pod["spec"]["schedulingGroup"] = {"podGroupName": group}
    return pod


def _add_condition(
    status: Document, now: str, *, type: str, reason: str, message: str, status_: str = "True"
) -> bool:
    """True if the condition is new or its status changed."""
    known = next((c for c in status["conditions"] if c["type"] == type), None)
    if known is not None and known["status"] == status_:
        return False
    put_condition(status, now, type=type, status=status_, reason=reason, message=message, lastProbeTime=now)
    return True
