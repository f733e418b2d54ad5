"""Jobs: how many pods, when they are replaced, when it is over, and that every ending is counted once."""

from datetime import UTC, datetime
from typing import Any

import pytest

from reprieve.server.controllers.jobcounts import count_pods, format_indexes
from reprieve.server.controllers.jobplan import decide
from reprieve.server.controllers.pods import Pod
from tests.server.rig import Rig, condition, job, running

NODES = ("n=2:cpu=4",)
QUICK = {"reprieve.dev/run-for": "10s"}
FAILING = QUICK | {"reprieve.dev/exit-code": "1"}


def status(rig: Rig, name: str = "j") -> dict[str, Any]:
    return rig.get("jobs.batch", name)["status"]


def active(rig: Rig) -> list[str]:
    return [
        p["metadata"]["name"]
        for p in rig.pods()
        if p["status"]["phase"] in ("Pending", "Running") and "deletionTimestamp" not in p["metadata"]
    ]


async def test_a_job_runs_as_many_pods_at_once_as_it_may_until_all_are_done() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=2, completions=5, annotations=QUICK))
        assert status(rig)["active"] == 2
        await rig.advance(11)
        assert (status(rig)["succeeded"], status(rig)["active"]) == (2, 2)
        await rig.advance(11)
        assert (status(rig)["succeeded"], status(rig)["active"]) == (4, 1)
        await rig.advance(11)
        done = rig.get("jobs.batch", "j")
        assert (done["status"]["succeeded"], done["status"]["active"]) == (5, 0)
        assert condition(done, "Complete") == "True/CompletionsReached"
        assert done["status"]["completionTime"] > done["status"]["startTime"]
        assert rig.phases() == ["Succeeded"] * 5


async def test_pods_carry_the_template_their_owner_and_the_tracking_finalizer() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job())
        (made,) = rig.pods()
        owner = made["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("Job", "j", True)
        assert made["metadata"]["labels"]["job-name"] == "j"
        assert made["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]


async def test_more_failures_than_the_limit_fail_the_job() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(backoffLimit=1, annotations=FAILING))
        for _ in range(20):
            await rig.advance(10)
        failed = rig.get("jobs.batch", "j")
        assert condition(failed, "Failed") == "True/BackoffLimitExceeded"
        assert failed["status"]["failed"] == 2
        assert not active(rig)


async def test_a_deleted_pod_counts_as_a_failure_and_is_replaced() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=2, completions=2))
        first = active(rig)[0]
        await rig.api.delete("pods", first, "default")
        await rig.advance(3)
        assert (len(active(rig)), status(rig)["failed"]) == (1, 1), "the replacement waits ten seconds"
        await rig.advance(8)
        assert len(active(rig)) == 2
        assert rig.gone("pods", first)
        assert status(rig)["failed"] == 1, "counted once"


async def test_a_failure_policy_can_ignore_disruptions() -> None:
    policy = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(podFailurePolicy=policy, backoffLimit=0))
        (name,) = active(rig)
        await rig.api.evict(name, "default")
        await rig.advance(6)
        await rig.advance(11)
        assert status(rig).get("failed", 0) == 0
        assert len(active(rig)) == 1


async def test_a_suspended_job_has_no_pods_and_starts_anew_when_resumed() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=3, completions=3, suspend=True))
        assert rig.pods() == []
        assert condition(rig.get("jobs.batch", "j"), "Suspended") == "True/JobSuspended"
        assert "startTime" not in status(rig)
        await rig.api.patch("jobs.batch", "j", {"spec": {"suspend": False}}, "default")
        await rig.settle()
        assert len(active(rig)) == 3
        assert condition(rig.get("jobs.batch", "j"), "Suspended") == "False/JobResumed"
        assert "startTime" in status(rig)
        await rig.api.patch("jobs.batch", "j", {"spec": {"suspend": True}}, "default")
        await rig.advance(10)
        assert rig.pods() == []
        assert "startTime" not in status(rig)


async def test_less_parallelism_takes_the_youngest_pods_away() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=1, completions=9))
        (oldest,) = active(rig)
        rig.clock.advance(5)
        await rig.api.patch("jobs.batch", "j", {"spec": {"parallelism": 4}}, "default")
        await rig.settle()
        assert len(active(rig)) == 4
        await rig.api.patch("jobs.batch", "j", {"spec": {"parallelism": 1}}, "default")
        await rig.settle()
        assert active(rig) == [oldest]


async def test_a_job_over_its_deadline_fails() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(activeDeadlineSeconds=30))
        await rig.advance(31)
        assert condition(rig.get("jobs.batch", "j"), "FailureTarget") == "True/DeadlineExceeded"
        assert not condition(rig.get("jobs.batch", "j"), "Failed"), "a pod is still stopping"
        await rig.advance(6)
        assert condition(rig.get("jobs.batch", "j"), "Failed") == "True/DeadlineExceeded"
        assert not active(rig)


