"""A controller says that it has begun: whoever reads its log knows what the process does."""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reprieve.controllers import fleet, quota
from reprieve.kube import KUEUE_WORKLOADS, Client
from tests.controllers.clusters import NAMESPACE, cluster, is_true, workload
from tests.waiting import eventually

BEGINNINGS = {
    "giving quota to workloads": quota.run,
    "sending workloads to the clusters of this fleet": fleet.run,
}


@pytest.mark.parametrize(("said", "run"), BEGINNINGS.items())
async def test_a_controller_says_that_it_has_begun(
    said: str, run: Callable[[Client], Coroutine[Any, Any, None]], caplog: pytest.LogCaptureFixture
) -> None:
    """A manager with nothing to complain of had written no line after eight minutes."""
    caplog.set_level(logging.INFO)
    async with cluster("one") as here:
        here.start(run(here.client))
        await eventually(lambda: said in caplog.messages, said)


async def test_kinds_that_are_installed_after_the_start_are_followed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """`reprieve manifests crds`, applied after the deployment: it gave no quota until it was started anew."""
    monkeypatch.setattr(quota, "RETRY_SECONDS", 0.1)
    caplog.set_level(logging.INFO)
    async with cluster("one") as here:
        registry = here.server.backend.registry
        kinds = [each for each in registry if each.group == "kueue.x-k8s.io"]
        for each in kinds:
            registry.remove(each)
        here.start(quota.run(here.client))
        await eventually(lambda: "giving quota to workloads" in caplog.messages, "it starts without them")
        for each in kinds:
            registry.add(each)
        await here.furnish()
        await here.client.create(KUEUE_WORKLOADS, workload("late"), NAMESPACE)

        async def admitted() -> bool:
            return is_true((await here.workloads())["late"], "Admitted")

        await eventually(admitted, "it gets its quota")
