"""Queues on the nodes of a place, and what is to be seen of what waits there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reprieve.kube import (
    CLUSTER_QUEUES,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    OWNER_KINDS,
    RESOURCE_FLAVORS,
    ApiError,
    Resource,
)
from reprieve.server import EmbeddedServer, JobKindControllers, kinds_of
from tests import builders
from tests.builders import Document
from tests.real.cluster import SELECT, Place
from tests.waiting import eventually

JOB_SETS = Resource("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
DEPLOYMENTS, STATEFUL_SETS = (
    next(each for each in OWNER_KINDS if each.kind == kind) for kind in ("Deployment", "StatefulSet")
)
QUEUE = "kueue.x-k8s.io/queue-name"
CONFIGURATION: Document = {"quota": {"quotaCheckStrategy": "IgnoreUndeclared"}}


@asynccontextmanager
async def queues(here: Place, *names: str, pods: int, **queue: Any) -> AsyncIterator[None]:
    """A LocalQueue and a ClusterQueue for each name, for so many pods, on the nodes of this place."""
    await here.create(RESOURCE_FLAVORS, builders.flavor(here.name, nodeLabels={SELECT: here.name}))
    for name in names:
        made = builders.cluster_queue(f"{here.name}-{name}", flavors=(here.name,), **queue)
        [group] = made["spec"]["resourceGroups"]
        group["coveredResources"] = ["pods"]
        group["flavors"][0]["resources"] = [{"name": "pods", "nominalQuota": str(pods)}]
        await here.create(CLUSTER_QUEUES, made)
        await here.create(
            LOCAL_QUEUES, builders.local_queue(name, f"{here.name}-{name}", namespace=here.name)
        )
    try:
        yield
    finally:
        client = here.client
        for kind in (*OWNER_KINDS, JOB_SETS, KUEUE_WORKLOADS, LOCAL_QUEUES):
            if await client.served(kind) is not None:
                await client.request(
                    "DELETE", kind.path(here.name), query={"propagationPolicy": "Background"}
                )
        for name in names:
            await client.delete(CLUSTER_QUEUES, f"{here.name}-{name}")
        await client.delete(RESOURCE_FLAVORS, here.name)


async def define_job_sets(here: Place) -> None:
    """The definition that `reprieve up --kinds jobset` makes."""
    name = f"{JOB_SETS.plural}.{JOB_SETS.group}"
    async with EmbeddedServer(background=(JobKindControllers(kinds_of(["jobset"])),)) as server:
        found = await eventually(
            lambda: server.api.peek(f"{DEFINITIONS.plural}.{DEFINITIONS.group}", name), "JobSet is defined"
        )
    kept = {key: found["metadata"][key] for key in ("name", "annotations")}
    definition = {"metadata": kept, "spec": {k: v for k, v in found["spec"].items() if k != "conversion"}}
    try:
        await here.client.create(DEFINITIONS, definition)
    except ApiError as error:
        if not error.already_exists:
            raise

    async def served() -> bool:
        await here.client.served_groups()  # what was known before is looked up again
        return await here.client.served(JOB_SETS) is not None

    await here.until(served)


def queued_job(here: Place, name: str, queue: str, pods: int, **spec: Any) -> Document:
    """A Job as its user writes it: in a queue, and not suspended."""
    template = here.own_pod("x")["spec"] | {"restartPolicy": "Never"}
    del template["nodeSelector"]  # the flavor says where
    return builders.job(
        name, count=pods, queue=queue, namespace=here.name, pod=template, **{"suspend": False, **spec}
    )


def job_set(here: Place, name: str, queue: str, pods: int) -> Document:
    inner = queued_job(here, name, queue, pods)["spec"]
    del inner["suspend"]
    return {
        "metadata": {"name": name, "namespace": here.name, "labels": {QUEUE: queue}},
        "spec": {"replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": inner}}]},
    }


def replicated(here: Place, kind: str, name: str, queue: str, pods: int) -> Document:
    """A Deployment or StatefulSet in a queue."""
    template = queued_job(here, name, queue, pods)["spec"]["template"]
    del template["spec"]["restartPolicy"]
    template["metadata"] = {"labels": {"app": name}}
    named = {"serviceName": name} if kind == "StatefulSet" else {}
    return {
        "metadata": {"name": name, "namespace": here.name, "labels": {QUEUE: queue}},
        "spec": {"replicas": pods, "selector": {"matchLabels": {"app": name}}, "template": template, **named},
    }


async def is_admitted(here: Place, workload: str) -> bool:
    found = await here.client.get(KUEUE_WORKLOADS.raw(), workload, here.name)
    return conditions(found).get("Admitted") == "True"


def conditions(document: Document) -> dict[str, str]:
    return {c["type"]: c["status"] for c in (document.get("status") or {}).get("conditions", ())}
