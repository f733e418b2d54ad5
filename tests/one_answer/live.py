"""The same world on a cluster that runs: an embedded API server with its controllers, scheduler and quota.

What is there is created first, before any controller of ours starts; then what is submitted, as a user would.
When nothing changes any more, the pods say what became of it.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reprieve.config import Configuration
from reprieve.local import controllers_of, local_cluster
from reprieve.server import EmbeddedServer, Habits
from tests.builders import Document
from tests.one_answer.doors import INVALID, NO, PARTLY, PREEMPTS, STARTS, Answer

QUIET_SECONDS = 0.6
"""Without any write for so long, nothing is under way."""
MOST_SECONDS = 30.0
WRITTEN_BY_CONTROLLERS = ("leases", "events")


async def live(cluster: Sequence[Document], submitted: Sequence[Document], wanted: int) -> Answer:
    """`wanted`: how many pods the target asks for."""
    server = local_cluster(habits=Habits(terminate_after=0.05), quota=True)
    async with server:
        uids: dict[tuple[str, str], str] = {}
        for document in sorted(cluster, key=_rank):
            await _create(server, document, uids)
        before = {pod["metadata"]["name"] for pod in server.api.select("pods")}
        async with controllers_of(server, ("scheduler", "quota"), Configuration.load({})):
            await _quiet(server)
            try:
                for document in submitted:
                    await _create(server, document, {})
            except Exception as error:  # noqa: BLE001 - whatever the server says to a user
                return Answer(INVALID, said=str(error))
            await _quiet(server)
            return _seen(server, before, wanted)


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


async def _create(server: EmbeddedServer, document: Document, uids: dict[tuple[str, str], str]) -> None:
    meta = dict(document["metadata"])
    for owner in meta.get("ownerReferences", ()):
        owner["uid"] = uids.get((owner["kind"], owner["name"]), owner["uid"])
    made = await server.api.create(_plural(server, document), {**document, "metadata": meta})
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
