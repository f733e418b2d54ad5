"""The live scheduler on the embedded server (a process of its own), 1,000 nodes: is the API the limit?

    python bench/scheduler.py [--pods 2000] [--nodes 1000] [--repeat 3]

1. Plain pods: pods bound a second, from the moment the scheduler starts on a full queue to the last binding
   and event.
2. One gang of 100 evicts 1,000 pods: from submitting it to its last binding.
Each is followed by the same API calls, made by the same client, with no scheduler at all; the ratio says what
deciding costs (aim: under 1.5). Server and client share this machine's cores: on a busy machine compare the
CPU seconds of this process. Each number is the best of several runs, ours and the bare calls by turns.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from reprieve.config import Configuration
from reprieve.controllers.scheduler.api_actions import ApiActions
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import (
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    Client,
    EventRecorder,
    Informer,
)
from reprieve.objects import Reference
from reprieve.scheduler import marks, status
from reprieve.scheduler.actions import Bind, Evicted, Nominate

IN_FLIGHT = 64
GANG, PER_NODE = 100, 10
Document = dict[str, Any]


class Took(NamedTuple):
    wall: float
    cpu: float

    @classmethod
    def now(cls) -> "Took":
        return cls(time.perf_counter(), time.process_time())

    def since(self) -> "Took":
        return Took(time.perf_counter() - self.wall, time.process_time() - self.cpu)


@asynccontextmanager
async def server(nodes: int) -> AsyncIterator[Client]:
    """`reprieve up` in a process of its own, with nodes that stop pods at once."""
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "kubeconfig"
        command = ["up", "--nodes", f"n={nodes}:cpu=10,memory=64Gi", "--kubeconfig", str(config)]
        command += ["--terminate-after", "0s", "--run-for", "0s", "--controllers", "none"]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from reprieve.cli import main; main()",
            *command,
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            while not config.exists():
                await asyncio.sleep(0.05)
            async with Client.from_kubeconfig(config) as client:
                await client.create(NAMESPACES, {"metadata": {"name": "ns"}})
                for name, value in (("low", 10), ("high", 100), ("top", 1000)):
                    await client.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
                yield client
        finally:
            process.terminate()
            await process.wait()


def pod(name: str, cpu: int, cls: str = "low", group: str = "") -> Document:
    spec: Document = {
        "schedulerName": "reprieve", "priorityClassName": cls,
        "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": str(cpu)}}}],
    }  # fmt: skip
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": spec}


async def at_once(items: Iterable[Any], call: Callable[[Any], Awaitable[Any]]) -> list[Any]:
    """Like the scheduler: everything at once, up to the same number of requests in flight."""
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def one(item: Any) -> Any:
        async with slots:
            return await call(item)

    return await asyncio.gather(*(one(item) for item in items))


async def create_pods(client: Client, pods: list[Document]) -> list[Reference]:
    made = await at_once(pods, lambda each: client.create(PODS, each))
    return [Reference("Pod", "ns", each["metadata"]["name"], each["metadata"]["uid"]) for each in made]


async def node_names(client: Client) -> list[str]:
    return [each.name for each in (await client.listing(NODES)).items]


async def until(pods: Informer, done: Callable[[list[Any]], bool]) -> None:
    while not done(list(pods)):
        await asyncio.sleep(0.02)


@asynccontextmanager
async def recording(client: Client) -> AsyncIterator[ApiActions]:
    """The scheduler's calls without a scheduler; left when every event has been written."""
    recorder = EventRecorder(client, "bench")
    task = asyncio.create_task(recorder.run())
    yield ApiActions(client, recorder)
    await recorder.drain()
    task.cancel()


@asynccontextmanager
async def scheduling(client: Client) -> AsyncIterator[LiveScheduler]:
    scheduler = LiveScheduler(client, Configuration.load(None))
    async with scheduler.following():
        yield scheduler


async def plain(nodes: int, count: int) -> tuple[Took, Took]:
    """With the scheduler, and the bare calls."""
    async with server(nodes) as client:
        await create_pods(client, [pod(f"p{i}", 1) for i in range(count)])
        async with scheduling(client) as scheduler:
            start = Took.now()
            task = asyncio.create_task(scheduler.schedule())
            while len(scheduler.core.queue):
                await asyncio.sleep(0.005)
            await scheduler.settled()
            scheduled = start.since()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    async with server(nodes) as client:
        refs = await create_pods(client, [pod(f"p{i}", 1) for i in range(count)])
        names = await node_names(client)
        start = Took.now()
        async with recording(client) as actions:

            async def bind(each: tuple[int, Reference]) -> None:
                node = names[each[0] % nodes]
                await actions.bind(Bind(each[1], each[1], node))
                actions.emit(status.scheduled(each[1], node))

            await at_once(enumerate(refs), bind)
        return scheduled, start.since()


