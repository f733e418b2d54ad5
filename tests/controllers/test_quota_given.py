"""Scheduler and quota controller together, each late in its own way: nobody runs, and nobody makes way for
anybody, on quota that was not given; and whoever can have quota runs in the end.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import Client
from reprieve.objects import has_condition
from tests.builders import START, cluster_queue, flavor, local_queue, node, pod, pod_group
from tests.controllers.memory_api import Document
from tests.controllers.pods_in_memory import NAMESPACE, Actors, Link, PodApi
from tests.controllers.virtual_time import START as EPOCH
from tests.controllers.virtual_time import run_virtually
from tests.scale import scaled

QUEUE = "kueue.x-k8s.io/queue-name"
QUOTA, NODES, CPU = 4, 3, 3


@dataclass(frozen=True)
class Work:
    """A Job or a group: what somebody submits, and how carelessly."""

    kind: str
    count: int
    cpu: int
    priority: int
    queued: bool
    suspended: bool
    at: float

    def documents(self, name: str) -> list[tuple[str, Document]]:
        labels = {QUEUE: "main"} if self.queued else {}
        if self.kind == "group":
            asked = {"pods": str(self.count), "cpu": str(self.cpu)}
            options: dict[str, Any] = {"labels": labels, "annotations": asked, "namespace": NAMESPACE}
            return [("podgroups", pod_group(name, self.count, priority=self.priority, **options))]
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(self.cpu)}}}
        spec = {"priority": self.priority, "containers": [container]}
        body = {"parallelism": self.count, "completions": self.count, "template": {"spec": spec}}
        metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
        return [("jobs", {"metadata": metadata, "spec": {**body, "suspend": self.suspended}})]

    @property
    def fits(self) -> bool:
        return self.count * self.cpu <= QUOTA


WORK = st.builds(
    Work,
    kind=st.sampled_from(["job", "group"]),
    count=st.integers(1, 3),
    cpu=st.integers(1, 3),
    priority=st.sampled_from([0, 10]),
    queued=st.sampled_from([True, True, False]),
    suspended=st.booleans(),
    at=st.sampled_from([0.0, 0.0, 3.0, 30.0]),
)
LATE = st.lists(st.sampled_from([0.0, 0.0, 0.1, 1.0, 4.0]), min_size=1, max_size=5)


class World:
    def __init__(self, gated: bool) -> None:
        self.api = PodApi()
        self.actors = Actors(self.api, gated)
        self.problems: list[str] = []
        self._bound: set[str] = set()
        self._marked: set[str] = set()
        self._furnish()
        self.api.listeners.append(self._check)

    def _furnish(self) -> None:
        put = self.api.put
        put("namespaces", {"metadata": {"name": NAMESPACE}})
        put("resourceflavors", flavor())
        preemption = {"withinClusterQueue": "LowerPriority"}
        put("clusterqueues", cluster_queue("cq", QUOTA, preemption=preemption))
        put("localqueues", local_queue("main", "cq", namespace=NAMESPACE))
        for index in range(NODES):
            put("nodes", node(f"n{index}", CPU))
            runs = pod(f"old-{index}", 1, on=f"n{index}", namespace=NAMESPACE, priority=-5)
            owner = {"apiVersion": "v1", "kind": "Node", "name": f"n{index}", "uid": "none"}
            runs["metadata"] |= {"ownerReferences": [owner], "creationTimestamp": START}
            put("pods", runs)

    # What must hold at every moment

    def _check(self, plural: str, document: Document) -> None:
        if plural != "pods":
            return
        uid, name = document["metadata"]["uid"], document["metadata"]["name"]
        if document["spec"].get("nodeName") and uid not in self._bound:
            self._bound.add(uid)
            self._judge(f"{name} is bound", self._owner(document))
        note = (document["metadata"].get("annotations") or {}).get("reprieve.dev/evicted-for")
        if note and f"{uid} {note}" not in self._marked:
            self._marked.add(f"{uid} {note}")
            kind, _, key = json.loads(note)["for"].partition("/")
            plural_of = {"Pod": "pods", "PodGroup": "podgroups"}[kind]
            preemptor = self.api.get(plural_of, *key.split("/"))
            if preemptor is not None:
                owner = preemptor if kind == "PodGroup" else self._owner(preemptor)
                self._judge(f"{name} is to make way for {key}", owner)

    def _owner(self, document: Document) -> Document | None:
        [reference] = document["metadata"]["ownerReferences"]
        plural = {"Job": "jobs", "PodGroup": "podgroups"}.get(reference["kind"], "")
        return self.api.get(plural, NAMESPACE, reference["name"])

    def _judge(self, what: str, owner: Document | None) -> None:
        """Its owner is in no queue, or holds quota for all its pods on nodes."""
        if owner is None or QUEUE not in owner["metadata"].get("labels", {}):
            return
        uid, now = owner["metadata"]["uid"], asyncio.get_running_loop().time()
        held = [
            sum(int(each["count"]) for each in item["status"]["admission"]["podSetAssignments"])
            for item in self.api.all("workloads")
            if item["metadata"]["ownerReferences"][0]["uid"] == uid and has_condition(item, "QuotaReserved")
        ]
        on_nodes = [
            each
            for each in self.api.pods_of(owner)
            if each["spec"].get("nodeName")
            and not each["metadata"].get("deletionTimestamp")
            and each["status"].get("phase") != "Succeeded"
        ]
        if not held or len(on_nodes) > held[0]:
            self.problems.append(f"{now:.1f}: {what}; {len(on_nodes)} pods on nodes, quota for {held}")

    # What must come true

    def unfinished(self, work: dict[str, Work]) -> list[str]:
        return [
            name for name, each in work.items() if each.queued and each.fits and not self._done(name, each)
        ]

    def _done(self, name: str, work: Work) -> bool:
        prefix = f"{'podgroup' if work.kind == 'group' else 'job'}-{name}-"
        found = [item for item in self.api.all("workloads") if item["metadata"]["name"].startswith(prefix)]
        return bool(found) and all(has_condition(item, "Finished") for item in found)


async def a_day(work: dict[str, Work], scheduler: Link, controller: Link, world: World) -> None:
    loop, config = asyncio.get_running_loop(), Configuration.load(None)
    live = LiveScheduler(
        Client(scheduler, jitter=lambda: 0.0), config, clock=lambda: EPOCH.timestamp() + loop.time()
    )

    async def submit() -> None:
        for name, each in sorted(work.items(), key=lambda item: item[1].at):
            await asyncio.sleep(max(0.0, each.at - loop.time()))
            for plural, document in each.documents(name):
                world.api.put(plural, document)

    async def schedule() -> None:
        async with live.following():
            await live.schedule()

    running = [
        submit(),
        schedule(),
        quota.run(Client(controller, jitter=lambda: 0.0), config),
        world.actors.run(),
    ]
    tasks = [asyncio.create_task(each) for each in running]
    while loop.time() < 1200 and (loop.time() < 40 or world.unfinished(work)):
        await asyncio.sleep(5)
        assert not any(task.done() and task is not tasks[0] for task in tasks), "a controller gave up"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@settings(max_examples=scaled(30, least=10), deadline=None)
@given(
    work=st.lists(WORK, min_size=1, max_size=4),
    gated=st.booleans(),
    calls=st.tuples(LATE, LATE),
    watches=st.tuples(LATE, LATE),
)
def test_nobody_runs_on_quota_that_was_not_given(
    work: list[Work],
    gated: bool,
    calls: tuple[list[float], list[float]],
    watches: tuple[list[float], list[float]],
) -> None:
    world = World(gated)
    named = {f"w{index}": each for index, each in enumerate(work)}
    links = [Link(world.api, *each) for each in zip(calls, watches, strict=True)]
    run_virtually(a_day(named, links[0], links[1], world))
    assert world.problems == []
    assert world.unfinished(named) == []
