"""Jobs that say how they want to be scheduled get their Workload and PodGroup from the job controller."""

from typing import Any

from tests.server.rig import Rig, job, running

NODES = ("n=2:cpu=4",)
GANG: dict[str, Any] = {"schedulingPolicy": {"gang": {}}, "disruptionMode": {"all": {}}}


def scheduling_objects(rig: Rig) -> tuple[dict[str, Any], dict[str, Any]]:
    return rig.get("workloads.scheduling.k8s.io", "j"), rig.get("podgroups.scheduling.k8s.io", "j")


async def test_a_job_that_asks_for_a_gang_gets_its_workload_and_group() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=3, completions=3, scheduling=GANG))
        workload, group = scheduling_objects(rig)
        assert workload["spec"]["controllerRef"] == {"apiGroup": "batch", "kind": "Job", "name": "j"}
        [template] = workload["spec"]["podGroupTemplates"]
        assert template["schedulingPolicy"] == {"gang": {"minCount": 3}}
        assert group["spec"]["workloadRef"] == {"workloadName": "j", "templateName": template["name"]}
        assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
        assert group["spec"]["disruptionMode"] == {"all": {}}
        assert group["metadata"]["ownerReferences"][0]["kind"] == "Job"
        assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in rig.pods()} == {"j"}


async def test_the_size_of_the_gang_follows_the_job() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job(parallelism=2, scheduling=GANG))
        await rig.api.patch("jobs.batch", "j", {"spec": {"parallelism": 4}}, "default")
        await rig.settle()
        workload, group = scheduling_objects(rig)
        assert group["spec"]["schedulingPolicy"]["gang"]["minCount"] == 4
        assert workload["spec"]["podGroupTemplates"][0]["schedulingPolicy"]["gang"]["minCount"] == 4


async def test_other_jobs_have_none() -> None:
    async with running(NODES) as rig:
        await rig.create("jobs.batch", job())
        assert rig.gone("podgroups.scheduling.k8s.io", "j")
        assert "schedulingGroup" not in rig.pods()[0]["spec"]


async def test_a_group_that_is_refused_is_told_and_no_pod_is_made_alone() -> None:
    async with running(NODES) as rig:
        wrong = {
            "schedulingPolicy": {"gang": {"minCount": 2}},
            "schedulingConstraints": {"topology": [{"key": "!"}]},
        }
        await rig.create("jobs.batch", job(parallelism=2, scheduling=wrong))
        assert rig.pods() == []
        events = rig.api.select("events", "default")
        assert any("Error creating the job's Workload or PodGroup" in each["message"] for each in events)
