"""Jobs: how they end, are suspended and resumed, adopt pods, and who manages them."""

from tests.server.rig import condition, job, running
from tests.server.test_controllers_jobs_failures import INDEX, active, ending, indexed, status

NODES = ("n=2:cpu=4",)


async def test_the_interim_condition_comes_first_and_the_last_one_when_every_pod_has_stopped() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", indexed(successPolicy={"rules": [{"succeededIndexes": "0"}]}))
        await rig.end(active(rig, 0)[0])
        assert ending(rig) == ["SuccessCriteriaMet/SuccessPolicy"]
        assert (status(rig)["active"], status(rig)["terminating"]) == (0, 2)
        assert "completionTime" not in status(rig)
        await rig.advance(6)
        assert ending(rig) == ["SuccessCriteriaMet/SuccessPolicy", "Complete/SuccessPolicy"]
        assert status(rig)["conditions"][-1]["message"] == "Matched rules at index 0"
        assert (status(rig)["succeeded"], status(rig).get("failed", 0)) == (1, 0)
        assert "completionTime" in status(rig)


async def test_a_success_policy_can_ask_for_a_number_of_some_indexes() -> None:
    rules = [{"succeededIndexes": "1-2", "succeededCount": 1}]
    async with running(NODES) as rig:
        await rig.create("jobs.batch", indexed(successPolicy={"rules": rules}))
        await rig.end(active(rig, 0)[0])
        assert not ending(rig)
        await rig.end(active(rig, 2)[0])
        assert ending(rig) == ["SuccessCriteriaMet/SuccessPolicy"]


async def test_uncounted_pods_are_counted_when_their_finalizers_are_gone() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=2, completions=2))
        await rig.end(active(rig)[0])
        assert (status(rig)["succeeded"], status(rig)["uncountedTerminatedPods"]) == (1, {})
        assert not any(
            p["metadata"].get("finalizers") for p in rig.pods() if p["status"]["phase"] == "Succeeded"
        )


async def test_a_resumed_job_starts_its_deadline_anew() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(activeDeadlineSeconds=30))
        began = status(rig)["startTime"]
        await rig.advance(20)
        await rig.api.patch("jobs.batch", "j", {"spec": {"suspend": True}}, "default")
        await rig.advance(100)
        assert (ending(rig), rig.pods()) == (["Suspended/JobSuspended"], [])
        assert status(rig).get("failed", 0) == 0, "pods of a suspended job are not counted as failures"
        await rig.api.patch("jobs.batch", "j", {"spec": {"suspend": False}}, "default")
        await rig.settle()
        assert status(rig)["startTime"] > began
        await rig.advance(29)
        assert not condition(rig.get("jobs.batch", "j"), "FailureTarget")
        await rig.advance(2)
        assert condition(rig.get("jobs.batch", "j"), "FailureTarget") == "True/DeadlineExceeded"


async def test_a_job_that_somebody_else_manages_is_left_alone() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(managedBy="example.com/other"))
        await rig.advance(60)
        assert (rig.pods(), status(rig)) == ([], {})


async def test_an_indexed_job_that_gets_more_completions_goes_on() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", indexed())
        await rig.end(active(rig, 0)[0])
        await rig.api.patch("jobs.batch", "j", {"spec": {"completions": 4, "parallelism": 4}}, "default")
        await rig.settle()
        assert sorted(rig.get("pods", name)["metadata"]["labels"][INDEX] for name in active(rig)) == [
            "1",
            "2",
            "3",
        ]
        await rig.api.patch("jobs.batch", "j", {"spec": {"completions": 2, "parallelism": 2}}, "default")
        await rig.settle()
        assert len(active(rig)) == 1


async def test_what_ends_a_job_is_an_event() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job())
        await rig.end(active(rig)[0])
        said = [(e["reason"], e["involvedObject"]["name"]) for e in rig.api.select("events")]
        assert ("Completed", "j") in said
