"""Jobs and pod groups that try to run without waiting for their quota, on a whole cluster: nobody makes way.

With `stops`, the server suspends and gates at creation, as Kueue's webhooks would. Without it (a cluster that
has no webhook) the scheduler alone must hold them.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.kube import (
    CLUSTER_QUEUES,
    JOBS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    Client,
)
from reprieve.local import controllers_of, local_cluster
from reprieve.objects import NodeTemplate
from reprieve.server import Habits
from tests.builders import cluster_queue, flavor, job, local_queue, pod, pod_group, priority_class
from tests.waiting import eventually

QUEUE = "kueue.x-k8s.io/queue-name"
Document = dict[str, Any]


class Place:
    """A full cluster: sixteen pods of a Job with a low priority on sixteen cpus, and a queue with one cpu."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def pods(self, prefix: str) -> list[Document]:
        listed = (await self.client.listing(PODS.raw(), "default")).items
        return [each for each in listed if each["metadata"]["name"].startswith(prefix)]

    async def placed(self, prefix: str) -> list[str]:
        return [each["metadata"]["name"] for each in await self.pods(prefix) if each["spec"].get("nodeName")]

    async def why(self, prefix: str) -> list[str]:
        """Why each pod waits."""
        return [
            condition.get("message", "")
            for each in await self.pods(prefix)
            for condition in each["status"].get("conditions", ())
            if condition["type"] == "PodScheduled" and condition["status"] == "False"
        ]

    async def workload(self, prefix: str) -> Document:
        listed = (await self.client.listing(KUEUE_WORKLOADS.raw(), "default")).items
        return next((each for each in listed if each["metadata"]["name"].startswith(prefix)), {})

    async def furnish(self) -> None:
        await self.client.create(PRIORITY_CLASSES, priority_class("high", 1000))
        await self.client.create(RESOURCE_FLAVORS, flavor())
        await self.client.create(CLUSTER_QUEUES, cluster_queue("small", 1))
        await self.client.create(LOCAL_QUEUES, local_queue("main", "small"))
        await self.client.create(JOBS, job("others", 1, count=16, pod={"schedulerName": "reprieve"}))
        await eventually(lambda: self._full(), "the cluster is full")

    async def _full(self) -> bool:
        return len(await self.placed("others")) == 16

    async def untouched(self) -> bool:
        """The others run on: none was evicted, their Job has not failed."""
        others = await self.client.get(JOBS.raw(), "others", "default")
        return await self._full() and not others["status"].get("failed")


@asynccontextmanager
async def full_cluster(*controllers: str, stops: bool, config: Any = None) -> AsyncIterator[Place]:
    nodes, habits = [NodeTemplate.parse("node=4:cpu=4,memory=16Gi")], Habits(terminate_after=0.1)
    configuration = Configuration.load(config)
    async with (
        local_cluster(nodes=nodes, habits=habits, quota=stops, config=configuration) as server,
        controllers_of(server, controllers, configuration) as controlled,
    ):
        place = Place(controlled.client)
        await place.furnish()
        yield place


INTRUDER = job(
    "intruder",
    1,
    count=16,
    labels={QUEUE: "main"},
    backoffLimit=0,
    pod={"schedulerName": "reprieve", "priorityClassName": "high"},
)


@pytest.mark.parametrize("stops", [False, True])
async def test_a_job_without_suspend_that_is_larger_than_its_queue_evicts_nobody(stops: bool) -> None:
    async with full_cluster("scheduler", "quota", stops=stops) as place:
        await place.client.create(JOBS, INTRUDER)

        async def refused() -> bool:
            conditions = (await place.workload("job-intruder")).get("status", {}).get("conditions", ())
            return any(each["type"] == "QuotaReserved" and each["status"] == "False" for each in conditions)

        await eventually(refused, "its workload is refused")
        assert (await place.client.get(JOBS.raw(), "intruder", "default"))["spec"]["suspend"] is True
        assert await place.placed("intruder") == []
        assert await place.untouched()


