"""Devices of claim templates count against quota, live: for Jobs and for PodGroups."""

from typing import Any

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.kube import CLAIM_TEMPLATES, JOBS, POD_GROUPS, PODS
from reprieve.objects import condition_of
from tests import builders
from tests.controllers.clusters import NAMESPACE, Cluster, cluster, is_true, job
from tests.waiting import eventually

CONFIG = Configuration.load(
    {"resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": ["gpu"]}]}}
)
CLAIMS = [{"name": "c", "resourceClaimTemplateName": "t"}]


def template(count: int) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return {"metadata": {"name": "t", "namespace": NAMESPACE}, "spec": {"spec": spec}}


async def furnish(place: Cluster, gpus: int) -> None:
    resources = [{"name": "cpu", "nominalQuota": "100"}, {"name": "whole-gpus", "nominalQuota": str(gpus)}]
    covered = {
        "coveredResources": ["cpu", "whole-gpus"],
        "flavors": [{"name": "default", "resources": resources}],
    }
    await place.furnish(resourceGroups=[covered])
    place.start(quota.run(place.client, CONFIG))


async def reserved(place: Cluster, prefix: str) -> bool:
    found = await place.workloads()
    return any(name.startswith(prefix) and is_true(each, "QuotaReserved") for name, each in found.items())


async def said(place: Cluster, prefix: str) -> str:
    for name, each in (await place.workloads()).items():
        if name.startswith(prefix):
            return str((condition_of(each, "QuotaReserved") or {}).get("message", ""))
    return ""


async def test_jobs_wait_for_the_devices_that_others_have() -> None:
    async with cluster("one") as place:
        await furnish(place, 4)
        await place.client.create(CLAIM_TEMPLATES, template(2), NAMESPACE)
        await place.client.create(JOBS, job("first", pod={"resourceClaims": CLAIMS}), NAMESPACE)
        await eventually(lambda: reserved(place, "job-first"), "the first job has its quota")
        await place.client.create(JOBS, job("second", pod={"resourceClaims": CLAIMS}), NAMESPACE)

        async def waits() -> bool:
            return "insufficient unused quota for whole-gpus" in await said(place, "job-second")

        await eventually(waits, "the second waits for devices")


async def test_a_job_whose_template_comes_later_is_admitted_then() -> None:
    async with cluster("one") as place:
        await furnish(place, 4)
        await place.client.create(JOBS, job("early", pod={"resourceClaims": CLAIMS}), NAMESPACE)

        async def waits() -> bool:
            return "the ResourceClaimTemplate t does not exist" in await said(place, "job-early")

        await eventually(waits, "it says what is missing")
        await place.client.create(CLAIM_TEMPLATES, template(2), NAMESPACE)
        await eventually(lambda: reserved(place, "job-early"), "it has its quota")


async def test_a_group_waits_for_the_devices_of_all_its_pods() -> None:
    async with cluster("one") as place:
        await furnish(place, 3)
        await place.client.create(CLAIM_TEMPLATES, template(2), NAMESPACE)
        labels = {"kueue.x-k8s.io/queue-name": "main"}
        group = builders.pod_group("g", 2, namespace=NAMESPACE)
        group["metadata"]["labels"] = labels
        await place.client.create(POD_GROUPS, group, NAMESPACE)
        gates = [{"name": "kueue.x-k8s.io/admission"}]
        for number in range(2):
            made = builders.pod(
                f"g-{number}", group="g", namespace=NAMESPACE, resourceClaims=CLAIMS, schedulingGates=gates
            )
            await place.client.create(PODS, made, NAMESPACE)

        async def waits() -> bool:
            return "whole-gpus" in await said(place, "podgroup-g")

        await eventually(waits, "the group waits for devices")
