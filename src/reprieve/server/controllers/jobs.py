"""Jobs: pods until enough of them succeed, or too many fail.

Every pod of a job carries the finalizer `batch.kubernetes.io/job-tracking` until it is counted, so that a
pod that ends and is deleted is counted exactly once, also across a crash: its uid goes into
`status.uncountedTerminatedPods`, then the finalizer is removed, then the total grows. What a job needs is
decided by the pure functions of `jobplan`.

Unlike upstream, a replacement for a failed pod waits one second, doubling up to a minute (not ten seconds
and ten minutes), and not at all when the pod was disrupted: this server is for trying things out.
"""

from datetime import datetime, timedelta
from typing import Any

from reprieve.objects import Document, format_time, parse_time, put_condition, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.jobplan import (
    JobOutcome,
    count_pods,
    decide,
    finished_condition,
    format_indexes,
    job_pod,
)
from reprieve.server.controllers.pods import Pod, PodIndex, PodKey
from reprieve.server.patch import STRATEGIC_MERGE_PATCH
from reprieve.server.storage import Record

MANAGER = "job-controller"


class Jobs(Controller):
    resource = "jobs.batch"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        self._retry_at: dict[str, datetime] = {}
        """When a job, by uid, may replace failed pods."""
        self._leaving: dict[Key, set[PodKey]] = {}
        """Tracked pods that are being deleted, by job; if the job is gone nobody will count them."""
        super().__init__(api)
        pods.listen(self._pod_changed)

    def changed(self, record: Record, gone: bool) -> None:
        if gone:
            self._retry_at.pop(record.object["metadata"].get("uid", ""), None)
        super().changed(record, gone)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        pod = after or before
        if pod is None or pod.controller_kind != "Job":
            return
        key = (pod.namespace, pod.controller_name)
        self.queue.add(key)
        if after is not None and after.deleting and well_known.JOB_TRACKING_FINALIZER in after.finalizers:
            self._leaving.setdefault(key, set()).add(after.key)

    async def reconcile(self, key: Key) -> datetime | None:
        job = self.api.peek(self.resource, key[1], key[0])
        uid = job["metadata"]["uid"] if job is not None else ""
        await self._release_orphans(key, uid)
        if job is None:
            return None
        await self._count_ended(job, self._pods.of_controller(uid))
        job = self.api.peek(self.resource, key[1], key[0])
        if job is None or job["metadata"].get("deletionTimestamp"):
            return None
        if finished_condition(job) is not None:
            return await self._clean_up(job)
        return await self._drive(job)

    async def _release_orphans(self, key: Key, uid: str) -> None:
        """Pods of a deleted job are not counted and need no finalizer."""
        leaving = [self._pods.get(pod) for pod in self._leaving.pop(key, ())]
        orphans = [
            p
            for p in leaving
            if p is not None and p.controller_uid != uid and well_known.JOB_TRACKING_FINALIZER in p.finalizers
        ]
        await self._untrack(orphans)

    # -- counting --------------------------------------------------------------------------------------------

    async def _count_ended(self, job: Document, pods: list[Pod]) -> None:
        uncounted = {
            outcome: list(((job.get("status") or {}).get("uncountedTerminatedPods") or {}).get(outcome) or ())
            for outcome in ("succeeded", "failed")
        }
        noted = {uid for uids in uncounted.values() for uid in uids}
        ended = [
            p
            for p in pods
            if well_known.JOB_TRACKING_FINALIZER in p.finalizers and (p.finished or p.deleting)
        ]
        for pod in ended:
            if pod.uid not in noted and not self._ignored(job, pod):
                uncounted["succeeded" if pod.phase == "Succeeded" else "failed"].append(pod.uid)
        if not ended and not noted:
            return
        new_failures = len(set(uncounted["failed"]) - noted)
        if any(set(uids) - noted for uids in uncounted.values()):
            await self._patch_status(
                job, {"uncountedTerminatedPods": {k: v for k, v in uncounted.items() if v}}
            )
        await self._untrack(ended)
        await self._settle_counts(job, uncounted, pods)
        if new_failures and not all(p.disrupted for p in ended if p.phase != "Succeeded"):
            self._back_off(job)

    def _ignored(self, job: Document, pod: Pod) -> bool:
        """Whether a failure policy excludes disruptions from the count."""
        if pod.phase == "Succeeded" or not pod.disrupted:
            return False
        rules = ((job.get("spec") or {}).get("podFailurePolicy") or {}).get("rules") or ()
        return any(
            rule.get("action") == "Ignore"
            and any(c.get("type") == well_known.DISRUPTION_TARGET for c in rule.get("onPodConditions") or ())
            for rule in rules
        )

    async def _untrack(self, pods: list[Pod]) -> None:
        def without_tracking(pod: Pod) -> Any:
            patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": [well_known.JOB_TRACKING_FINALIZER]}}
            return lambda: self.api.patch(
                "pods", pod.name, patch, pod.namespace, content_type=STRATEGIC_MERGE_PATCH, manager=MANAGER
            )

        await in_parallel(without_tracking(pod) for pod in pods)

    async def _settle_counts(self, job: Document, uncounted: dict[str, list[str]], pods: list[Pod]) -> None:
        """Move the uncounted pods into the totals, now that their finalizers are gone."""
        status = job.get("status") or {}
        change: Document = {"uncountedTerminatedPods": None}
        for outcome, uids in uncounted.items():
            if uids:
                change[outcome] = int(status.get(outcome) or 0) + len(set(uids))
        done = set(uncounted["succeeded"])
        indexes = [p.completion_index for p in pods if p.uid in done and p.completion_index is not None]
        if indexes:
            known = count_pods(job, ()).completed
            change["completedIndexes"] = format_indexes(known | set(indexes))
        await self._patch_status(job, change)

    def _back_off(self, job: Document) -> None:
        failures = int((job.get("status") or {}).get("failed") or 0)
        wait = min(60.0, 2.0 ** min(failures, 6))
        self._retry_at[job["metadata"]["uid"]] = self.api.now() + timedelta(seconds=wait)

    # -- driving ---------------------------------------------------------------------------------------------

    async def _drive(self, job: Document) -> datetime | None:
        now = self.api.now()
        counts = count_pods(job, self._pods.of_controller(job["metadata"]["uid"]))
        outcome = decide(job, counts, now)
        if outcome.complete and counts.succeeded > int((job.get("status") or {}).get("succeeded") or 0):
            # A pod ended after the last count: count it before the job is called complete.
            self.queue.add((job["metadata"]["namespace"], job["metadata"]["name"]))
            return None
        retry_at = self._retry_at.get(job["metadata"]["uid"])
        surplus = outcome.surplus
        await in_parallel(self._deleting(pod) for pod in surplus)
        waits = retry_at is not None and retry_at > now and outcome.missing
        if outcome.missing and not waits:
            created = [job_pod(job, index) for index in outcome.missing]
            await in_parallel(self._creating(pod) for pod in created)
        await self._write_status(job, outcome)
        due = [outcome.look_again] if outcome.look_again is not None else []
        return min([*due, retry_at] if waits and retry_at else due, default=None)

    def _deleting(self, pod: Pod) -> Any:
        return lambda: self.api.delete("pods", pod.name, pod.namespace, uid=pod.uid)

    def _creating(self, pod: Document) -> Any:
        return lambda: self.api.create("pods", pod, manager=MANAGER)

    async def _write_status(self, job: Document, outcome: JobOutcome) -> None:
        counts = count_pods(job, self._pods.of_controller(job["metadata"]["uid"]))
        now = self.api.backend.timestamp()
        status = dict(job.get("status") or {})
        status["conditions"] = [dict(c) for c in status.get("conditions") or ()]
        status |= {"active": len(counts.active), "ready": counts.ready, "terminating": counts.terminating}
        if outcome.suspended:
            status.pop("startTime", None)
        else:
            status.setdefault("startTime", now)
        for condition in outcome.conditions:
            put_condition(status, now, **condition)
        if outcome.complete:
            status["completionTime"] = now
        if not status["conditions"]:
            del status["conditions"]
        if status != job.get("status"):
            await self._replace_status(job, status)

    async def _replace_status(self, job: Document, status: Document) -> None:
        gone = {field: None for field in job.get("status") or () if field not in status}
        await self._patch_status(job, {**status, **gone})

    async def _patch_status(self, job: Document, status: Document) -> None:
        meta = job["metadata"]
        await self.api.patch(
            self.resource,
            meta["name"],
            {"status": status},
            meta["namespace"],
            subresource="status",
            manager=MANAGER,
        )

    async def _clean_up(self, job: Document) -> datetime | None:
        """No pod of a finished job keeps running; the job itself is deleted after its TTL."""
        left = [p for p in self._pods.of_controller(job["metadata"]["uid"]) if p.active]
        await in_parallel(self._deleting(pod) for pod in left)
        ttl = (job.get("spec") or {}).get("ttlSecondsAfterFinished")
        ended = finished_condition(job)
        if ttl is None or ended is None:
            return None
        due = parse_time(ended.get("lastTransitionTime") or format_time(self.api.now())) + timedelta(
            seconds=ttl
        )
        if due > self.api.now():
            return due
        meta = job["metadata"]
        await self.api.delete(
            self.resource, meta["name"], meta["namespace"], propagation="Background", uid=meta["uid"]
        )
        return None
