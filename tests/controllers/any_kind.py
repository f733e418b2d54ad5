"""The life of a job in a queue, for every kind at once: held, started, preempted, put back, resumed, over.

Each kind runs its example from examples/20-any-job in a namespace and a queue of its own, on a cluster that
holds no job at its creation. Who tells the story brings the cluster, and kills the quota controller while a
chapter is under way.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from reprieve.jobs import JobKinds, ending, expand, suspended
from reprieve.kube import (
    CLUSTER_QUEUES,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    NAMESPACES,
    PODS,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    ApiError,
    Client,
    Resource,
)
from reprieve.objects import condition_of, read_documents
from tests import builders
from tests.waiting import eventually

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"
KINDS = JobKinds()
EXAMPLES = sorted(
    path.stem
    for path in FOLDER.glob("*.yaml")
    for *_, last in [read_documents(path)]
    if (kind := KINDS.find(last.document)) is not None and kind.asks != "none"
)
"""Of kinds that ask for quota: what the others make asks for itself."""
NODES = "node=90:cpu=64,memory=512Gi,nvidia.com/gpu=8;labels=pool=gpu"
CONFIG = {
    "quota": {"quotaCheckStrategy": "IgnoreUndeclared"},
    "scheduler": {"otherSchedulerNames": ["default-scheduler"]},
}
QUEUE = "kueue.x-k8s.io/queue-name"
WORKLOADS = "workloads.kueue.x-k8s.io"
Document = dict[str, Any]
Meanwhile = Callable[[str, Callable[[], "list[Case]"]], Coroutine[Any, Any, None]]
"""Runs while a chapter does: its name, and who is not through with it."""


class Looks(Protocol):
    """How the story sees the cluster: as the embedded server's own `Api` does, or by watching."""

    def select(self, resource: str, namespace: str) -> list[Document]: ...

    def peek(self, resource: str, name: str, namespace: str) -> Document | None: ...


