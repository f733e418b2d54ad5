"""On disk, and cut off at any point: what controllers and fake nodes began is finished after a restart,
once.
"""

import asyncio
import random
from pathlib import Path

import pytest

from reprieve.local import local_cluster
from reprieve.server.fake_nodes import Habits, NodeTemplate
from tests.server.rig import condition, job

NODES = [NodeTemplate.parse("n=2:cpu=4")]
HABITS = Habits(run_for=0.05, terminate_after=0.05)


@pytest.mark.parametrize("seed", range(3))
async def test_jobs_count_every_pod_once_although_the_server_stops_again_and_again(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    submitted = False
    for _ in range(60):
        async with local_cluster(nodes=NODES, habits=HABITS, data_dir=tmp_path) as server:
            if not submitted:
                for name in ("a", "b"):
                    await server.api.create("jobs.batch", job(name, parallelism=3, completions=12))
                submitted = True
            await asyncio.sleep(chance.uniform(0.01, 0.15))
            done = [server.api.peek("jobs.batch", name, "default") for name in ("a", "b")]
            if all(d is not None and condition(d, "Complete") for d in done):
                break
    async with local_cluster(data_dir=tmp_path) as server:
        for name in ("a", "b"):
            document = await server.api.get("jobs.batch", name, "default")
            assert condition(document, "Complete") == "True/CompletionsReached"
            assert document["status"]["succeeded"] == 12
            assert document["status"].get("failed", 0) == 0
        pods = server.api.select("pods")
        assert len(pods) == 24
        assert {p["status"]["phase"] for p in pods} == {"Succeeded"}
        assert not any(p["metadata"].get("finalizers") for p in pods)


async def test_a_namespace_that_was_being_deleted_goes_after_a_restart(tmp_path: Path) -> None:
    async with local_cluster(data_dir=tmp_path) as server:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        await server.api.create("namespaces", namespace)
        held = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "c", "finalizers": ["x.io/hold"]},
        }
        await server.api.create("configmaps", held, "team")
        await server.api.delete("namespaces", "team")
        await asyncio.sleep(0.1)
        assert server.api.peek("namespaces", "team") is not None
    async with local_cluster(data_dir=tmp_path) as server:
        await server.api.patch("configmaps", "c", {"metadata": {"finalizers": None}}, "team")
        for _ in range(200):
            if server.api.peek("namespaces", "team") is None:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the namespace is still there")
