"""Pods bound a second while preemptions are under way, with SchedulerAsyncPreemption on and off (KEP-4832).

    python bench/async_preemption.py [--pods 200] [--preemptors 20] [--delay 0.05]

The live scheduler on the embedded server (a process of its own). Every node of the first pool is full of low
pods; `preemptors` need one node each and preempt. The second pool has room for `pods` plain pods. All wait
when the scheduler starts, the preemptors first in its queue. Measured is the time until the last plain pod is
bound: 1. with victims that take a while to end, 2. with every call of the scheduler answered `delay` later.
With the gate off each preemption's calls are waited for before the next decision. Ratios count, not seconds.
"""

import argparse
import asyncio
import sys
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.scheduler import at_once, create_pods, node_names, pod, server

from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import LiveScheduler
from reprieve.kube import PODS, Client
from reprieve.kube.transport import Request, Response, Stream, Transport

PER_NODE = 10


class Slow:
    """Every answer comes a while later; watches are as they are."""

    def __init__(self, inner: Transport, delay: float) -> None:
        self._inner = inner
        self._delay = delay

    async def call(self, request: Request) -> Response:
        await asyncio.sleep(self._delay)
        return await self._inner.call(request)

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        return self._inner.stream(request)

    async def close(self) -> None:
        await self._inner.close()


async def run(pods: int, preemptors: int, delay: float, *, asynchronous: bool) -> float:
    """Seconds until the last plain pod is bound."""
    nodes = preemptors + -(-pods // (PER_NODE - 1))
    async with server(nodes) as client:
        await _occupy(client, preemptors)
        await create_pods(client, [pod(f"high{i}", PER_NODE, "high") for i in range(preemptors)])
        await create_pods(client, [pod(f"plain{i}", 1) for i in range(pods)])
        client._transport = Slow(client._transport, delay)
        gates = {"featureGates": {"SchedulerAsyncPreemption": asynchronous}}
        scheduler = LiveScheduler(client, Configuration.load(gates))
        async with scheduler.following():
            start = time.perf_counter()
            task = asyncio.create_task(scheduler.schedule())
            while not _bound(scheduler.informer(PODS), pods):
                await asyncio.sleep(0.01)
            took = time.perf_counter() - start
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return took


async def _occupy(client: Client, count: int) -> None:
    """The first nodes are full of low pods; on each of the others a top pod keeps preemptors away."""
    names = await node_names(client)
    lows = await create_pods(client, [pod(f"low{i}", 1) for i in range(count * PER_NODE)])
    tops = await create_pods(client, [pod(f"top{i}", 1, "top") for i in range(len(names) - count)])
    places = [(ref, names[index // PER_NODE]) for index, ref in enumerate(lows)]
    places += zip(tops, names[count:], strict=True)
    await at_once(places, lambda each: client.bind("ns", each[0].name, each[0].uid, each[1]))


def _bound(pods: Any, wanted: int) -> bool:
    return sum(1 for each in pods if each.name.startswith("plain") and each.spec.node_name) == wanted


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pods", type=int, default=200)
    parser.add_argument("--preemptors", type=int, default=20)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds that every call takes longer")
    options = parser.parse_args()
    slowly = f"while calls take {options.delay * 1000:g} ms"
    for what, delay in (("while victims end", 0.0), (slowly, options.delay)):
        rates = {}
        for on in (True, False):
            took = uvloop.run(run(options.pods, options.preemptors, delay, asynchronous=on))
            rates[on] = options.pods / took
            print(f"{what}: gate {'on' if on else 'off'}: {rates[on]:.0f} pods a second")
        print(f"  on / off: {rates[True] / rates[False]:.2f}")


if __name__ == "__main__":
    main()
