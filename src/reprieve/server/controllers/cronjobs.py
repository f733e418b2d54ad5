"""CronJobs: a Job at every time of the schedule.

Of several times that were missed only the last one is made up for, unless it is longer ago than
`startingDeadlineSeconds`. What still runs is left alone, waited for or replaced, by `concurrencyPolicy`. As
many finished Jobs stay as the history limits say. Without `timeZone` a schedule is in UTC.
"""

from datetime import datetime
from functools import partial
from typing import Any

from reprieve.objects import Document, format_time, has_condition, parse_time, schedules, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.jobplan import finished_condition
from reprieve.server.controllers.pod_owners import AFTER_REFUSAL, is_ending
from reprieve.server.controllers.pods import owner_reference
from reprieve.server.documents import shifted
from reprieve.server.errors import ApiError
from reprieve.server.storage import Change

JOBS = "jobs.batch"
MANAGER = "cronjob-controller"
SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_LONGEST_NAME = 52


class CronJobs(Controller):
    resource = "cronjobs.batch"

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.changes.of(JOBS, self._job_changed)

    def _job_changed(self, change: Change) -> None:
        if b'"CronJob"' in change.record.raw:
            for owner in change.record.object["metadata"].get("ownerReferences", ()):
                if owner.get("kind") == "CronJob":
                    self.queue.add((change.record.namespace, owner.get("name", "")))

    async def reconcile(self, key: Key) -> datetime | None:
        owner = self.api.peek(self.resource, key[1], key[0])
        if owner is None:
            return None
        jobs = self._owned(owner)
        status = _with_jobs(owner.get("status") or {}, jobs)
        due = None
        if not owner["metadata"].get("deletionTimestamp"):
            if not owner["spec"].get("suspend"):
                due = await self._run(owner, status, jobs)
            await self._forget_old(owner, jobs)
        if status != (owner.get("status") or {}):
            await self.api.update_status(self.resource, {**owner, "status": status}, manager=MANAGER)
        return due

    def _owned(self, owner: Document) -> list[Document]:
        uid = owner["metadata"]["uid"]
        records = self.api.backend.store.collection(JOBS).scan(owner["metadata"]["namespace"])
        candidates = [r.object for r in records if uid.encode() in r.raw]
        return [
            job
            for job in candidates
            if any(
                o.get("uid") == uid and o.get("controller")
                for o in job["metadata"].get("ownerReferences", ())
            )
        ]

    async def _run(self, owner: Document, status: Document, jobs: list[Document]) -> datetime | None:
        """Start what is due; returns when the next start is."""
        try:
            zone = schedules.zone_named(owner["spec"].get("timeZone"))
            schedule = schedules.Schedule.parse(owner["spec"]["schedule"])
        except schedules.ScheduleError as error:
            await self._tell(owner, "UnparseableSchedule", str(error), warning=True)
            return None
        now = self.api.now()
        following = schedule.next(now, zone)
        due = _latest(owner, status, schedule, zone, now)
        if due is None or status.get("lastScheduleTime") == format_time(due):
            return following if schedule.every is None else schedule.next(_earliest(owner, status), zone)
        deadline = owner["spec"].get("startingDeadlineSeconds")
        if deadline is not None and shifted(due, deadline) < now:
            await self._tell(
                owner,
                "MissSchedule",
                f"Missed scheduled time to start a job: {format_time(due)}",
                warning=True,
            )
            return following
        running = [job for job in jobs if finished_condition(job) is None]
        policy = owner["spec"].get("concurrencyPolicy")
        if running and policy == "Forbid":
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            await self._tell(owner, "JobAlreadyActive", message)
            return following
        if policy == "Replace":
            await self._delete(running)
            gone = {job["metadata"]["uid"] for job in running}
            status["active"] = [a for a in status.get("active", ()) if a["uid"] not in gone]
        refused = await self._start(owner, status, due, zone)
        return min(following or refused, refused) if refused is not None else following

    async def _start(self, owner: Document, status: Document, due: datetime, zone: Any) -> datetime | None:
        """When to try again, if the Job was refused."""
        job = _job(owner, due, zone)
        try:
            created = await self.api.create(JOBS, job, manager=MANAGER)
            await self._tell(owner, "SuccessfulCreate", f"Created job {job['metadata']['name']}")
        except ApiError as refusal:
            if refusal.reason != "AlreadyExists":
                if not is_ending(refusal):
                    await self._tell(owner, "FailedCreate", f"Error creating job: {refusal}", warning=True)
                return self.api.now() + AFTER_REFUSAL
            created = self.api.peek(JOBS, job["metadata"]["name"], owner["metadata"]["namespace"]) or job
        if all(a["uid"] != created["metadata"].get("uid") for a in status.get("active", ())):
            status["active"] = [*status.get("active", ()), _reference(created)]
        status["lastScheduleTime"] = format_time(due)
        return None

    async def _forget_old(self, owner: Document, jobs: list[Document]) -> None:
        for type, field in ((well_known.JOB_COMPLETE, "successful"), (well_known.JOB_FAILED, "failed")):
            limit = owner["spec"].get(f"{field}JobsHistoryLimit")
            ended = [j for j in jobs if has_condition(j, type) and not j["metadata"].get("deletionTimestamp")]
            ended.sort(key=lambda j: (j["status"].get("startTime") or "", j["metadata"]["name"]))
            if limit is not None:
                await self._delete(ended[: max(0, len(ended) - int(limit))])

    async def _delete(self, jobs: list[Document]) -> None:
        await in_parallel(
            partial(
                self.api.delete,
                JOBS,
                job["metadata"]["name"],
                job["metadata"]["namespace"],
                propagation="Background",
                uid=job["metadata"]["uid"],
            )
            for job in jobs
        )

    async def _tell(self, owner: Document, reason: str, message: str, *, warning: bool = False) -> None:
        await record_event(self.api, owner, reason, message, component=MANAGER, warning=warning)


