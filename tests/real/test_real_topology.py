"""Quota that knows racks on a real kube-apiserver, with the real controller of Jobs: domains are assigned,
pods are sent there by rank, lost nodes are replaced, while scheduler and quota controller are killed.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import (
    CLUSTER_QUEUES,
    JOBS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    NODES,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
)
from tests import builders
from tests.controllers.racks import LEVELS, Racks, training
from tests.real.cluster import SELECT, Mortal, Place, install, needs_native_groups, place
from tests.scale import scaled

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1500)]

CONTROLLERS = ("scheduler", "quota")


@asynccontextmanager
async def racks_with_quota(plane: ControlPlane, name: str) -> AsyncIterator[tuple[Place, Racks]]:
    """Six nodes of 4 cpu in two racks, and a queue whose flavor has their layout."""
    async with place(plane, name, nodes=6, layout=";racks=2") as here:
        flavor = {"topologyName": name, "nodeLabels": {SELECT: name}}
        await here.create(TOPOLOGIES, builders.kueue("Topology", name, LEVELS))
        await here.create(RESOURCE_FLAVORS, builders.flavor(name, **flavor))
        await here.create(CLUSTER_QUEUES, builders.cluster_queue(name, 100, flavors=(name,)))
        await here.create(LOCAL_QUEUES, builders.local_queue("main", name, namespace=name))
        try:
            yield here, Racks(here.client, namespace=name)
        finally:
            for kind in (JOBS, KUEUE_WORKLOADS, LOCAL_QUEUES):
                query = {"propagationPolicy": "Background"}
                await here.client.request("DELETE", kind.path(name), query=query)
            for kind in (CLUSTER_QUEUES, RESOURCE_FLAVORS, TOPOLOGIES):
                await here.client.delete(kind, name)


async def test_a_job_that_needs_a_rack_runs_by_rank_and_moves_as_its_nodes_die(
    plane: ControlPlane, tmp_path: Path, dice: random.Random
) -> None:
    """One node lost: another of the rack. None left there: evicted with the reason, and on to the next."""
    needs_native_groups(plane)
    account, kills = install(plane, CONTROLLERS), scaled(1)
    given = ["--controllers", ",".join(CONTROLLERS), "--no-leader-elect"]
    async with racks_with_quota(plane, "racks") as (here, racks):
        mortal = Mortal(dice, account, tmp_path / "log", *given)
        try:
            await here.create(JOBS, training(namespace=here.name))
            await mortal.die(kills)
            await here.until(racks.runs)
            first = await racks.assigned()
            assert await racks.by_rank() == dict(enumerate(first)), "ranks in the order of the domains"
            await here.client.delete(NODES, first[0])
            await mortal.die(kills)
            await here.until(partial(racks.runs_without, first[0]))
            second = await racks.assigned()
            assert (await racks.by_rank())[1] == first[1], "the pod that could stay has stayed"
            assert not await racks.told("EvictedDueToNodeFailures", "")
            await here.client.delete(NODES, second[0])
            text = f"no replacement for unhealthy node(s): {second[0]}"
            await here.until(partial(racks.told, "EvictedDueToNodeFailures", text))
            await mortal.die(kills)
            await here.until(partial(racks.sent_elsewhere, *first, *second))
            await here.until(racks.runs)
        finally:
            assert mortal.run.stop() == 0
        assert mortal.run.complaints() == []
