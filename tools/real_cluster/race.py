"""Reprieve and kube-scheduler in turn on the same real API server, the same nodes, the same pods: pods bound
a second, the processor time that the scheduler itself took for them, its start included, and who was evicted.

Scenes: `plain` pods and `gangs` of ten exist before a scheduler starts, and the clock runs from the first
binding to the last (`PodScheduled`'s times are whole seconds, so a watch notes them). For `preemption` every
node is full; gangs of higher priority come when the scheduler is at work, and the clock runs from their
creation to their last binding. Neither is held back by its client: `--kube-api-qps` is high for both. No
kubelet answers, and there is no controller manager: the rates are those of scheduler, API server and etcd
alone.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tools.ending import run_until_told
from tools.real_cluster.control_plane import ControlPlane
from tools.real_cluster.kubelet import Kubelet
from tools.real_cluster.scenes import CLASSES, NAMESPACE, NODE, SCENES, Scene, herald

from reprieve.kube import (
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    STRATEGIC_PATCH,
    ApiError,
    Change,
    Client,
    Informer,
    Resource,
)
from reprieve.objects import NodeTemplate

Document = dict[str, Any]

SCHEDULERS = ("reprieve", "default-scheduler")
LONGEST_SECONDS = 600.0
AT_ONCE = 64


class Result(NamedTuple):
    seconds: float
    rate: float
    cpu: float
    evicted: "Counter[str]"
    """By priority class."""

    def line(self) -> str:
        victims = "".join(f"  {count} {name}" for name, count in sorted(self.evicted.items()))
        evicted = f"  evicted {self.evicted.total()}:{victims}" if self.evicted else ""
        return f"{self.seconds:7.2f} s  {self.rate:7.0f} pods/s  {self.cpu:6.1f} s CPU{evicted}"


class Finish:
    """Hears when pods are bound, and which of those that ran before are deleted."""

    def __init__(self, pods: Iterable[Document]) -> None:
        self._waiting = {pod["metadata"]["name"] for pod in pods}
        self.bound: list[float] = []
        self.evicted: Counter[str] = Counter()
        self.herald, self.all = asyncio.Event(), asyncio.Event()

    def hear(self, change: Change) -> None:
        name, spec = change.new["metadata"]["name"], change.new["spec"]
        if change.type == "DELETED":
            self.evicted[spec.get("priorityClassName", "")] += 1
        elif spec.get("nodeName") and name == "herald":
            self.herald.set()
        elif spec.get("nodeName") and name in self._waiting:
            self._waiting.remove(name)
            self.bound.append(time.monotonic())
            if not self._waiting:
                self.all.set()


def start(plane: ControlPlane, scheduler: str) -> tuple[int, Callable[[], None]]:
    """Start it: the process, and what ends it."""
    if scheduler != "reprieve":
        plane.run("kube-scheduler", plane.scheduler_flags())
        return plane.pid("kube-scheduler"), lambda: plane.end("kube-scheduler")
    command = [
        sys.executable,
        "-m",
        "reprieve",
        "run",
        "--kubeconfig",
        str(plane.kubeconfig("admin")),
        "--no-leader-elect",
        "--listen",
        "",
        "--kube-api-qps",
        "5000",
        "--kube-api-burst",
        "5000",
    ]
    with (plane.home / "reprieve.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)

    def stop() -> None:
        process.terminate()
        process.wait(20)

    return process.pid, stop


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def create(client: Client, resource: Resource, documents: Iterable[Document]) -> None:
    """And give those their status that have one: nobody else does."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(document: Document) -> None:
        async with slots:
            await client.create(resource, document)
            if status := document.get("status"):
                name, body = document["metadata"]["name"], {"status": status}
                await client.patch(
                    resource, name, body, NAMESPACE, subresource="status", content_type=STRATEGIC_PATCH
                )

    await asyncio.gather(*map(one, documents))


async def run(plane: ControlPlane, client: Client, scheduler: str, scene: Scene) -> Result:
    """One scheduler; nothing of the scene is left afterwards."""
    groups = await client.served(POD_GROUPS) or POD_GROUPS

    async def send() -> None:
        await create(client, groups, scene.groups)
        await create(client, PODS, scene.pods)

    await create(client, PODS, scene.running)
    if not scene.late:
        await send()
    finish = Finish(scene.pods)
    async with Informer(client, PODS.raw(), finish.hear, namespace=NAMESPACE):
        pid, stop = start(plane, scheduler)
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                if scene.late:
                    await create(client, PODS, [herald(scheduler)])
                    await finish.herald.wait()
                begin = time.monotonic()
                if scene.late:
                    await send()
                await finish.all.wait()
            used = cpu_seconds(pid)
        finally:
            stop()
    seconds = max(finish.bound) - (begin if scene.late else min(finish.bound))
    await client.request("DELETE", PODS.path(NAMESPACE), query={"gracePeriodSeconds": "0"}, timeout=120)
    await delete_groups(client, groups, scene.groups)
    return Result(seconds, len(scene.pods) / seconds, used, finish.evicted)


async def delete_groups(client: Client, served: Resource, groups: Iterable[Document]) -> None:
    """There is no controller that lets go of groups without members."""
    for group in groups:
        name = group["metadata"]["name"]
        await client.patch(served, name, {"metadata": {"finalizers": None}}, NAMESPACE)
        await client.delete(served, name, NAMESPACE)


async def furnish(client: Client, template: NodeTemplate) -> None:
    await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    for name, value in CLASSES.items():
        await client.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
    await Kubelet(client).create_nodes([template])
    # What a controller manager would do, where there is one.
    account = Resource("", "v1", "ServiceAccount", "serviceaccounts")
    try:
        await client.create(account, {"metadata": {"name": "default", "namespace": NAMESPACE}})
    except ApiError as error:
        if not error.already_exists:
            raise
    for name in template.names():
        await client.patch(NODES, name, {"spec": {"taints": None}})


async def race(home: Path, options: argparse.Namespace) -> None:
    template = NodeTemplate.parse(f"node={options.nodes}:{NODE}")
    plane = ControlPlane(home)
    try:
        plane.start_etcd()
        plane.start_api_server()
        async with Client.from_kubeconfig(plane.kubeconfig("admin")) as client:
            await furnish(client, template)
            for number in range(options.rounds):
                for scheduler in SCHEDULERS:
                    scene = SCENES[options.scene](scheduler, options.pods, template.names())
                    result = await run(plane, client, scheduler, scene)
                    print(f"round {number + 1}: {scheduler:18} {result.line()}", flush=True)
    finally:
        plane.stop()


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.real_cluster.race", description=__doc__)
    parser.add_argument("--scene", choices=SCENES, default="plain")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reprieve-race-") as home:
        run_until_told(race(Path(home), options))


if __name__ == "__main__":
    main()
