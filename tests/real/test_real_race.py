"""Reprieve and kube-scheduler in turn on the same scenes: whoever is faster, the outcome is as large."""

from collections.abc import AsyncIterator

import pytest
from tools.real_cluster.control_plane import ControlPlane
from tools.real_cluster.race import SCHEDULERS, Result, furnish, run
from tools.real_cluster.scenes import GANG, NODE, ON_EACH_NODE, SCENES

from reprieve.kube import NODES, Client
from reprieve.objects import NodeTemplate
from tests.real.cluster import needs_native_groups, open_to_all

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]

PLACES = NodeTemplate.parse(f"race=6:{NODE}")


@pytest.fixture
async def client(plane: ControlPlane) -> AsyncIterator[Client]:
    """With the nodes of the race, which is between kube-scheduler's gangs and ours."""
    needs_native_groups(plane)
    async with Client.from_kubeconfig(plane.kubeconfig("admin")) as client:
        await furnish(client, PLACES)
        await open_to_all(client, PLACES)
        yield client
        for name in PLACES.names():
            await client.delete(NODES, name)


async def test_gangs_that_fit_are_bound_and_gangs_that_preempt_evict_equally_many(
    plane: ControlPlane, client: Client
) -> None:
    async def outcome(scene: str, pods: int) -> list[Result]:
        raced = SCENES[scene]
        return [await run(plane, client, each, raced(each, pods, PLACES.names())) for each in SCHEDULERS]

    for result in await outcome("gangs", 3 * GANG):
        assert not result.evicted
    for result in await outcome("preemption", GANG):
        assert result.evicted.total() == GANG * ON_EACH_NODE // 2
