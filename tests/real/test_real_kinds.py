"""Jobs of several kinds through quota on a real kube-apiserver, with real controllers that make pods: held,
started, preempted and put back, while the quota controller and the scheduler are killed.

A Job (suspended), a JobSet (suspended; a custom kind, with a small controller of ours that makes its Jobs)
and a StatefulSet (gated pods), each in a queue of its own.
"""

import random
from functools import partial
from pathlib import Path

import pytest
import yaml
from tools.real_cluster.control_plane import ControlPlane

from reprieve.jobs import JobKinds, suspended
from reprieve.kube import JOBS, KUEUE_WORKLOADS, Resource
from tests import builders
from tests.builders import Document
from tests.real.cluster import Mortal, Place, install, needs_native_groups, place
from tests.real.job_sets import JobSetController
from tests.real.queues import (
    CONFIGURATION,
    JOB_SETS,
    STATEFUL_SETS,
    define_job_sets,
    is_admitted,
    job_set,
    queued_job,
    queues,
    replicated,
)
from tests.scale import scaled

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1500)]

CONTROLLERS = ("scheduler", "quota")
SIZE = 2
KILLS = scaled(2, least=1)
KINDS = JobKinds()


def _made(here: Place) -> dict[str, tuple[Resource, Document]]:
    """By name, which is also that of its queue."""
    return {
        "job": (JOBS, queued_job(here, "job", "job", SIZE)),
        "set": (JOB_SETS, job_set(here, "set", "set", SIZE)),
        "db": (STATEFUL_SETS, replicated(here, "StatefulSet", "db", "db", SIZE)),
    }


async def _running(here: Place, name: str) -> set[str]:
    """UIDs of its pods that are on nodes and stay."""
    return {
        pod["metadata"]["uid"] for pod in await here.pods()
        if pod["metadata"]["name"].startswith(name) and pod["spec"].get("nodeName")
        and not pod["metadata"].get("deletionTimestamp")
    }  # fmt: skip


async def test_each_kind_is_held_started_preempted_and_put_back_although_all_of_it_is_killed(
    plane: ControlPlane, tmp_path: Path, dice: random.Random
) -> None:
    needs_native_groups(plane)
    account = install(plane, CONTROLLERS)
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(CONFIGURATION), encoding="utf-8")
    given = ["--controllers", ",".join(CONTROLLERS), "--config", str(config), "--no-leader-elect"]
    within = {"withinClusterQueue": "LowerPriority"}
    async with (
        place(plane, "kinds", nodes=2) as here,
        queues(here, "job", "set", "db", pods=SIZE, preemption=within),
    ):
        await define_job_sets(here)
        async with JobSetController(here).running():
            mortal = Mortal(dice, account, tmp_path / "log", *given)
            try:
                await _through_quota(here, mortal)
            finally:
                assert mortal.run.stop() == 0
        assert mortal.run.complaints() == []


async def _through_quota(here: Place, mortal: Mortal) -> None:
    made = _made(here)
    written = {}
    for name, (resource, document) in made.items():
        written[name] = await here.client.create(resource, document)
    await mortal.die(KILLS)
    for name in made:
        await here.until_bound(name, SIZE)
    first = {name: await _running(here, name) for name in made}
    for name in made:
        big = builders.workload(f"big-{name}", 1, 1_000_000, count=SIZE, queue=name, namespace=here.name)
        await here.create(KUEUE_WORKLOADS, big)
    await mortal.die(KILLS)
    for name in made:
        await here.until(partial(is_admitted, here, f"big-{name}"))
        await here.until_bound(name, 0)
    for name, (resource, _) in made.items():
        if kind := KINDS.find(written[name]):
            now = await here.client.get(resource.raw(), name, here.name)
            if kind.suspend:
                assert now["spec"] == suspended(written[name], kind)["spec"], "as its user wrote it"
    for name in made:
        await here.client.delete(KUEUE_WORKLOADS, f"big-{name}", here.name)
    await mortal.die(KILLS)
    for name in made:
        await here.until_bound(name, SIZE)
        assert not await _running(here, name) & first[name], "they were made anew"
