"""What becomes of the quota of a job that is deleted, in each way that Kubernetes knows."""

import pytest

from reprieve.controllers import quota
from reprieve.kube import JOBS, KUEUE_WORKLOADS
from tests.controllers.clusters import NAMESPACE, Cluster, cluster, is_true, job
from tests.waiting import eventually

KEPT = ["kueue.x-k8s.io/resource-in-use"]
"""The finalizer that Kueue gives the Workloads that it makes."""


async def runs(place: Cluster, name: str) -> bool:
    found = await place.client.get(JOBS.raw(), name, NAMESPACE)
    return not found["spec"]["suspend"] and bool((found.get("status") or {}).get("active"))


async def workload_of(place: Cluster, name: str) -> dict:
    return next((each for key, each in (await place.workloads()).items() if f"job-{name}-" in key), {})


async def one_runs_and_one_waits(place: Cluster) -> None:
    await place.furnish()
    place.start(quota.run(place.client))
    await place.client.create(JOBS, job("first"), NAMESPACE)
    await eventually(lambda: runs(place, "first"), "the first job runs")
    await place.client.create(JOBS, job("second"), NAMESPACE)

    async def waits() -> bool:
        conditions = (await workload_of(place, "second")).get("status", {}).get("conditions", ())
        return any(each["type"] == "QuotaReserved" and each["status"] == "False" for each in conditions)

    await eventually(waits, "the second job waits")


@pytest.mark.parametrize("how", ["Background", "Foreground", "Orphan"])
async def test_a_deleted_job_gives_its_quota_on(how: str) -> None:
    async with cluster("one", controllers=True) as place:
        await one_runs_and_one_waits(place)
        await place.server.api.delete("jobs.batch", "first", NAMESPACE, propagation=how)
        await eventually(lambda: runs(place, "second"), "the second job runs")


async def test_a_workload_that_lost_its_owner_is_over_and_says_why() -> None:
    async with cluster("one", controllers=True) as place:
        await one_runs_and_one_waits(place)
        await place.server.api.delete("jobs.batch", "first", NAMESPACE, propagation="Orphan")

        async def over() -> bool:
            return is_true(await workload_of(place, "first"), "Finished")

        await eventually(over, "its workload is over")
        left = await workload_of(place, "first")
        [told] = [each for each in left["status"]["conditions"] if each["type"] == "Finished"]
        assert (told["reason"], told["message"]) == ("OwnerNotFound", "The workload's owner no longer exists")


@pytest.mark.parametrize("how", ["Background", "Foreground"])
async def test_a_workload_that_kueue_made_goes_with_its_job(how: str) -> None:
    """Kueue removes its finalizer itself; where it was replaced by this controller nobody else would."""
    async with cluster("one", controllers=True) as place:
        await one_runs_and_one_waits(place)
        name = (await workload_of(place, "first"))["metadata"]["name"]
        await place.client.patch(KUEUE_WORKLOADS, name, {"metadata": {"finalizers": KEPT}}, NAMESPACE)
        await place.server.api.delete("jobs.batch", "first", NAMESPACE, propagation=how)
        await eventually(lambda: runs(place, "second"), "the second job runs")

        async def gone() -> bool:
            return not await workload_of(place, "first")

        await eventually(gone, "nothing is left of the first")


async def test_a_workload_of_kueue_that_is_deleted_goes_when_its_job_is_stopped() -> None:
    async with cluster("one", controllers=True) as place:
        await one_runs_and_one_waits(place)
        before = (await workload_of(place, "first"))["metadata"]
        finalizers = [*KEPT, "example.com/another"]
        patch = {"metadata": {"finalizers": finalizers}}
        await place.client.patch(KUEUE_WORKLOADS, before["name"], patch, NAMESPACE)
        await place.client.delete(KUEUE_WORKLOADS, before["name"], NAMESPACE)

        async def released() -> bool:
            now = (await workload_of(place, "first"))["metadata"]
            return now.get("finalizers") == ["example.com/another"]

        await eventually(released, "what another put there stays, what was for us goes")
        assert not await runs(place, "first")