async def test_a_finished_job_goes_when_its_time_is_over_and_its_pods_with_it() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(ttlSecondsAfterFinished=60, annotations=QUICK))
        await rig.advance(11)
        assert condition(rig.get("jobs.batch", "j"), "Complete")
        await rig.advance(61)
        assert rig.gone("jobs.batch", "j")
        assert rig.pods() == []


async def test_an_indexed_job_gives_every_pod_its_index_and_repeats_only_what_failed() -> None:
    async with running(NODES) as rig:
        spec = job(completionMode="Indexed", parallelism=3, completions=3, annotations=QUICK)
        await rig.create("jobs.batch", spec)
        label = "batch.kubernetes.io/job-completion-index"
        assert sorted(p["metadata"]["labels"][label] for p in rig.pods()) == ["0", "1", "2"]
        lost = next(p for p in rig.pods() if p["metadata"]["labels"][label] == "1")
        await rig.api.delete("pods", lost["metadata"]["name"], "default")
        await rig.advance(5)
        await rig.advance(6)
        assert status(rig)["completedIndexes"] == "0,2"
        again = rig.pods(lambda p: p["status"]["phase"] == "Running")
        assert [p["metadata"]["labels"][label] for p in again] == ["1"]
        await rig.advance(11)
        assert status(rig)["completedIndexes"] == "0-2"
        assert condition(rig.get("jobs.batch", "j"), "Complete")


async def test_a_work_queue_is_done_when_one_pod_succeeded_and_the_others_ended() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=3, annotations=QUICK))
        await rig.advance(11)
        assert condition(rig.get("jobs.batch", "j"), "Complete")
        assert status(rig)["succeeded"] == 3


async def test_deleting_a_job_takes_its_pods_along() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=3, completions=3))
        await rig.api.delete("jobs.batch", "j", "default", propagation="Background")
        await rig.advance(10)
        assert rig.pods() == []


async def test_a_job_of_the_same_name_does_not_inherit_the_old_ones_pods() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job())
        old = active(rig)
        await rig.api.delete("jobs.batch", "j", "default", propagation="Background")
        await rig.api.create("jobs.batch", job())
        await rig.advance(10)
        assert len(active(rig)) == 1
        assert active(rig) != old
        assert rig.gone("pods", old[0])


@pytest.mark.parametrize(
    ("indexes", "spelled"), [([], ""), ([0], "0"), ([0, 1, 2, 5], "0-2,5"), ([3, 1], "1,3")]
)
def test_indexes_are_spelled_as_ranges(indexes: list[int], spelled: str) -> None:
    assert format_indexes(indexes) == spelled


def a_pod(name: str, phase: str, tracked: bool = True) -> Pod:
    return Pod(
        namespace="default",
        name=name,
        uid=name,
        labels={},
        created="",
        deleting=False,
        controller_uid="j",
        controller_kind="Job",
        controller_name="j",
        finalizers=("batch.kubernetes.io/job-tracking",) if tracked else (),
        node="n",
        group="",
        phase=phase,
        ready=phase == "Running",
        completion_index=None,
    )


def test_a_pod_is_counted_once_at_every_point_between_its_end_and_the_number() -> None:
    """Ended; noted as uncounted; released; counted: a crash may come after any of these."""
    spec = {"parallelism": 1, "completions": 1}
    stages = [
        ({}, [a_pod("p", "Succeeded")]),
        ({"uncountedTerminatedPods": {"succeeded": ["p"]}}, [a_pod("p", "Succeeded")]),
        ({"uncountedTerminatedPods": {"succeeded": ["p"]}}, [a_pod("p", "Succeeded", tracked=False)]),
        ({"uncountedTerminatedPods": {"succeeded": ["p"]}}, []),
        ({"succeeded": 1}, [a_pod("p", "Succeeded", tracked=False)]),
    ]
    for status, pods in stages:
        document = {"spec": spec, "status": status}
        counts = count_pods(document, pods)
        assert counts.succeeded == 1, status
        assert decide(document, counts, datetime(2026, 1, 1, tzinfo=UTC)).complete


def test_no_status_makes_a_job_count_further_than_jobs_may_go():
    """A journal may hold what today's server would refuse at the door."""
    spec = {"completionMode": "Indexed", "completions": 10**9}
    job = {"spec": spec, "status": {"completedIndexes": "0-2,5,7-99999999999,9-999999999,x,-3,²"}}
    completed = count_pods(job, []).completed
    assert completed == frozenset({0, 1, 2, 5, *range(9, 100_000)})


def test_no_spec_makes_more_pods_than_a_job_may_have():
    job = {"spec": {"parallelism": 10**9, "completions": 10**9, "completionMode": "Indexed"}}
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert len(decide(job, count_pods(job, []), now).missing) == 100_000
