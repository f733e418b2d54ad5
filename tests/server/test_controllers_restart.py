"""On disk, and cut off at any point: what controllers and fake nodes began is finished after a restart,
once.
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from reprieve.local import local_cluster
from reprieve.objects import NodeTemplate
from reprieve.server import EmbeddedServer
from reprieve.server.fake_nodes import Habits
from tests.scale import examples
from tests.server.rig import condition, job
from tests.waiting import eventually

NODES = [NodeTemplate.parse("n=2:cpu=4")]
HABITS = Habits(run_for=0.05, terminate_after=0.05)


@examples(3)
@given(st.lists(st.integers(1, 40), min_size=4, max_size=30))
async def test_jobs_count_every_pod_once_although_the_server_stops_again_and_again(stops: list[int]) -> None:
    """It stops after so many more changes, each time; what is left then is done in peace."""
    with TemporaryDirectory() as folder:
        await run_with_stops(Path(folder), stops)


async def run_with_stops(folder: Path, stops: list[int]) -> None:
    async with local_cluster(data_dir=folder) as server:
        for name in ("a", "b"):
            await server.api.create("jobs.batch", job(name, parallelism=3, completions=12))
    for changes in [*stops, 10**6]:
        async with local_cluster(nodes=NODES, habits=HABITS, data_dir=folder) as server:
            until = server.backend.store.revision + changes
            await eventually(partial(reached, server, until), "the jobs end")
            if done(server):
                break
    async with local_cluster(data_dir=folder) as server:
        await check_every_pod_counted_once(server)


def reached(server: EmbeddedServer, revision: int) -> bool:
    return server.backend.store.revision >= revision or done(server)


def done(server: EmbeddedServer) -> bool:
    jobs = [server.api.peek("jobs.batch", name, "default") for name in ("a", "b")]
    return all(each is not None and condition(each, "Complete") for each in jobs)


async def check_every_pod_counted_once(server: EmbeddedServer) -> None:
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
        assert server.api.peek("namespaces", "team") is not None
    async with local_cluster(data_dir=tmp_path) as server:
        await server.api.patch("configmaps", "c", {"metadata": {"finalizers": None}}, "team")
        await eventually(lambda: server.api.peek("namespaces", "team") is None, "the namespace goes")