async def test_without_a_quota_controller_its_pods_wait_and_say_for_what() -> None:
    async with full_cluster("scheduler", stops=False) as place:
        await place.client.create(JOBS, INTRUDER)

        async def all_told() -> bool:
            return len(await place.why("intruder")) == 16

        await eventually(all_told, "every pod of it says why it waits")
        assert set(await place.why("intruder")) == {
            "waits for quota: Job default/intruder is in LocalQueue main and has no Workload yet; a quota "
            "controller makes it: is one running? (reprieve run --controllers scheduler,quota)"
        }
        assert await place.untouched()


@pytest.mark.parametrize("stops", [False, True])
async def test_a_pod_group_with_ungated_pods_waits_for_its_quota_and_gets_it_when_there_is_some(
    stops: bool,
) -> None:
    async with full_cluster("scheduler", "quota", stops=stops) as place:
        await place.client.create(POD_GROUPS, pod_group("ring", 2, priority="high", labels={QUEUE: "main"}))
        for name in ("ring-0", "ring-1"):
            document = pod(name, 1, group="ring", priority="high", schedulerName="reprieve", status={})
            await place.client.create(PODS, document)

        async def held() -> bool:
            return len(await place.why("ring")) == 2 and bool(await place.workload("podgroup-ring"))

        await eventually(held, "both pods say why they wait")
        assert await place.placed("ring") == []
        assert await place.untouched()
        quota = {"spec": cluster_queue("small", 2)["spec"]}
        await place.client.patch(CLUSTER_QUEUES, "small", quota)
        await eventually(lambda: _are_two(place), "the group has quota and preempts")


async def _are_two(place: Place) -> bool:
    return len(await place.placed("ring")) == 2


async def test_where_all_jobs_are_managed_one_without_a_queue_waits_until_it_has_one() -> None:
    config = {"quota": {"manageJobsWithoutQueueName": True}}
    free = {"metadata": {"labels": {QUEUE: "main"}}}
    nodes = [NodeTemplate.parse("node=1:cpu=4,memory=16Gi")]
    configuration = Configuration.load(config)
    async with (
        local_cluster(nodes=nodes, habits=Habits(terminate_after=0.1)) as server,
        controllers_of(server, ("scheduler", "quota"), configuration) as controlled,
    ):
        place = Place(controlled.client)
        await place.client.create(RESOURCE_FLAVORS, flavor())
        await place.client.create(CLUSTER_QUEUES, cluster_queue("small", 1))
        await place.client.create(LOCAL_QUEUES, local_queue("main", "small"))
        await place.client.create(JOBS, job("plain", 1, count=1, pod={"schedulerName": "reprieve"}))

        async def suspended() -> bool:
            return (await place.client.get(JOBS.raw(), "plain", "default"))["spec"].get("suspend", False)

        await eventually(suspended, "the job without a queue is suspended")
        assert await place.placed("plain") == []
        await place.client.patch(JOBS, "plain", free, "default")

        async def runs() -> bool:
            return len(await place.placed("plain")) == 1

        await eventually(runs, "it runs once it has a queue")


async def test_a_job_that_names_the_workload_of_another_gets_none_of_its_quota() -> None:
    async with full_cluster("scheduler", "quota", stops=False) as place:
        await place.client.create(
            JOBS, job("honest", 1, count=1, queue="main", pod={"schedulerName": "reprieve"})
        )

        async def admitted() -> bool:
            conditions = (await place.workload("job-honest")).get("status", {}).get("conditions", ())
            return any(each["type"] == "Admitted" and each["status"] == "True" for each in conditions)

        await eventually(admitted, "the honest job is admitted")
        name = (await place.workload("job-honest"))["metadata"]["name"]
        labels = {QUEUE: "main", "kueue.x-k8s.io/prebuilt-workload-name": name}
        thief = job(
            "thief", 1, count=8, labels=labels, pod={"schedulerName": "reprieve", "priorityClassName": "high"}
        )
        await place.client.create(JOBS, thief)

        async def stopped() -> bool:
            return (await place.client.get(JOBS.raw(), "thief", "default"))["spec"].get("suspend", False)

        await eventually(stopped, "the thief is suspended")
        assert await place.placed("thief") == []
        assert await place.untouched()
