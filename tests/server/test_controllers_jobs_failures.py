"""Jobs whose pods fail: back-off, limits for each index, failure policies, replacement policies."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.controllers.jobfailures import BackOff, delay
from tests.server.rig import Rig, job, running

NODES = ("n=2:cpu=4",)
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
Doc = dict[str, Any]


def status(rig: Rig) -> Doc:
    return rig.get("jobs.batch", "j")["status"]


def active(rig: Rig, index: int | None = None) -> list[str]:
    return [
        p["metadata"]["name"]
        for p in rig.pods()
        if p["status"]["phase"] in ("Pending", "Running")
        and "deletionTimestamp" not in p["metadata"]
        and (index is None or p["metadata"]["labels"][INDEX] == str(index))
    ]


def indexed(**spec: Any) -> Doc:
    return job(**{"completionMode": "Indexed", "parallelism": 3, "completions": 3, **spec})


def ending(rig: Rig) -> list[str]:
    return [f"{c['type']}/{c['reason']}" for c in status(rig).get("conditions", ())]


async def test_a_replacement_waits_ten_seconds_and_twice_as_long_after_every_further_failure() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(backoffLimit=9))
        for wait in (10, 20, 40):
            await rig.end(active(rig)[0], 1)
            await rig.advance(wait - 1)
            assert not active(rig), wait
            await rig.advance(2)
            assert len(active(rig)) == 1, wait


async def test_a_disrupted_pod_is_replaced_after_the_same_wait() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job())
        await rig.api.evict(active(rig)[0], "default")
        await rig.advance(9)
        assert not active(rig)
        await rig.advance(2)
        assert len(active(rig)) == 1


async def test_a_success_starts_the_back_off_anew() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(backoffLimit=9, completions=3))
        await rig.end(active(rig)[0], 1)
        await rig.advance(11)
        await rig.end(active(rig)[0], 1)
        await rig.advance(21)
        await rig.end(active(rig)[0], 0)
        assert len(active(rig)) == 1, "after a success the next pod comes at once"
        await rig.advance(1)
        await rig.end(active(rig)[0], 1)
        await rig.advance(11)
        assert len(active(rig)) == 1, "ten seconds again"


@given(st.integers(0, 10_000))
def test_the_back_off_doubles_from_ten_seconds_to_ten_minutes(failures: int) -> None:
    assert timedelta(seconds=10) <= delay(failures) <= delay(failures + 1) <= timedelta(minutes=10)
    assert delay(failures + 1) in (delay(failures), 2 * delay(failures), timedelta(minutes=10))


@given(st.lists(st.integers(0, 50)), st.lists(st.integers(0, 50)), st.integers(0, 5))
def test_only_failures_after_the_last_success_count(won: list[int], lost: list[int], before: int) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def moments(seconds: list[int]) -> list[datetime]:
        return [start + timedelta(seconds=s) for s in seconds]

    after = BackOff(before, start if before else None).after(moments(won), moments(lost))
    later = [s for s in lost if not won or s > max(won)]
    assert after.failures == len(later) + (0 if won else before)
    if later:
        assert after.last == start + timedelta(seconds=max(later))


async def test_containers_that_are_restarted_in_place_use_the_limit_up() -> None:
    async with running(NODES) as rig:
        spec = job(backoffLimit=2)
        spec["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
        await rig.create("jobs.batch", spec)
        (name,) = active(rig)
        restarted = {"name": "c", "image": "i", "ready": True, "restartCount": 2}
        patch = {"status": {"containerStatuses": [restarted]}}
        await rig.api.patch("pods", name, patch, "default", subresource="status")
        await rig.settle()
        assert ending(rig) == ["FailureTarget/BackoffLimitExceeded"]


async def test_the_limit_for_each_index_fails_that_index_and_the_others_go_on() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", indexed(backoffLimitPerIndex=1))
        assert rig.get("jobs.batch", "j")["spec"]["backoffLimit"] == 2**31 - 1
        await rig.end(active(rig, 1)[0], 1)
        assert status(rig)["failedIndexes"] == ""
        await rig.advance(11)
        (second,) = active(rig, 1)
        assert rig.get("pods", second)["metadata"]["annotations"][FAILURES] == "1"
        await rig.end(second, 1)
        assert status(rig)["failedIndexes"] == "1"
        await rig.advance(60)
        assert not active(rig, 1)
        assert len(active(rig)) == 2
        for index in (0, 2):
            await rig.end(active(rig, index)[0])
        assert ending(rig) == ["FailureTarget/FailedIndexes", "Failed/FailedIndexes"]
        assert (status(rig)["completedIndexes"], status(rig)["failed"], status(rig)["succeeded"]) == (
            "0,2",
            2,
            2,
        )


async def test_each_index_has_a_back_off_of_its_own() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", indexed(backoffLimitPerIndex=5))
        await rig.end(active(rig, 0)[0], 1)
        await rig.advance(11)
        await rig.end(active(rig, 0)[0], 1)
        await rig.end(active(rig, 2)[0], 1)
        await rig.advance(11)
        assert (len(active(rig, 0)), len(active(rig, 2))) == (0, 1)
        await rig.advance(10)
        assert len(active(rig, 0)) == 1


async def test_more_failed_indexes_than_the_job_may_have_end_it() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", indexed(backoffLimitPerIndex=0, maxFailedIndexes=1))
        await rig.end(active(rig, 0)[0], 1)
        assert not ending(rig)
        await rig.end(active(rig, 1)[0], 1)
        assert ending(rig) == ["FailureTarget/MaxFailedIndexesExceeded"]
        await rig.advance(6)
        assert ending(rig)[-1] == "Failed/MaxFailedIndexesExceeded"
        assert status(rig)["failedIndexes"] == "0,1"


def policy(action: str, **on: Any) -> Doc:
    return {"rules": [{"action": action, **on}]}


CODES = {"onExitCodes": {"operator": "In", "values": [42, 43]}}


async def test_an_exit_code_can_fail_the_whole_job_with_a_sentence() -> None:
    async with running(NODES) as rig:
        await rig.create(
            "jobs.batch", job(podFailurePolicy=policy("FailJob", **CODES), parallelism=2, completions=2)
        )
        name = active(rig)[0]
        await rig.end(name, 42)
        await rig.advance(6)
        assert ending(rig) == ["FailureTarget/PodFailurePolicy", "Failed/PodFailurePolicy"]
        said = f"Container c for pod default/{name} failed with exit code 42 matching FailJob rule at index 0"
        assert status(rig)["conditions"][-1]["message"] == said
        assert not active(rig)


@pytest.mark.parametrize(("code", "failed"), [(42, 0), (1, 1)])
async def test_an_ignored_exit_code_is_replaced_and_not_counted(code: int, failed: int) -> None:
    async with running(NODES) as rig:
        spec = job(podFailurePolicy=policy("Ignore", **CODES), backoffLimit=1)
        assert "podReplacementPolicy" not in spec["spec"]
        await rig.create("jobs.batch", spec)
        await rig.end(active(rig)[0], code)
        await rig.advance(11)
        assert (status(rig).get("failed", 0), len(active(rig))) == (failed, 1)


async def test_a_rule_can_fail_one_index_at_once() -> None:
    async with running(NODES) as rig:
        spec = indexed(backoffLimitPerIndex=5, podFailurePolicy=policy("FailIndex", **CODES))
        await rig.create("jobs.batch", spec)
        await rig.end(active(rig, 1)[0], 43)
        await rig.advance(60)
        assert status(rig)["failedIndexes"] == "1"
        assert not active(rig, 1)


async def test_an_ignored_failure_of_an_index_does_not_use_its_limit_up() -> None:
    ignore = policy("Ignore", onPodConditions=[{"type": "DisruptionTarget"}])
    async with running(NODES) as rig:
        await rig.create("jobs.batch", indexed(backoffLimitPerIndex=0, podFailurePolicy=ignore))
        await rig.api.evict(active(rig, 0)[0], "default")
        await rig.advance(6)
        await rig.advance(11)
        assert status(rig)["failedIndexes"] == ""
        annotations = rig.get("pods", active(rig, 0)[0])["metadata"]["annotations"]
        assert annotations[FAILURES] == "0"
        assert annotations["batch.kubernetes.io/job-index-ignored-failure-count"] == "1"


@pytest.mark.parametrize("operator", ["In", "NotIn"])
async def test_the_first_rule_that_matches_counts(operator: str) -> None:
    rules = [
        {"action": "Count", "onExitCodes": {"operator": operator, "values": [7], "containerName": "c"}},
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [7, 8]}},
    ]
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(podFailurePolicy={"rules": rules}))
        await rig.end(active(rig)[0], 7 if operator == "In" else 8)
        assert status(rig)["failed"] == 1
        assert not ending(rig)


async def test_a_job_can_wait_for_the_end_of_a_pod_before_it_replaces_it() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(podReplacementPolicy="Failed"))
        (first,) = active(rig)
        patch = {"metadata": {"annotations": {"reprieve.dev/terminate-after": "4s"}}}
        await rig.api.patch("pods", first, patch, "default")
        await rig.api.delete("pods", first, "default")
        await rig.settle()
        assert (status(rig)["terminating"], status(rig).get("failed", 0)) == (1, 0)
        await rig.advance(5)
        assert (status(rig)["terminating"], status(rig)["failed"]) == (0, 1)
        await rig.advance(11)
        assert len(active(rig)) == 1
