"""Jobs that change their size: admitted with fewer pods than they asked for, or changed while they run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reprieve.controllers import quota
from reprieve.kube import CLUSTER_QUEUES, EVENTS, JOBS
from reprieve.objects import well_known
from tests.controllers.clusters import NAMESPACE, Cluster, Kubelet, cluster, is_true, job
from tests.waiting import eventually

LEAST, SYNC = well_known.MIN_PARALLELISM_ANNOTATION, well_known.SYNC_COMPLETIONS_ANNOTATION


def long_job() -> dict[str, Any]:
    """Two pods at a time, ten in all."""
    made: dict[str, Any] = job("a")
    made["spec"]["completions"] = 10
    return made


@asynccontextmanager
async def a_cluster(cpu: str) -> AsyncIterator[Cluster]:
    async with cluster("one") as place:
        await place.furnish(cpu)
        place.start(Kubelet(place, stopping=0).run())
        place.start(quota.run(place.client))
        yield place


async def spec(place: Cluster, name: str = "a") -> dict[str, Any]:
    found: dict[str, Any] = (await place.client.get(JOBS.raw(), name, NAMESPACE))["spec"]
    return found


async def runs_with(place: Cluster, count: int) -> bool:
    """It runs, and so many pods are what its one workload was admitted with."""
    admitted = [each for each in (await place.workloads()).values() if is_true(each, "Admitted")]
    if not admitted or (await spec(place))["suspend"]:
        return False
    [given] = admitted[0]["status"]["admission"]["podSetAssignments"]
    return bool(given["count"] == count == (await spec(place))["parallelism"])


@pytest.mark.parametrize("count", [1, 3])
async def test_a_job_whose_parallelism_changes_while_it_runs_is_stopped_and_asks_anew(count: int) -> None:
    async with a_cluster("6") as place:
        await place.client.create(JOBS, long_job(), NAMESPACE)
        await eventually(lambda: runs_with(place, 2), "it runs with two pods")
        [before] = await place.workloads()
        await place.client.patch(JOBS, "a", {"spec": {"parallelism": count}}, NAMESPACE)
        await eventually(lambda: runs_with(place, count), f"it runs with {count} pods")
        template = (await spec(place))["template"]["spec"]
        assert template["nodeSelector"] == {"pool": "gpu"}
        assert set(await place.workloads()) == {before}, "named after the job"


async def test_a_job_that_grows_beyond_the_quota_waits() -> None:
    async with a_cluster("4") as place:
        await place.client.create(JOBS, long_job(), NAMESPACE)
        await eventually(lambda: runs_with(place, 2), "it runs with two pods")
        await place.client.patch(JOBS, "a", {"spec": {"parallelism": 3}}, NAMESPACE)

        async def waits() -> bool:
            workloads = [*(await place.workloads()).values()]
            asked = [each["spec"]["podSets"][0]["count"] for each in workloads]
            return asked == [3] and not is_true(workloads[0], "QuotaReserved")

        await eventually(waits, "it asks for three pods")
        assert (await spec(place))["suspend"] is True
        assert "nodeSelector" not in (await spec(place))["template"]["spec"]


async def test_a_job_that_may_shrink_runs_with_fewer_pods_and_is_put_back_exactly() -> None:
    wanted = job("a", count=3)
    wanted["metadata"]["annotations"] = {LEAST: "1"}
    async with a_cluster("4") as place:
        before = (await place.client.create(JOBS, wanted, NAMESPACE))["spec"]
        await eventually(lambda: runs_with(place, 2), "it runs with two of three pods")
        patch = {"spec": {"stopPolicy": "HoldAndDrain"}}
        await place.client.patch(CLUSTER_QUEUES, "cq", patch)

        async def is_put_back() -> bool:
            return bool(await spec(place) == {**before, "suspend": True})

        await eventually(is_put_back, "it is as its user wrote it")


async def test_the_parallelism_of_a_job_that_was_shrunk_is_not_changed_by_hand() -> None:
    wanted = job("a", count=3)
    wanted["metadata"]["annotations"] = {LEAST: "1"}
    async with a_cluster("4") as place:
        await place.client.create(JOBS, wanted, NAMESPACE)
        await eventually(lambda: runs_with(place, 2), "it runs with two of three pods")
        await place.client.patch(JOBS, "a", {"spec": {"parallelism": 5}}, NAMESPACE)

        async def is_told() -> bool:
            events = (await place.client.listing(EVENTS.raw(), NAMESPACE)).items
            return any(each["reason"] == "ChangedWhileRunning" for each in events)

        await eventually(is_told, "an event says why it is stopped")
        await eventually(lambda: runs_with(place, 2), "it runs with two of three pods again")


async def test_completions_follow_the_parallelism_where_the_annotation_says_so() -> None:
    wanted = job("a", count=3)
    wanted["spec"] |= {"completionMode": "Indexed", "completions": 3}
    wanted["metadata"]["annotations"] = {LEAST: "1", SYNC: "true"}
    async with a_cluster("4") as place:
        before = (await place.client.create(JOBS, wanted, NAMESPACE))["spec"]
        await eventually(lambda: runs_with(place, 2), "it runs with two of three pods")
        assert (await spec(place))["completions"] == 2
        await place.client.patch(CLUSTER_QUEUES, "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})

        async def is_put_back() -> bool:
            return bool(await spec(place) == {**before, "suspend": True})

        await eventually(is_put_back, "it is as its user wrote it")


async def test_an_elastic_job_shrinks_while_it_runs_and_to_grow_it_asks_anew() -> None:
    elastic, other = long_job(), job("b", count=1)
    elastic["metadata"]["annotations"] = {well_known.ELASTIC_JOB_ANNOTATION: "true"}
    async with cluster("one") as place:
        await place.furnish("4")
        kubelet = Kubelet(place, stopping=0)
        place.start(kubelet.run())
        place.start(quota.run(place.client))
        await place.client.create(JOBS, elastic, NAMESPACE)
        await eventually(lambda: runs_with(place, 2), "it runs with two pods")
        await place.client.create(JOBS, other, NAMESPACE)
        await place.client.patch(JOBS, "a", {"spec": {"parallelism": 1}}, NAMESPACE)
        await place.client.patch(JOBS, "a", {"status": {"active": 1}}, NAMESPACE, subresource="status")

        async def runs(name: str) -> bool:
            return not (await spec(place, name))["suspend"]

        await eventually(lambda: runs("b"), "what it gave back is given to another")
        assert kubelet.stopped == []
        assert await runs("a")
        await place.client.patch(JOBS, "a", {"spec": {"parallelism": 2}}, NAMESPACE)

        async def waits() -> bool:
            return not await runs("a") and kubelet.stopped == ["a"]

        await eventually(waits, "there is no quota to grow into")
        assert await runs("b")
