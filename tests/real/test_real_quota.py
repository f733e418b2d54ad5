"""Quota, fleet and the page on a real kube-apiserver, with the rights that are printed for them and no
others.
"""

import asyncio
import base64
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from tools.real_cluster import audit
from tools.real_cluster.control_plane import ControlPlane, free_ports

from reprieve.kube import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    MULTIKUEUE_CONFIGS,
    NAMESPACES,
    RESOURCE_FLAVORS,
    Client,
    Resource,
)
from reprieve.manifests.rights import LEASE, rules
from reprieve.server import EmbeddedServer
from tests import builders
from tests.builders import Document
from tests.real.cluster import ACCOUNT, Place, Run, install, place

pytestmark = pytest.mark.real

CONTROLLERS = ("quota", "fleet")
SECRETS = Resource("", "v1", "Secret", "secrets")
CHECK = "fleet"


cluster_queue = partial(builders.cluster_queue, flavors=("any",))


def sent_to(here: Place, name: str, to: str, priority: int = 0) -> Document:
    by_class = {"priorityClassRef": {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}}
    return builders.workload(
        name, 1, priority, count=3, queue=to, namespace=here.name, **(by_class if priority else {})
    )


async def _true(here: Place, name: str, condition: str) -> bool:
    found = await here.client.get(KUEUE_WORKLOADS.raw(), name, here.name)
    conditions = {c["type"]: c["status"] for c in (found.get("status") or {}).get("conditions", ())}
    return conditions.get(condition) == "True"


async def _sent(worker: Client, here: Place) -> bool:
    return "sent" in [
        w["metadata"]["name"] for w in (await worker.listing(KUEUE_WORKLOADS.raw(), here.name)).items
    ]


async def _join(here: Place, kubeconfig: str) -> None:
    """A worker, and a queue that sends everything to the fleet."""
    secret = {
        "metadata": {"name": "worker", "namespace": "kueue-system"},
        "data": {"kubeconfig": base64.b64encode(kubeconfig.encode()).decode()},
    }
    location = {"location": "worker", "locationType": "Secret"}
    await here.create(SECRETS, secret)
    await here.create(
        MULTIKUEUE_CLUSTERS,
        {"metadata": {"name": "worker"}, "spec": {"clusterSource": {"kubeConfig": location}}},
    )
    await here.create(MULTIKUEUE_CONFIGS, {"metadata": {"name": "all"}, "spec": {"clusters": ["worker"]}})
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
    check = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
    await here.create(ADMISSION_CHECKS, {"metadata": {"name": CHECK}, "spec": check})


async def _look(port: int) -> None:
    """The page, and its what-if form."""
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c, image: x}]}}"
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        async with session.get("/readyz") as ready:
            assert (ready.status, await ready.text()) == (200, "ok\n")
        async with session.get("/") as page:
            assert page.status == 200
        asked = {"manifest": pod, "for": "Pod/default/x"}
        async with session.post("/api/plan", json=asked) as plan:
            assert plan.status == 200, await plan.text()


async def test_quota_fleet_and_page_with_exactly_the_rights_that_were_given(
    plane: ControlPlane, tmp_path: Path
) -> None:
    account = install(plane, CONTROLLERS, dashboard=True)
    since = plane.audit_log.stat().st_size
    [port] = free_ports(1)
    async with (
        EmbeddedServer() as worker_server,
        Client.from_kubeconfig(worker_server.kubeconfig) as worker,
        place(plane, "quota") as here,
    ):
        await worker.create(NAMESPACES, {"metadata": {"name": here.name}})
        await here.create(RESOURCE_FLAVORS, {"metadata": {"name": "any"}, "spec": {}})
        run = Run(
            account,
            tmp_path / "log",
            "--controllers",
            ",".join(CONTROLLERS),
            "--dashboard",
            listen=f"127.0.0.1:{port}",
        )
        try:
            await here.create(
                CLUSTER_QUEUES,
                cluster_queue("cq", preemption={"withinClusterQueue": "LowerPriority"}),
                cluster_queue("far", admissionChecksStrategy={"admissionChecks": [{"name": CHECK}]}),
            )
            for name, to in (("main", "cq"), ("away", "far")):
                await here.create(LOCAL_QUEUES, builders.local_queue(name, to, namespace=here.name))
            await here.create(KUEUE_WORKLOADS, sent_to(here, "first", "main"))
            await here.until(lambda: _true(here, "first", "Admitted"))
            await here.create(KUEUE_WORKLOADS, sent_to(here, "second", "main", 100))
            await here.until(lambda: _true(here, "second", "Admitted"))
            assert not await _true(here, "first", "Admitted")
            await _join(here, worker_server.kubeconfig.read_text())
            await here.create(KUEUE_WORKLOADS, sent_to(here, "sent", "away"))
            await here.until(lambda: _sent(worker, here))
            await _look(port)
            served = await here.client.served_groups()
            await asyncio.sleep(1)  # real: whatever it would still send is to be in the audit log
        finally:
            assert run.stop() == 0
    assert run.complaints() == []
    entries = list(audit.entries(plane.audit_log, ACCOUNT, since))
    assert 403 not in audit.codes(entries), audit.codes(entries)
    unneeded = audit.unneeded([*rules(CONTROLLERS, dashboard=True), *LEASE], entries, plane.version)
    # Jobs and gated pods are for servers that know `suspend` and `schedulingGates`; the rest happens when it
    # must. Kinds of jobs that nobody has installed cannot be followed.
    rare = {"delete", "create", "patch", "update"}
    common = {right for right in unneeded if right[2] not in rare and (not right[0] or right[0] in served)}
    assert common == set()
