"""The part of JobSet's own controller that quota has to do with: jobs while a JobSet is not suspended."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from reprieve.kube import JOBS, ApiError, Informer
from tests.builders import Document
from tests.real.cluster import Place
from tests.real.queues import JOB_SETS


class JobSetController:
    """kube-controller-manager makes the pods of the jobs that it makes."""

    def __init__(self, here: Place) -> None:
        self._client, self._namespace = here.client, here.name
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        sets, jobs = (
            Informer(self._client, each.raw(), lambda _: self._changed.set(), namespace=self._namespace)
            for each in (JOB_SETS, JOBS)
        )
        async with sets, jobs:
            task = asyncio.create_task(self._work(sets, jobs))
            try:
                yield
                assert not task.done(), task
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _work(self, sets: Iterable[Document], jobs: Iterable[Document]) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            for each in list(sets):
                there = [
                    job["metadata"]["name"] for job in list(jobs) if _owner(job) == each["metadata"]["uid"]
                ]
                await self._reconcile(each, there)

    async def _reconcile(self, job_set: Document, there: list[str]) -> None:
        if job_set["spec"].get("suspend") or job_set["metadata"].get("deletionTimestamp"):
            for name in there:
                path = JOBS.path(self._namespace, name)
                await _twice(self._client.request("DELETE", path, query={"propagationPolicy": "Background"}))
            return
        for part in job_set["spec"]["replicatedJobs"]:
            for index in range(part.get("replicas", 1)):
                name = f"{job_set['metadata']['name']}-{part['name']}-{index}"
                if name not in there:
                    await _twice(self._client.create(JOBS, _job(job_set, part, name)))


def _owner(job: Document) -> str:
    owners = job["metadata"].get("ownerReferences") or [{"uid": ""}]
    return str(owners[0]["uid"])


def _job(job_set: Document, part: Document, name: str) -> Document:
    meta = job_set["metadata"]
    owner = {"apiVersion": JOB_SETS.api_version, "kind": "JobSet", "name": meta["name"], "uid": meta["uid"]}
    owned = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    named = {"name": name, "namespace": meta["namespace"], "ownerReferences": owned}
    return {"metadata": named, "spec": part["template"]["spec"]}


async def _twice(call: object) -> None:
    """What was done already, or is under way: the next change is looked at again."""
    try:
        await call  # type: ignore[misc]
    except ApiError as error:
        if not (error.already_exists or error.not_found or error.conflict):
            raise