def _with_jobs(before: Document, jobs: list[Document]) -> Document:
    """Active jobs and the last success, from the jobs that exist."""
    status = {k: v for k, v in before.items() if k != "active"}
    active = [_reference(job) for job in jobs if finished_condition(job) is None]
    known = {a.get("uid"): a for a in before.get("active") or ()}
    if active:
        status["active"] = [known.get(a["uid"], a) for a in active]
    ends = [
        str(job["status"]["completionTime"])
        for job in jobs
        if (job.get("status") or {}).get("completionTime")
    ]
    if ends:
        status["lastSuccessfulTime"] = max([*ends, str(before.get("lastSuccessfulTime") or "")])
    return status


def _reference(job: Document) -> Document:
    meta = job["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion")
    return {"apiVersion": "batch/v1", "kind": "Job"} | {key: meta[key] for key in kept if key in meta}


def _earliest(owner: Document, status: Document) -> datetime:
    return parse_time(status.get("lastScheduleTime") or owner["metadata"]["creationTimestamp"])


def _latest(
    owner: Document, status: Document, schedule: schedules.Schedule, zone: Any, now: datetime
) -> datetime | None:
    """The last time of the schedule that has come since the last start."""
    earliest = _earliest(owner, status)
    deadline = owner["spec"].get("startingDeadlineSeconds")
    if deadline is not None:
        earliest = max(earliest, shifted(now, -deadline))
    first = schedule.next(earliest, zone)
    if first is None or first > now:
        return None
    second = schedule.next(first, zone)
    if second is None or second > now:
        return first
    # Do not walk through months of missed times: begin about two steps before now.
    gap = second - first
    found, following = first, schedule.next(first + ((now - first) // gap - 1) * gap, zone)
    while following is not None and following <= now:
        found, following = following, schedule.next(following, zone)
    return found


def _job(owner: Document, due: datetime, zone: Any) -> Document:
    template = owner["spec"]["jobTemplate"]
    meta = template.get("metadata") or {}
    minutes = int(due.timestamp()) // 60
    when = due.astimezone(zone).isoformat().replace("+00:00", "Z")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"{owner['metadata']['name'][:_LONGEST_NAME]}-{minutes}",
            "namespace": owner["metadata"]["namespace"],
            "labels": dict(meta.get("labels") or {}),
            "annotations": {**(meta.get("annotations") or {}), SCHEDULED_AT: when},
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": template.get("spec") or {},
    }
