"""CronJobs: when Jobs start, what happens while one still runs, what is made up for, what stays."""

from typing import Any

import pytest

from reprieve.server.errors import ApiError
from tests.server.rig import Rig, job, running

NODES = ("n=1:cpu=4",)
Doc = dict[str, Any]


def cron_job(schedule: str = "*/5 * * * *", annotations: Doc | None = None, **spec: Any) -> Doc:
    template = {"metadata": {"labels": {"app": "cron"}}, "spec": job(annotations=annotations)["spec"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"schedule": schedule, "jobTemplate": template, **spec},
    }


def jobs(rig: Rig) -> list[str]:
    return [j["metadata"]["name"] for j in rig.api.select("jobs.batch")]


def status(rig: Rig) -> Doc:
    return rig.get("cronjobs.batch", "c")["status"]


def reasons(rig: Rig) -> set[str]:
    return {e["reason"] for e in rig.api.select("events")}


async def test_a_job_starts_at_every_time_of_the_schedule() -> None:
    """The clock of the test starts at midnight, 2026-01-01."""
    async with running(NODES) as rig:
        await rig.create("cronjobs.batch", cron_job(annotations={"reprieve.dev/run-for": "10s"}))
        await rig.advance(299)
        assert jobs(rig) == []
        await rig.advance(1)
        (name,) = jobs(rig)
        made = rig.get("jobs.batch", name)["metadata"]
        assert name == f"c-{1767225900 // 60}"
        assert (
            made["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] == "2026-01-01T00:05:00Z"
        )
        assert made["labels"]["app"] == "cron"
        assert [a["name"] for a in status(rig)["active"]] == [name]
        assert status(rig)["lastScheduleTime"] == "2026-01-01T00:05:00Z"
        await rig.advance(11)
        assert "active" not in status(rig)
        assert status(rig)["lastSuccessfulTime"] == "2026-01-01T00:05:11Z"
        await rig.advance(300)
        assert len(jobs(rig)) == 2


@pytest.mark.parametrize(("policy", "running_jobs"), [("Allow", 3), ("Forbid", 1), ("Replace", 1)])
async def test_a_job_that_still_runs_is_joined_waited_for_or_replaced(policy: str, running_jobs: int) -> None:
    async with running(NODES) as rig:
        await rig.create("cronjobs.batch", cron_job(concurrencyPolicy=policy))
        first = ""
        for _ in range(3):
            await rig.advance(300)
            await rig.advance(0)
            first = first or jobs(rig)[0]
        assert len(jobs(rig)) == running_jobs
        assert (first in jobs(rig)) == (policy != "Replace")
        assert ("JobAlreadyActive" in reasons(rig)) == (policy == "Forbid")


async def test_a_suspended_cron_job_starts_nothing_and_makes_up_for_one_when_it_goes_on() -> None:
    async with running(NODES) as rig:
        await rig.create("cronjobs.batch", cron_job(suspend=True))
        await rig.advance(2000)
        assert jobs(rig) == []
        await rig.api.patch("cronjobs.batch", "c", {"spec": {"suspend": False}}, "default")
        await rig.settle()
        assert status(rig)["lastScheduleTime"] == "2026-01-01T00:30:00Z"
        assert len(jobs(rig)) == 1


async def test_what_is_later_than_the_deadline_is_not_made_up_for() -> None:
    async with running(NODES) as rig:
        await rig.create("cronjobs.batch", cron_job(suspend=True, startingDeadlineSeconds=60))
        await rig.advance(2000)
        await rig.api.patch("cronjobs.batch", "c", {"spec": {"suspend": False}}, "default")
        await rig.settle()
        assert jobs(rig) == []
        await rig.advance(100)
        assert len(jobs(rig)) == 1


async def test_only_as_many_finished_jobs_stay_as_the_limits_say() -> None:
    async with running(NODES) as rig:
        quick = {"reprieve.dev/run-for": "10s"}
        spec = cron_job(annotations=quick, successfulJobsHistoryLimit=2)
        await rig.create("cronjobs.batch", spec)
        for _ in range(5):
            await rig.advance(289)
            await rig.advance(11)
        await rig.advance(20)
        assert len(jobs(rig)) == 2


async def test_an_interval_counts_from_the_last_start() -> None:
    async with running(NODES) as rig:
        await rig.create("cronjobs.batch", cron_job("@every 90s"))
        for count in (1, 2):
            await rig.advance(90)
            assert len(jobs(rig)) == count


async def test_a_time_zone_is_honoured() -> None:
    async with running(NODES) as rig:
        await rig.create("cronjobs.batch", cron_job("0 2 * * *", timeZone="Europe/Berlin"))
        await rig.advance(3599)
        assert jobs(rig) == []
        await rig.advance(2)
        (name,) = jobs(rig)
        annotations = rig.get("jobs.batch", name)["metadata"]["annotations"]
        assert annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] == "2026-01-01T02:00:00+01:00"


@pytest.mark.parametrize(
    ("spec", "field"), [({"schedule": "hourly"}, "spec.schedule"), ({"timeZone": "Mars"}, "spec.timeZone")]
)
async def test_what_cannot_be_read_is_refused(spec: Doc, field: str) -> None:
    async with running() as rig:
        document = cron_job()
        document["spec"] |= spec
        with pytest.raises(ApiError, match=field):
            await rig.api.create("cronjobs.batch", document)