async def occupied(client: Client) -> list[tuple[Reference, str]]:
    """Top pods fill all nodes but a hundred; those are filled by ten low pods each. Returns the low pods and
    their nodes.
    """
    names = await node_names(client)
    tops = await create_pods(client, [pod(f"top{i}", 10, "top") for i in range(len(names) - GANG)])
    lows = await create_pods(client, [pod(f"low{i}", 1) for i in range(GANG * PER_NODE)])
    low_places = [(ref, names[index // PER_NODE]) for index, ref in enumerate(lows)]
    places = [*zip(tops, names[GANG:], strict=True), *low_places]
    await at_once(places, lambda each: client.bind("ns", each[0].name, each[0].uid, each[1]))
    return low_places


async def submit(client: Client) -> list[Reference]:
    spec = {"schedulingPolicy": {"gang": {"minCount": GANG}}, "priorityClassName": "high"}
    await client.create(POD_GROUPS, {"metadata": {"name": "gang", "namespace": "ns"}, "spec": spec})
    return await create_pods(client, [pod(f"gang{i}", 10, "high", "gang") for i in range(GANG)])


def gang_bound(pods: list[Any]) -> bool:
    return sum(1 for each in pods if each.spec.node_name and each.name.startswith("gang")) == GANG


async def gang(nodes: int) -> tuple[Took, Took]:
    async with server(nodes) as client:
        await occupied(client)
        async with scheduling(client) as scheduler:
            task = asyncio.create_task(scheduler.schedule())
            start = Took.now()
            await submit(client)
            await until(scheduler.informer(PODS), gang_bound)
            scheduled = start.since()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    async with server(nodes) as client:
        lows = await occupied(client)
        async with Informer(client, PODS) as pods, recording(client) as actions:
            start = Took.now()
            refs = await submit(client)
            await preempt_by_hand(actions, refs, lows)
            await until(pods, lambda all: not any(each.name.startswith("low") for each in all))
            await at_once(
                enumerate(refs),
                lambda each: actions.bind(Bind(each[1], each[1], lows[each[0] * PER_NODE][1])),
            )
            await until(pods, gang_bound)
            return scheduled, start.since()


async def preempt_by_hand(
    actions: ApiActions, refs: list[Reference], lows: list[tuple[Reference, str]]
) -> None:
    """The calls of one preemption, in their order."""
    gang = Reference("PodGroup", "ns", "gang")
    mark = marks.preemption("reprieve", gang, 100, "there was no room without preemption")
    nominations = [Nominate(ref, lows[index * PER_NODE][1], "x" * 100) for index, ref in enumerate(refs)]
    await at_once(nominations, actions.nominate)
    versions: dict[str, str] = {}

    async def put_mark(each: tuple[Reference, str]) -> None:
        versions[each[0].key] = await actions.mark(each[0], mark)

    await at_once(lows, put_mark)
    await at_once(lows, lambda each: actions.delete(each[0], mark, versions[each[0].key], lambda: True))
    for ref, node in lows:
        actions.emit(status.preempted(Evicted(ref, node), Reference("PodGroup", "ns", "gang")))


def best_of(times: int, run: Callable[[], Coroutine[Any, Any, tuple[Took, Took]]]) -> tuple[Took, Took]:
    """The least wall time and the least CPU time, ours and those of the bare calls."""
    pairs = [uvloop.run(run()) for _ in range(times)]
    return least([ours for ours, _ in pairs]), least([bare for _, bare in pairs])


def least(runs: list[Took]) -> Took:
    return Took(min(each.wall for each in runs), min(each.cpu for each in runs))


def report(what: str, ours: Took, bare: Took) -> None:
    print(f"{what}: {ours.wall:.2f} s ({ours.cpu:.2f} s CPU of the scheduler)")
    print(
        f"  the same calls without a scheduler: {bare.wall:.2f} s ({bare.cpu:.2f} s CPU); "
        f"ratio {ours.wall / bare.wall:.2f} (CPU {ours.cpu / bare.cpu:.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    ours, bare = best_of(options.repeat, lambda: plain(options.nodes, options.pods))
    rate = options.pods / ours.wall
    report(f"{options.pods} plain pods on {options.nodes} nodes, {rate:.0f} bound a second", ours, bare)
    ours, bare = best_of(options.repeat, lambda: gang(options.nodes))
    report(f"one gang of {GANG} evicts {GANG * PER_NODE} pods, submit to last binding", ours, bare)


if __name__ == "__main__":
    main()
