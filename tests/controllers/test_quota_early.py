"""Jobs that are suspended and still have pods: neither started nor put back before those are gone."""

from functools import partial

from reprieve.controllers import quota
from reprieve.kube import JOBS, KUEUE_WORKLOADS
from tests import builders
from tests.builders import Document
from tests.controllers.clusters import NAMESPACE, Cluster, cluster, is_true, job
from tests.waiting import eventually


async def the_job(place: Cluster, name: str) -> Document:
    return await place.client.get(JOBS.raw(), name, NAMESPACE)


async def is_started(place: Cluster, name: str) -> bool:
    return not (await the_job(place, name))["spec"]["suspend"]


async def is_admitted(place: Cluster) -> bool:
    return any(is_true(each, "Admitted") for each in (await place.workloads()).values())


async def has_workload(place: Cluster, name: str) -> bool:
    return any(name in each for each in await place.workloads())


async def begun(place: Cluster) -> None:
    """A pod of it runs."""
    running = {"status": {"active": 1, "startTime": builders.START}}
    await place.client.patch(JOBS, "early", running, NAMESPACE, subresource="status")


async def stopped(place: Cluster) -> None:
    conditions = [{"type": "Suspended", "status": "True"}]
    status = {"status": {"active": 0, "startTime": None, "conditions": conditions}}
    await place.client.patch(JOBS, "early", status, NAMESPACE, subresource="status")


async def selector(place: Cluster) -> Document:
    template = (await the_job(place, "early"))["spec"]["template"]["spec"]
    return dict(template.get("nodeSelector") or {})


async def test_a_job_that_was_not_held_in_time_starts_once_its_first_pods_are_gone() -> None:
    """Its own controller may never see that it was suspended for a moment, and keep pods that no flavor sent
    anywhere.
    """
    async with cluster("one") as place:
        await place.furnish("8")
        await place.client.create(JOBS, job("early", suspend=False), NAMESPACE)
        await begun(place)
        place.start(quota.run(place.client))
        await eventually(partial(is_admitted, place), "it has quota")
        await place.client.create(JOBS, job("later"), NAMESPACE)
        await eventually(partial(is_started, place, "later"), "a job that comes later starts")
        assert not await is_started(place, "early")
        await stopped(place)
        await eventually(partial(is_started, place, "early"), "it starts")
        assert await selector(place) == {"pool": "gpu"}


async def test_an_evicted_job_is_put_back_once_its_pods_are_gone() -> None:
    """Until then kube-apiserver 1.38 refuses another template with 422."""
    async with cluster("one") as place:
        await place.furnish()
        await place.client.create(JOBS, job("early"), NAMESPACE)
        place.start(quota.run(place.client))
        await eventually(partial(is_started, place, "early"), "it starts")
        await begun(place)
        [name] = await place.workloads()
        await place.client.patch(KUEUE_WORKLOADS, name, {"spec": {"active": False}}, NAMESPACE)

        async def is_suspended() -> bool:
            return not await is_started(place, "early")

        await eventually(is_suspended, "it is stopped")
        await place.client.create(JOBS, job("later", cpu=1), NAMESPACE)
        await eventually(partial(has_workload, place, "later"), "a job that comes later is looked at")
        assert await selector(place) == {"pool": "gpu"}
        await stopped(place)

        async def is_put_back() -> bool:
            return not await selector(place)

        await eventually(is_put_back, "it is as its user wrote it")
