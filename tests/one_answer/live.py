"""The same world on a cluster that runs: an embedded API server with its controllers, scheduler and quota.

What is there is created first, before any controller of ours starts; then what is submitted, as a user would.
When nothing changes any more, the pods say what became of it.
"""

import asyncio
from collections import Counter
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, NamedTuple

import reprieve
from reprieve.config import Configuration
from reprieve.local import controllers_of, local_cluster
from reprieve.objects import ReprieveError, well_known
from reprieve.server import EmbeddedServer, Habits
from reprieve.server.errors import ApiError
from tests.builders import Document
from tests.one_answer.doors import NO, PARTLY, PREEMPTS, STARTS, Answer
from tests.one_answer.worlds import KINDS, World

CONFIG = Configuration.load({"scheduler": {"otherSchedulerNames": ["default-scheduler"]}})
QUIET_SECONDS = 1.4
"""Without any write for so long, nothing is under way."""
MOST_SECONDS = 30.0


LIVE_KINDS = KINDS
"""What the server runs without controllers of other projects."""


class Both(NamedTuple):
    """What a plan said on the cluster as it was, and what happened on it."""

    planned: Answer
    happened: Answer


async def both(world: World) -> Both:
    server = local_cluster(habits=Habits(terminate_after=0.05), quota=True)
    async with server:
        uids: dict[tuple[str, str], str] = {}
        for document in sorted(deepcopy(world.cluster), key=_rank):
            await _create(server, document, uids)
        before = {pod["metadata"]["name"] for pod in server.api.select("pods")}
        async with controllers_of(server, ("scheduler", "quota"), CONFIG):
            await _quiet(server)
            planned, wanted = _planned(server, world)
            try:
                for document in deepcopy(world.submitted):
                    await _create(server, document, None)
            except ApiError as error:
                return Both(planned, Answer(NO, said=str(error)))
            await _quiet(server)
            return Both(planned, _seen(server, before, wanted))


def _planned(server: EmbeddedServer, world: World) -> tuple[Answer, int]:
    """As `reprieve plan --kubeconfig` plans; and how many pods the target asks for."""
    stored = {resource.storage_key: resource for resource in server.api.registry}
    there = [each for resource in stored.values() for each in server.api.select(resource)]
    try:
        plan: Any = reprieve.plan([*there, *world.submitted], world.target, now=datetime.now(UTC))
    except ReprieveError as error:
        return Answer(NO, said=str(error)), 0
    data = plan.to_dict()
    words = {"scheduled": STARTS, "preempts": PREEMPTS, "partial": PARTLY}
    victims = frozenset(each["pod"] for part in data.get("plans", [data]) for each in part["victims"])
    pods = sum(each["kind"] == "Pod" for each in world.submitted)
    wanted = sum(each["count"] for each in data["podSets"]) if "podSets" in data else pods
    nodes = Counter(plan.placements.values())
    return Answer(words.get(data["outcome"], NO), victims, " ".join(data["reasons"]), nodes), wanted


def _rank(document: Document) -> int:
    """What pods refer to comes before them, and what would refuse them after."""
    order = (
        "Namespace",
        "PriorityClass",
        "Node",
        "StorageClass",
        "Job",
        "Pod",
        "LimitRange",
        "ResourceQuota",
    )
    return order.index(document["kind"]) if document["kind"] in order else len(order)


async def _create(
    server: EmbeddedServer, document: Document, uids: dict[tuple[str, str], str] | None
) -> None:
    meta = dict(document["metadata"])
    for owner in meta.get("ownerReferences", ()):
        owner["uid"] = (uids or {}).get((owner["kind"], owner["name"]), owner["uid"])
    if document["kind"] == "Node":  # the fake kubelet looks after those that say so
        meta["annotations"] = {**meta.get("annotations", {}), well_known.FAKE_NODE_ANNOTATION: "true"}
    labels = meta.pop("labels", {}) if document["kind"] == "Job" and uids is not None else {}
    made = await server.api.create(_plural(server, document), {**document, "metadata": meta})
    if labels:  # what runs was created before it was put into a queue: a new job would be suspended
        made = await server.api.patch("jobs.batch", meta["name"], {"metadata": {"labels": labels}}, "default")
    if uids is None:
        return
    uids[document["kind"], meta["name"]] = made["metadata"]["uid"]
    if document.get("status"):
        await server.api.update_status(_plural(server, document), {**made, "status": document["status"]})


def _plural(server: EmbeddedServer, document: Document) -> Any:
    return server.api.registry.by_kind(document["apiVersion"], document["kind"])


async def _quiet(server: EmbeddedServer) -> None:
    loop = asyncio.get_running_loop()
    end, seen, since = loop.time() + MOST_SECONDS, -1, loop.time()
    while loop.time() < end:
        now = _state(server)
        if now != seen:
            seen, since = now, loop.time()
        elif loop.time() - since > QUIET_SECONDS:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the cluster does not come to rest")


def _state(server: EmbeddedServer) -> Any:
    names = ("pods", "workloads.kueue.x-k8s.io", "jobs.batch", "podgroups.scheduling.k8s.io")
    return [
        (each["metadata"]["uid"], each["metadata"]["resourceVersion"])
        for name in names
        for each in server.api.select(name)
    ]


def _seen(server: EmbeddedServer, before: set[str], wanted: int) -> Answer:
    pods = {pod["metadata"]["name"]: pod for pod in server.api.select("pods")}
    gone = {name for name in before if name not in pods or pods[name]["metadata"].get("deletionTimestamp")}
    mine = [pod for name, pod in pods.items() if name not in before]
    nodes = Counter(pod["spec"]["nodeName"] for pod in mine if pod["spec"].get("nodeName"))
    placed = sum(nodes.values())
    victims = frozenset(f"default/{name}" for name in gone)
    verdict = NO if not placed else PARTLY if placed < wanted else PREEMPTS if victims else STARTS
    return Answer(verdict, victims, f"{placed} of {wanted} on {dict(nodes)}", nodes)


def difference(world: World) -> str:
    """How what happens differs from the plan; empty if it does not."""
    planned, happened = asyncio.run(both(world))
    if (planned.verdict, planned.victims) == (happened.verdict, happened.victims):
        return ""
    is_gang = world.target.startswith("PodGroup/")
    if is_gang and planned.verdict in (STARTS, PREEMPTS) and happened.verdict != NO:
        return ""  # the plan is of its start; pods beyond its minimum come later, and may preempt then
    return f"plan: {planned[:3]}; on the cluster: {happened[:3]}"
