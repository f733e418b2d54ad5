"""The what-if form is answered by a process of its own: right, bounded, the page's own is not held up."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reprieve.dashboard import planner
from reprieve.dashboard.planner import WhatIf
from reprieve.kube import Client
from reprieve.objects import ReprieveError
from reprieve.server import EmbeddedServer, NodeTemplate

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "%s"}}}]}
"""
LONGEST_STEP_SECONDS = 0.1


@asynccontextmanager
async def what_if(seconds: int = 30) -> AsyncIterator[WhatIf]:
    async with EmbeddedServer() as server, Client.from_kubeconfig(server.kubeconfig) as client:
        for node in NodeTemplate.parse("n=2:cpu=4,memory=8Gi").nodes():
            await server.api.create("nodes", node)
        yield WhatIf(client, seconds=seconds)


async def test_the_answer_is_the_planners() -> None:
    async with what_if() as ask:
        fits, does_not = await asyncio.gather(ask(POD % ("a", 3), ""), ask(POD % ("b", 5), "Pod/default/b"))
    assert (fits["outcome"], fits["for"]) == ("scheduled", "Pod/default/a")
    assert does_not["outcome"] != "scheduled"


async def test_bad_manifests_are_refused_with_their_own_words() -> None:
    async with what_if() as ask:
        with pytest.raises(ReprieveError, match="several units"):
            await ask(POD % ("a", 1) + "---" + POD % ("b", 1), "")
        with pytest.raises(ReprieveError, match="no Pod, PodGroup or Workload"):
            await ask("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}", "")


async def test_a_question_that_takes_too_long_is_given_up() -> None:
    async with what_if(seconds=0) as ask:
        with pytest.raises(ReprieveError, match="given up after"):
            await ask(POD % ("a", 1), "")


async def test_a_question_that_takes_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "BYTES", 150 << 20)
    async with what_if() as ask:
        with pytest.raises(ReprieveError, match=r"needs more"):
            await ask("\n---\n".join(POD % (f"a{i}", 1) for i in range(2_000)), "Pod/default/a1")


async def test_a_storm_of_large_questions_does_not_hold_up_the_loop() -> None:
    manifest = "\n---\n".join(POD % (f"a{i}", 1) for i in range(300))
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.process_time()  # work done in this process, however busy the machine is
            await asyncio.sleep(0.01)
            longest = max(longest, time.process_time() - before)

    async with what_if() as ask:
        watching = asyncio.create_task(watch())
        questions = [ask(manifest, "Pod/default/a1") for _ in range(planner.MOST_WAITING + 4)]
        answers = await asyncio.gather(*questions, return_exceptions=True)
        watching.cancel()
    refused = [answer for answer in answers if isinstance(answer, ReprieveError)]
    assert [str(each) for each in refused] == [planner.BUSY] * 4
    assert longest < LONGEST_STEP_SECONDS
