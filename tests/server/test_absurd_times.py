"""Numbers of seconds in documents reach further than dates do: what they speak of is far away, not broken."""

import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from reprieve.server.documents import shifted
from tests.server.wire import PODS, connected
from tests.steps import LONGEST_SECONDS, counted_steps
from tests.waiting import eventually

LONG = 2**63 - 1
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CRON = "/apis/batch/v1/namespaces/default/cronjobs"
TEMPLATE: dict[str, Any] = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
NOW = datetime(2026, 8, 23, tzinfo=UTC)


def test_seconds_beyond_all_dates() -> None:
    assert shifted(NOW, 60) == datetime(2026, 8, 23, 0, 1, tzinfo=UTC)
    assert shifted(NOW, LONG) == shifted(NOW, 10**12) == datetime.max.replace(tzinfo=UTC)
    assert shifted(NOW, -LONG) == datetime.min.replace(tzinfo=UTC)


async def test_a_job_with_a_deadline_beyond_all_dates_gets_its_pods_and_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connected(controllers=True) as wire:
        spec = {"activeDeadlineSeconds": LONG, "ttlSecondsAfterFinished": 2**31 - 1, "template": TEMPLATE}
        assert (await wire.post(JOBS, {"metadata": {"name": "long"}, "spec": spec})).status == 201

        async def counted() -> bool:
            return (await wire.get(f"{JOBS}/long")).body.get("status", {}).get("active") == 1

        await eventually(counted, "its pod is made and counted")
        [name] = (await wire.get(PODS)).names
        done = {"status": {"phase": "Succeeded"}}
        await wire.patch(f"{PODS}/{name}/status", done)

        async def ended() -> bool:
            return (await wire.get(f"{JOBS}/long")).body["status"].get("succeeded") == 1

        await eventually(ended, "it has ended")
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


async def test_a_pod_that_tolerates_a_taint_for_ever_stays(caplog: pytest.LogCaptureFixture) -> None:
    async with connected(controllers=True) as wire:
        await wire.post("/api/v1/nodes", {"metadata": {"name": "node-0"}})
        for name, seconds in (("patient", LONG), ("impatient", 0)):
            toleration: dict[str, Any] = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
            toleration |= {"tolerationSeconds": seconds}
            spec = {**TEMPLATE["spec"], "nodeName": "node-0", "tolerations": [toleration]}
            assert (await wire.post(PODS, {"metadata": {"name": name}, "spec": spec})).status == 201
        taint = {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}
        await wire.patch("/api/v1/nodes/node-0", taint)

        async def evicted() -> bool:
            found = await wire.get(f"{PODS}/impatient")
            return found.status == 404 or "deletionTimestamp" in found.body["metadata"]

        await eventually(evicted, "the other one goes")
        assert "deletionTimestamp" not in (await wire.get(f"{PODS}/patient")).body["metadata"]
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


async def test_a_schedule_with_a_deadline_beyond_all_dates_starts_its_job(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connected(controllers=True) as wire:
        spec = {
            "schedule": "@every 1s",
            "startingDeadlineSeconds": LONG,
            "jobTemplate": {"spec": {"template": TEMPLATE}},
        }
        assert (await wire.post(CRON, {"metadata": {"name": "c"}, "spec": spec})).status == 201

        async def started() -> bool:
            return bool((await wire.get(JOBS)).names)

        await eventually(started, "a job is started")
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


async def test_a_job_of_very_many_pods_lets_others_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(controllers=True) as wire:
        spec = {"parallelism": 100_000, "completions": 100_000, "completionMode": "Indexed"}
        with counted_steps(monkeypatch) as steps:
            made = await wire.post(JOBS, {"metadata": {"name": "x"}, "spec": {**spec, "template": TEMPLATE}})
            assert made.status == 201
            await eventually(lambda: len(wire.server.api.select("pods")) > 500, "it has its first pods")
        assert steps.longest < LONGEST_SECONDS, steps.what
