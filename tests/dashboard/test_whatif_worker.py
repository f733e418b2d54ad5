"""The what-if form is answered by a process of its own: right, bounded, the page's own is not held up."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from reprieve.dashboard import planner
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.planner import WhatIf
from reprieve.kube import Client
from reprieve.objects import NodeTemplate, Reference, ReprieveError
from reprieve.server import EmbeddedServer
from reprieve.whatif import sentences
from tests.dashboard.serving import serving
from tests.steps import LONGEST_SECONDS, counted_steps

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "%s"}}}]}
"""


@asynccontextmanager
async def what_if(seconds: int = 250) -> AsyncIterator[WhatIf]:
    async with EmbeddedServer() as server, Client.from_kubeconfig(server.kubeconfig) as client:
        for node in NodeTemplate.parse("n=2:cpu=4,memory=8Gi").nodes():
            await server.api.create("nodes", node)
        yield WhatIf(client, seconds=seconds)  # more than a viewer gets: the machine may be busy


async def test_the_answer_is_the_planners() -> None:
    async with what_if() as ask:
        fits, does_not = await asyncio.gather(ask(POD % ("a", 3), ""), ask(POD % ("b", 5), "Pod/default/b"))
    assert (fits["outcome"], fits["for"]) == ("scheduled", "Pod/default/a")
    assert does_not["outcome"] != "scheduled"


async def test_bad_manifests_are_refused_with_their_own_words() -> None:
    async with what_if() as ask:
        with pytest.raises(ReprieveError, match="several units"):
            await ask(POD % ("a", 1) + "---" + POD % ("b", 1), "")
        with pytest.raises(ReprieveError, match="no Pod, PodGroup, Workload or job"):
            await ask("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}", "")


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: sweep, namespace: default}
spec:
  parallelism: 3
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}
"""


async def test_a_job_of_any_kind_is_planned_and_algorithms_are_compared() -> None:
    async with what_if() as ask:
        job = await ask(JOB, "")
        compared = await ask.compare(POD % ("a", 3), "")
        told = sentences.no_single_gang(Reference("Job", "default", "sweep"), 0)
        with pytest.raises(ReprieveError, match=re.escape(told)):
            await ask.compare(JOB, "")
    assert (job["kind"], job["for"], job["outcome"]) == ("JobPlan", "Job/default/sweep", "scheduled")
    assert job["podSets"][0]["placed"] == 3
    assert compared["kind"] == "PlanComparison"
    assert [each["algorithm"] for each in compared["plans"]] == ["kubernetes", "kep-5710", "minimal-cost"]


async def test_a_question_that_takes_too_long_is_given_up() -> None:
    async with what_if(seconds=0) as ask:
        with pytest.raises(ReprieveError, match="given up after"):
            await ask(POD % ("a", 1), "")


async def test_a_question_that_takes_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "BYTES", 150 << 20)
    async with what_if() as ask:
        with pytest.raises(ReprieveError, match=r"needs more"):
            await ask("\n---\n".join(POD % (f"a{i}", 1) for i in range(2_000)), "Pod/default/a1")


async def test_a_storm_of_large_questions_does_not_hold_up_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = "\n---\n".join(POD % (f"a{i}", 1) for i in range(300))
    body = json.dumps({"manifest": manifest, "for": "Pod/default/a1"}).encode()

    async def asked(page: str) -> str:
        headers = {"Content-Type": "application/json"}
        async with session.post(f"{page}/api/plan", data=body, headers=headers) as reply:
            return await reply.text()

    async with (
        what_if() as ask,
        serving(Inventory(), planner=ask) as page,
        aiohttp.ClientSession() as session,
    ):
        with counted_steps(monkeypatch) as steps:
            answers = await asyncio.gather(*(asked(page) for _ in range(planner.MOST_WAITING + 4)))
    assert sum(planner.BUSY in each for each in answers) == 4
    assert sum('"outcome"' in each for each in answers) == planner.MOST_WAITING
    assert steps.longest < LONGEST_SECONDS, steps.what