class Case:
    """One kind: its example, moved to a namespace of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.documents = [deepcopy(source.document) for source in read_documents(FOLDER / f"{name}.yaml")]
        for each in self.documents:
            if each["metadata"].get("namespace"):
                each["metadata"]["namespace"] = name
        self.job = self.documents[-1]
        self.job["metadata"]["labels"] = {QUEUE: "main"}
        found = KINDS.find(self.job)
        assert found is not None
        self.kind = found
        self.count = sum(map(len, expand(self.job, KINDS, self.documents).pods.values()))
        self.before: Document = {}
        self.first: set[str] = set()
        self.asked = 0
        """Workloads that it had when it ran first."""
        self.was_suspended = False

    def resource(self, document: Document) -> Resource:
        group, _, version = document["apiVersion"].rpartition("/")
        kind = document["kind"]
        return Resource(group, version, kind, f"{kind.lower()}s", "namespace" in document["metadata"])

    @property
    def held_by(self) -> str:
        """How it was held, as it was seen."""
        if self.was_suspended:
            return "suspended"
        together = {1: "all pods together", self.count: "each pod by itself"}
        return f"gated, {together.get(self.asked, 'each replica')}"

    @property
    def ends(self) -> bool:
        """A service does not end by itself."""
        return bool(self.kind.ended) or self.kind.kind == "Job"


class World:
    def __init__(self, client: Client, looks: Looks, cases: list[Case]) -> None:
        self.client = client
        self.looks = looks
        self.cases = cases

    async def furnish(self) -> None:
        client = self.client
        await client.create(PRIORITY_CLASSES, builders.priority_class("training", 1000))
        await client.create(RESOURCE_FLAVORS, builders.flavor("gpu", nodeLabels={"pool": "gpu"}))
        for case in self.cases:
            await client.create(NAMESPACES, {"metadata": {"name": case.name}})
            within = {"withinClusterQueue": "LowerPriority"}
            made = builders.cluster_queue(case.name, flavors=("gpu",), preemption=within)
            [group] = made["spec"]["resourceGroups"]
            group["coveredResources"] = ["pods"]
            group["flavors"][0]["resources"] = [{"name": "pods", "nominalQuota": str(case.count)}]
            await client.create(CLUSTER_QUEUES, made)
            await client.create(LOCAL_QUEUES, builders.local_queue("main", case.name, namespace=case.name))

    async def live(self, meanwhile: Meanwhile) -> None:
        await self.furnish()
        await self._chapter("started", self._submit, self.all_run, meanwhile)
        for case in self.cases:
            case.first = self.running(case)
            case.asked = len(self.looks.select(WORKLOADS, case.name))
        await self._chapter("preempted", self._preempt, self.is_put_back, meanwhile)
        await self._chapter("resumed", self._make_way, self.all_run, meanwhile)
        for case in self.cases:
            assert not self.running(case) & case.first, "they were made anew"
        await self._chapter("over", self._end, self.is_over, meanwhile)

    async def _chapter(
        self,
        name: str,
        cause: Callable[[Case], Awaitable[None]],
        is_through: Callable[[Case], bool],
        meanwhile: Meanwhile,
    ) -> None:
        def missing() -> list[Case]:
            return [case for case in self.cases if not is_through(case)]

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(meanwhile(name, missing))
            for case in self.cases:
                await cause(case)
            await eventually(lambda: not missing(), lambda: f"{name}: {[*map(self.story, missing())]}")

    async def _submit(self, case: Case) -> None:
        for document in case.documents:
            resource = case.resource(document)
            await eventually(partial(self.client.served, resource), f"{resource.kind} is served")
            answer = await self.client.create(resource, document)
        case.before = answer

    async def _end(self, case: Case) -> None:
        """Its pods have done their work; a service is deleted, with its pods (those of a
        ReplicationController would stay), by whoever made it."""
        if not case.ends:
            await self.client.delete(
                case.resource(case.job), case.job["metadata"]["name"], case.name, propagation="Background"
            )
            return
        done = {"status": {"phase": "Succeeded"}}
        for pod in self.looks.select("pods", case.name):
            try:
                await self.client.patch(PODS, pod["metadata"]["name"], done, case.name, subresource="status")
            except ApiError as error:
                if not error.not_found:  # the job was over with those before it
                    raise

    async def _preempt(self, case: Case) -> None:
        big = builders.workload("big", 1, 1_000_000, count=case.count, namespace=case.name)
        await self.client.create(KUEUE_WORKLOADS, big)

    async def _make_way(self, case: Case) -> None:
        await self.client.delete(KUEUE_WORKLOADS, "big", case.name)

    # What can be seen of a case

    def all_run(self, case: Case) -> bool:
        return len(self.running(case)) == case.count

    def running(self, case: Case) -> set[str]:
        """UIDs of pods that run on the nodes of the flavor."""
        return {
            each["metadata"]["uid"]
            for each in self.looks.select("pods", case.name)
            if (each.get("status") or {}).get("phase") == "Running"
            and each["spec"].get("nodeSelector", {}).get("pool") == "gpu"
            and not each["metadata"].get("deletionTimestamp")
        }

    def is_put_back(self, case: Case) -> bool:
        """The preemptor got the quota, nothing else runs, and the job is as its user wrote it, suspended."""
        big = self.looks.peek(WORKLOADS, "big", case.name)
        if condition_of(big or {}, "Admitted").get("status") != "True" or self.running(case):
            return False
        if case.kind.asks != "job":
            return True
        now = self.looks.peek(case.kind.resource, case.job["metadata"]["name"], case.name)
        case.was_suspended = now is not None and now["spec"] == suspended(case.before, case.kind)["spec"]
        return case.was_suspended

    def is_over(self, case: Case) -> bool:
        workloads = self.looks.select(WORKLOADS, case.name)
        if not case.ends:
            return not workloads
        job = self.looks.peek(case.kind.resource, case.job["metadata"]["name"], case.name)
        finished = [condition_of(each, "Finished").get("status") == "True" for each in workloads]
        return job is not None and ending(job) is not None and bool(finished) and all(finished)

    def story(self, case: Case) -> str:
        shown = [
            (each["metadata"]["name"], each["status"].get("phase"), each["spec"].get("schedulingGates"),
             each["spec"].get("nodeSelector"), each["status"].get("conditions"))
            for each in self.looks.select("pods", case.name)
        ]  # fmt: skip
        workloads = [
            (each["metadata"]["name"], each.get("status")) for each in self.looks.select(WORKLOADS, case.name)
        ]
        job = self.looks.peek(case.kind.resource, case.job["metadata"]["name"], case.name)
        return f"{case.name}: {shown}\n{workloads}\n{job}"
