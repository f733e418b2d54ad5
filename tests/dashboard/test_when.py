"""When a unit starts, over HTTP: the answer of `reprieve when` on the live cluster, from another process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from reprieve.dashboard.guard import Access
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.planner import WhatIf
from reprieve.dashboard.questions import cluster_with_jobs
from reprieve.jobs import JobKinds
from reprieve.kube import ApiError, Client, Resource
from reprieve.objects import NodeTemplate, ReprieveError
from reprieve.server import EmbeddedServer
from tests.dashboard.serving import serving

TOKEN = "correct-horse-battery-staple"


def annotated_pod(name: str, node: str = "", **annotations: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": {"restartPolicy": "Never", "containers": [container], **({"nodeName": node} if node else {})},
    }


@asynccontextmanager
async def cluster() -> AsyncIterator[Client]:
    """One node: a pod runs on it that announced an hour, another one waits."""
    async with EmbeddedServer() as server, Client.from_kubeconfig(server.kubeconfig) as client:
        for node in NodeTemplate.parse("n=1:cpu=4,memory=8Gi").nodes():
            await server.api.create("nodes", node)
            name = node["metadata"]["name"]
        await server.api.create(
            "pods", annotated_pod("runs", name, **{"reprieve.dev/expected-runtime": "1h"}), "default"
        )
        await server.api.create("pods", annotated_pod("waits"), "default")
        yield client


async def asked(page: str, query: str, **headers: str) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"{page}/api/when{query}") as reply,
    ):
        return reply.status, await reply.json()


async def test_the_answer_is_that_of_the_command():
    async with cluster() as client:
        ask = WhatIf(client, seconds=250)
        async with serving(Inventory(), forecaster=ask.when) as page:
            status, answer = await asked(page, "?for=pod/default/waits")
            gone, told = await asked(page, "?for=pod/default/ghost")
    assert (status, answer["kind"], answer["for"]) == (200, "Forecast", "Pod/default/waits")
    assert answer["outcome"] == "later"
    assert 3000 < answer["start"]["median"] <= 3600
    assert (gone, "nothing of Pod/default/ghost" in told["message"]) == (422, True)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "nothing is named; write for=KIND/NAMESPACE/NAME"),
        ("?for=%20", "nothing is named"),
        ("?for=teapot/default/a", "cannot look ahead for"),
        (f"?for=pod/default/{'a' * 1000}", "1012 characters"),
    ],
)
async def test_what_nobody_could_answer_is_refused_with_a_sentence(query: str, said: str):
    async with (
        EmbeddedServer() as server,
        Client.from_kubeconfig(server.kubeconfig) as client,
        serving(Inventory(), forecaster=WhatIf(client).when) as page,
    ):
        status, answer = await asked(page, query)
    assert (status, said in answer["message"]) == (400, True), answer


async def test_it_is_behind_the_token():
    async with serving(Inventory(), access=Access("0.0.0.0", TOKEN)) as page:
        without, _ = await asked(page, "?for=pod/default/a")
        wrong, _ = await asked(page, "?for=pod/default/a", Authorization="Bearer guess")
        right, answer = await asked(page, "?for=pod/default/a", Authorization=f"Bearer {TOKEN}")
    assert (without, wrong, right) == (401, 401, 200)
    assert answer["outcome"] == "later"


async def test_a_question_that_takes_too_long_names_the_command_without_a_limit():
    async with cluster() as client:
        with pytest.raises(ReprieveError, match="given up after 0 seconds; ask `reprieve when`"):
            await WhatIf(client, seconds=0).when("pod/default/waits")


async def test_jobs_that_the_page_may_not_read_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch):
    notes: list[str] = []
    async with cluster() as client:
        everything = client.dump_all

        async def dump_all(resources: list[Resource]) -> list[bytes]:
            if [each.plural for each in resources] == ["jobs"]:
                raise ApiError(403, "Forbidden", "no rights")
            return await everything(resources)

        monkeypatch.setattr(client, "dump_all", dump_all)
        lists = await cluster_with_jobs(client, JobKinds(), notes)
    assert any(b'"PodList"' in each for each in lists)
    assert len(notes) == 1
    assert notes[0].startswith("Not read, for the page may not: jobs.")
