"""Scheduler, quota and racks together on an embedded server with fake nodes; and racks in a fleet."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    JOBS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    NODES,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
    Client,
)
from reprieve.local import controllers_of, local_cluster
from reprieve.local.fleet import local_fleet
from reprieve.objects import NodeTemplate, has_condition
from reprieve.server import Habits
from tests import builders
from tests.controllers.clusters import cluster
from tests.controllers.racks import LEVELS, RACK, Racks, training
from tests.waiting import eventually

TOLERATED = [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]
TAS = {"topologyName": "racks", "nodeLabels": {"pool": "gpu"}, "tolerations": TOLERATED}
NODE = "gpu={}:cpu=4,memory=16Gi;racks=2;labels=pool=gpu;taints=gpu=only:NoSchedule"


async def furnish(client: Client, **flavor: Any) -> None:
    await client.create(TOPOLOGIES, builders.kueue("Topology", "racks", LEVELS))
    await client.create(RESOURCE_FLAVORS, builders.flavor(**{**TAS, **flavor}))
    await client.create(CLUSTER_QUEUES, builders.cluster_queue("cq", 100))
    await client.create(LOCAL_QUEUES, builders.local_queue())


@asynccontextmanager
async def with_racks(nodes: int) -> AsyncIterator[Racks]:
    """Two racks of tainted nodes with 4 cpu each; even numbers are in one, odd ones in the other."""
    templates, config = [NodeTemplate.parse(NODE.format(nodes))], Configuration.load(None)
    async with (
        local_cluster(nodes=templates, habits=Habits(terminate_after=0.1), quota=True) as server,
        controllers_of(server, ("scheduler", "quota"), config) as controlled,
    ):
        await furnish(controlled.client)
        yield Racks(controlled.client)


async def test_a_job_that_needs_a_rack_runs_by_rank_and_moves_as_its_nodes_die() -> None:
    """One node lost: another of the rack. None left there: evicted with the reason, and on to the next."""
    async with with_racks(6) as racks:
        await racks.client.create(JOBS, training())
        await eventually(racks.runs, "both pods run in one rack")
        first = await racks.assigned()
        assert await racks.by_rank() == dict(enumerate(first)), "ranks in the order of the domains"
        await racks.client.delete(NODES, first[0])
        await eventually(partial(racks.runs_without, first[0]), "the third node of the rack takes its place")
        second = await racks.assigned()
        assert (await racks.by_rank())[1] == first[1], "the pod that could stay has stayed"
        assert not await racks.told("EvictedDueToNodeFailures", "")
        await racks.client.delete(NODES, second[0])
        await eventually(
            partial(
                racks.told, "EvictedDueToNodeFailures", f"no replacement for unhealthy node(s): {second[0]}"
            ),
            "the workload is evicted, and it is said why",
        )
        await eventually(partial(racks.sent_elsewhere, *first, *second), "it is sent to the other rack")


async def test_a_workload_that_no_rack_can_hold_waits_and_says_so() -> None:
    async with with_racks(4) as racks:
        await racks.client.create(JOBS, training(count=3))

        async def message() -> str:
            conditions = ((await racks.workload()).get("status") or {}).get("conditions") or ()
            return next((each["message"] for each in conditions if each["type"] == "QuotaReserved"), "")

        await eventually(message, "it says why it waits")
        assert 'topology "racks" allows to fit only 2 out of 3 pod(s)' in await message()
        assert await racks.by_rank() == {}


async def test_in_a_fleet_the_manager_leaves_the_topology_to_the_worker() -> None:
    nodes = [NodeTemplate.parse(NODE.format(4))]
    async with local_fleet(2, nodes, Habits(terminate_after=0.1)) as fleet:
        clients = {name: Client.from_kubeconfig(path) for name, path in fleet.kubeconfigs().items()}
        for client in clients.values():
            await client.patch(RESOURCE_FLAVORS, "default", {"spec": TAS})
            await client.create(TOPOLOGIES, builders.kueue("Topology", "racks", LEVELS))
        manager = Racks(clients["manager"])
        await manager.client.create(JOBS, training())

        async def admitted() -> str:
            found = await manager.workload()
            return str(found["status"].get("clusterName") or "") if has_condition(found, "Admitted") else ""

        worker = await eventually(admitted, "one worker has it, and the manager says which")
        await eventually(Racks(clients[worker]).runs, "the worker gave it a rack")
        [held] = (await manager.workload())["status"]["admission"]["podSetAssignments"]
        assert held["delayedTopologyRequest"] == "Ready"
        assert "topologyAssignment" not in held
        for client in clients.values():
            await client.close()


async def test_domains_are_given_once_a_provisioning_check_has_made_the_nodes() -> None:
    async with cluster("one") as place:
        check = {"controllerName": "kueue.x-k8s.io/provisioning-request"}
        await place.client.create(ADMISSION_CHECKS, {"metadata": {"name": "prov"}, "spec": check})
        active = {"type": "Active", "status": "True", "reason": "Active", "message": ""}
        status = {"conditions": [{**active, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
        await place.client.patch(ADMISSION_CHECKS, "prov", {"status": status}, subresource="status")
        checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": "prov"}]}}
        await furnish(place.client)
        await place.client.patch(CLUSTER_QUEUES, "cq", {"spec": checks})
        place.start(quota.run(place.client))
        await place.client.create(JOBS, training(count=1))
        racks = Racks(place.client)

        async def delayed() -> bool:
            status = (await racks.workload()).get("status") or {}
            sets = (status.get("admission") or {}).get("podSetAssignments") or [{}]
            return sets[0].get("delayedTopologyRequest") == "Pending" and bool(status.get("admissionChecks"))

        await eventually(delayed, "it has quota and waits for its nodes")
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        for name, made_for in (("old", ""), ("new", "train")):
            labels = {RACK: "r1", "pool": "gpu", "made-for": made_for}
            made = builders.node(name, 4, labels=labels, status=ready)
            await place.client.create(NODES, made)
            await place.client.patch(NODES, name, {"status": made["status"]}, subresource="status")
        known = await racks.workload()
        update = {"name": "main", "nodeSelector": {"made-for": "train"}}
        state = {"state": "Ready", "podSetUpdates": [update]}
        done = [{**each, **state} for each in known["status"]["admissionChecks"]]
        name = known["metadata"]["name"]
        body = {"status": {"admissionChecks": done}}
        await place.client.patch(KUEUE_WORKLOADS, name, body, "default", subresource="status")

        async def given() -> bool:
            return await racks.assigned() == ["new"] and has_condition(await racks.workload(), "Admitted")

        await eventually(given, "it is admitted on the node that was made for it")
        [held] = (await racks.workload())["status"]["admission"]["podSetAssignments"]
        assert held["delayedTopologyRequest"] == "Ready"


async def test_the_usage_of_local_queues_is_written_and_counts_after_a_restart() -> None:
    sharing = {"usageHalfLifeTime": "1h", "usageSamplingInterval": "1s"}
    config = Configuration.load({"admissionFairSharing": sharing})
    async with cluster("one") as place:
        client = place.client
        await client.create(RESOURCE_FLAVORS, builders.flavor())
        scope = {"admissionMode": "UsageBasedAdmissionFairSharing"}
        await client.create(CLUSTER_QUEUES, builders.cluster_queue("cq", 4, admissionScope=scope))
        for name in ("busy", "idle"):
            await client.create(LOCAL_QUEUES, builders.local_queue(name))
        task = place.start(quota.run(client, config))
        await client.create(KUEUE_WORKLOADS, builders.workload("first", 4, queue="busy"))

        async def consumed(queue: str) -> str:
            status = (await client.get(LOCAL_QUEUES.raw(), queue, "default")).get("status") or {}
            shared = (status.get("fairSharing") or {}).get("admissionFairSharingStatus") or {}
            return str((shared.get("consumedResources") or {}).get("cpu", ""))

        async def counted() -> bool:
            status = (await client.get(LOCAL_QUEUES.raw(), "busy", "default"))["status"]
            return bool(status.get("admittedWorkloads") == 1 and await consumed("busy"))

        await eventually(counted, "the queue shows its workload and what it consumed")
        task.cancel()
        await client.delete(KUEUE_WORKLOADS, "first", "default")
        for name, queue in (("a-busy", "busy"), ("b-idle", "idle")):
            await client.create(KUEUE_WORKLOADS, builders.workload(name, 4, queue=queue))
        place.start(quota.run(client, config))

        async def reserved(name: str) -> bool:
            return has_condition(await client.get(KUEUE_WORKLOADS.raw(), name, "default"), "QuotaReserved")

        await eventually(partial(reserved, "b-idle"), "the queue that used nothing goes first")
        assert not await reserved("a-busy")
        assert await consumed("busy")
