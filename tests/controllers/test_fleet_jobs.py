"""A job submitted to the manager runs on a worker, and its end comes home."""

import pytest

from reprieve.kube import JOBS, KUEUE_WORKLOADS, MULTIKUEUE_CLUSTERS, POD_GROUPS, PODS
from tests import builders
from tests.controllers.clusters import (
    NAMESPACE,
    Fleet,
    cluster,
    full_fleet,
    is_true,
    job,
    workload,
)
from tests.waiting import eventually


async def jobs_of(place) -> dict[str, dict]:
    return {
        item["metadata"]["name"]: item for item in (await place.client.listing(JOBS.raw(), NAMESPACE)).items
    }


async def running_in(fleet: Fleet, name: str) -> str:
    for worker in fleet.workers:
        found = (await jobs_of(worker)).get(name)
        if found is not None and (found.get("status") or {}).get("active"):
            return worker.name
    return ""


@pytest.mark.parametrize("name", ["train", "t" * 63], ids=["", "a name too long for a label"])
async def test_a_job_runs_on_the_winner_and_its_end_comes_home(name: str) -> None:
    async with full_fleet(size=2) as fleet:
        worker = fleet.workers[1]
        await worker.client.delete(JOBS, "low", NAMESPACE, propagation="Background")
        await worker.client.delete(KUEUE_WORKLOADS, next(iter(await worker.workloads())), NAMESPACE)
        await fleet.manager.client.create(JOBS, job(name), NAMESPACE)
        assert await eventually(lambda: running_in(fleet, name), "the job runs") == worker.name
        remote = (await jobs_of(worker))[name]
        assert remote["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "gpu"}
        assert (await jobs_of(fleet.manager))[name]["spec"]["suspend"] is True, "it does not run here"
        assert sum(fleet.preemptions().values()) == 0, "a worker with free quota needs no preemption"
        done = {
            "status": {
                "active": 0,
                "succeeded": 2,
                "conditions": [
                    {"type": "Complete", "status": "True", "reason": "Done", "message": "all pods succeeded"}
                ],
            }
        }
        await worker.client.patch(JOBS, name, done, NAMESPACE, subresource="status")

        async def is_home() -> bool:
            listed = await fleet.manager.workloads()
            return any(is_true(item, "Finished") for item in listed.values())

        await eventually(is_home, "the workload is finished in the manager")
        status = (await jobs_of(fleet.manager))[name]["status"]
        assert status["succeeded"] == 2

        async def is_gone() -> bool:
            return name not in await jobs_of(worker)

        await eventually(is_gone, "the worker is tidied up")


async def test_a_gang_runs_on_the_winner_and_its_end_comes_home() -> None:
    """With quota on both sides: the pods wait here for ever, their copies get quota there."""

    async def pods_of(place) -> list[dict]:
        listed = (await place.client.listing(PODS.raw(), NAMESPACE)).items
        return [
            pod for pod in listed if (pod["spec"].get("schedulingGroup") or {}).get("podGroupName") == "g"
        ]

    async with full_fleet(size=1) as fleet:
        [worker], client = fleet.workers, fleet.manager.client
        await worker.client.delete(JOBS, "low", NAMESPACE, propagation="Background")
        await worker.client.delete(KUEUE_WORKLOADS, next(iter(await worker.workloads())), NAMESPACE)
        group = builders.pod_group("g", 2, namespace=NAMESPACE)
        group["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
        await client.create(POD_GROUPS, group)
        for name in ("a", "b"):
            pod = builders.pod(name, 1, group="g", namespace=NAMESPACE)
            pod["spec"] |= {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
            await client.create(PODS, pod)

        async def both_may_run() -> bool:
            pods = await pods_of(worker)
            return len(pods) == 2 and not any(pod["spec"].get("schedulingGates") for pod in pods)

        await eventually(both_may_run, "both pods have quota on the worker")
        for pod in await pods_of(worker):
            assert pod["spec"]["nodeSelector"] == {"pool": "gpu"}
        assert all(pod["spec"]["schedulingGates"] for pod in await pods_of(fleet.manager)), "not here"
        for name in ("a", "b"):
            done = {"status": {"phase": "Succeeded"}}
            await worker.client.patch(PODS, name, done, NAMESPACE, subresource="status")

        async def is_home() -> bool:
            listed = await fleet.manager.workloads()
            return any(is_true(item, "Finished") for item in listed.values())

        await eventually(is_home, "the workload is finished in the manager")

        async def is_told() -> bool:
            return {pod["status"].get("phase") for pod in await pods_of(fleet.manager)} == {"Succeeded"}

        async def is_tidy() -> bool:
            return not await pods_of(worker)

        await eventually(is_told, "the pods here say how theirs ended")
        await eventually(is_tidy, "the worker is tidied up")


async def test_a_deleted_workload_leaves_nothing_behind() -> None:
    async with full_fleet(size=2) as fleet:
        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("small", priority=0, cpu="100m"))

        async def is_everywhere() -> bool:
            return all(["small" in await worker.workloads() for worker in fleet.workers])

        async def is_nowhere() -> bool:
            return not any(["small" in await worker.workloads() for worker in fleet.workers])

        await eventually(is_everywhere, "copied to both workers")
        await fleet.manager.client.delete(KUEUE_WORKLOADS, "small", NAMESPACE)
        await eventually(is_nowhere, "both copies are withdrawn")


async def test_a_worker_that_comes_back_shows_in_its_status() -> None:
    async with cluster("late") as late, full_fleet(size=1) as fleet:
        await late.furnish()
        source = {"kubeConfig": {"location": "late", "locationType": "Secret"}}
        document = {"metadata": {"name": "late"}, "spec": {"clusterSource": source}}
        await fleet.manager.client.create(MULTIKUEUE_CLUSTERS, document)

        async def reason() -> str:
            found = await fleet.manager.client.get(MULTIKUEUE_CLUSTERS.raw(), "late")
            conditions = (found.get("status") or {}).get("conditions") or [{}]
            return conditions[0].get("reason", "")

        async def is_unreachable() -> bool:
            return await reason() == "ClientConnectionFailed"

        await eventually(is_unreachable, "its Secret is missing")


async def test_a_workload_preempted_in_the_manager_leaves_its_worker() -> None:
    async with full_fleet(size=1, manager_cpu="4") as fleet:
        [worker] = fleet.workers

        async def runs_there(name: str) -> bool:
            return is_true((await worker.workloads()).get(name, {}), "Admitted")

        async def only_second() -> bool:
            return await runs_there("second") and "first" not in await worker.workloads()

        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("first", priority=100))
        await eventually(lambda: runs_there("first"), "the first runs on the worker")
        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("second", priority=200))
        await eventually(only_second, "the second runs instead")
        first = (await fleet.manager.workloads())["first"]
        assert is_true(first, "Evicted")
        assert not first["status"].get("clusterName")
