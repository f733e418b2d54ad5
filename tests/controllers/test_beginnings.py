"""A controller says that it has begun: whoever reads its log knows what the process does."""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from reprieve.controllers import fleet, quota
from reprieve.kube import Client
from tests.controllers.clusters import cluster
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
