"""The what-if form (a viewer's manifests, planned on the live cluster), and why and when of one object.

The work is done by a process of its own (`worker`), one at a time, so that no question, however large, slows
down the controller that shares this process.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from reprieve.config import Configuration
from reprieve.dashboard.questions import asked_for, cluster_with_jobs, cluster_with_owners
from reprieve.dashboard.worker import Ask, Question, Reply
from reprieve.kube import Client, dump_cluster
from reprieve.objects import ReprieveError
from reprieve.records import Decision, Run

SECONDS = 30
BYTES = 4 << 30
"""Address space: several times what a cluster of 50,000 nodes takes."""
MOST_WAITING = 8
MOST_RECORDS = 1000
BUSY = "too many what-ifs are being answered at this moment; try again in a minute"
WITHOUT_LIMIT: dict[Ask, str] = {"explain": "explain", "when": "when"}
"""The command that has no limit, where it is not `plan`."""


class WhatIf:
    """Answers forms, one after the other."""

    def __init__(
        self,
        client: Client,
        config: Mapping[str, Any] | None = None,
        *,
        runs: Iterable[Run] = (),
        seconds: int | None = None,
    ) -> None:
        """`runs`: what has ended, as far as it is known at any time."""
        self._client = client
        self._runs = runs
        self._config = dict(config) if config is not None else None
        self._seconds = SECONDS if seconds is None else seconds
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def __call__(self, manifest: str, for_: str) -> dict[str, Any]:
        """The plan for what the manifests hold."""
        question = Question(manifest, for_, self._config, self._seconds, BYTES)
        return await self._ask(question, dump_cluster(self._client))

    async def compare(self, manifest: str, for_: str) -> dict[str, Any]:
        """The same with every algorithm."""
        question = Question(manifest, for_, self._config, self._seconds, BYTES, ask="compare")
        return await self._ask(question, dump_cluster(self._client))

    async def explain(self, target: str, decisions: Iterable[Decision]) -> dict[str, Any]:
        """Why it is as it is, from the cluster and the decisions that evicted somebody."""
        records = [each.to_dict() for each in decisions if each.victims]
        question = Question(
            "", target, self._config, self._seconds, BYTES, ask="explain", records=records[:MOST_RECORDS]
        )
        return await self._ask(question, cluster_with_owners(self._client, target, question.notes))

    async def when(self, target: str) -> dict[str, Any]:
        """When it starts."""
        config = Configuration.load(self._config)
        named = str(asked_for(target, config))
        question = Question("", named, self._config, self._seconds, BYTES, ask="when", runs=[*self._runs])
        cluster = cluster_with_jobs(self._client, config.job_kinds(), question.notes)
        return await self._ask(question, cluster)

    async def _ask(self, question: Question, cluster: Coroutine[Any, Any, list[bytes]]) -> dict[str, Any]:
        if self._waiting >= MOST_WAITING:
            cluster.close()
            raise ReprieveError(BUSY)
        self._waiting += 1
        try:
            async with self._turn, _worker() as worker:
                # The worker starts up while the cluster is read.
                held = await cluster
                return await self._answer(worker, question, held)
        finally:
            self._waiting -= 1

    async def _answer(
        self, worker: asyncio.subprocess.Process, question: Question, held: Iterable[bytes]
    ) -> dict[str, Any]:
        lines = b"\n".join((msgspec.json.encode(question), *held))
        instead = f"ask `reprieve {WITHOUT_LIMIT.get(question.ask, 'plan')}`, which has no limit"
        try:
            async with asyncio.timeout(self._seconds):
                printed, _ = await worker.communicate(lines)
        except TimeoutError:
            raise ReprieveError(f"the answer was given up after {self._seconds} seconds; {instead}") from None
        too_large = Reply(problem=f"the answer needs more than a what-if may use; {instead}")
        reply = msgspec.json.decode(printed, type=Reply) if printed else too_large
        if reply.plan is None:
            raise ReprieveError(reply.problem)
        return reply.plan


@asynccontextmanager
async def _worker() -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "reprieve.dashboard.worker", stdin=pipe, stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield worker
    finally:
        with suppress(ProcessLookupError):
            worker.kill()
        await worker.wait()
