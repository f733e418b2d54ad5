"""Reprieve and kube-scheduler in turn on the same real API server, the same nodes, the same pods: pods bound
a second, and the processor time that the scheduler itself took for them, its start included.

The pods exist before a scheduler starts, and the clock runs from the first binding to the last
(`PodScheduled`'s times are whole seconds, so a watch notes them). Neither is held back by its client:
`--kube-api-qps` is high for both. No kubelet answers, and the controller manager is stopped meanwhile: the
rates are those of scheduler, API server and etcd alone.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.real_cluster.control_plane import ControlPlane
from tools.real_cluster.kubelet import Kubelet

from reprieve.kube import NAMESPACES, PODS, Change, Client, Informer
from reprieve.server.fake_nodes import NodeTemplate

NAMESPACE = "race"


def pod(index: int, scheduler: str) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}}}
    spec = {"schedulerName": scheduler, "containers": [container], "automountServiceAccountToken": False}
    return {"metadata": {"name": f"pod-{index}", "namespace": NAMESPACE}, "spec": spec}


class Finish:
    """Hears when pods are bound."""

    def __init__(self, pods: int) -> None:
        self._pods = pods
        self.bound: dict[str, float] = {}
        self.all = asyncio.Event()

    def hear(self, change: Change) -> None:
        if change.new["spec"].get("nodeName"):
            self.bound.setdefault(change.new["metadata"]["uid"], time.monotonic())
        if len(self.bound) == self._pods:
            self.all.set()

    @property
    def rate(self) -> float:
        times = self.bound.values()
        return (len(times) - 1) / (max(times) - min(times))


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


async def run(plane: ControlPlane, client: Client, scheduler: str, pods: int) -> tuple[float, float]:
    """Pods a second, and seconds of processor time."""
    slots = asyncio.Semaphore(64)

    async def create(index: int) -> None:
        async with slots:
            await client.create(PODS, pod(index, scheduler))

    await asyncio.gather(*(create(index) for index in range(pods)))
    finish = Finish(pods)
    async with Informer(client, PODS.raw(), finish.hear, namespace=NAMESPACE):
        pid, stop = start(plane, scheduler)
        try:
            async with asyncio.timeout(600):
                await finish.all.wait()
            used = cpu_seconds(pid)
        finally:
            stop()
    await client.request("DELETE", PODS.path(NAMESPACE), query={"gracePeriodSeconds": "0"}, timeout=120)
    return finish.rate, used


async def race(home: Path, nodes: int, pods: int, rounds: int) -> None:
    with ControlPlane(home) as plane:
        async with Client.from_kubeconfig(plane.kubeconfig("admin")) as client:
            await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
            kubelet = Kubelet(client)
            await kubelet.create_nodes([NodeTemplate.parse(f"node={nodes}:cpu=32,memory=256Gi")])
            await asyncio.sleep(10)  # accounts are made, taints of new nodes are taken off
            plane.end("kube-controller-manager")
            for number in range(rounds):
                for scheduler in ("reprieve", "default-scheduler"):
                    rate, used = await run(plane, client, scheduler, pods)
                    print(
                        f"round {number + 1}: {scheduler:18} {rate:7.0f} pods/s  {used:6.1f} s CPU",
                        flush=True,
                    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.real_cluster.race", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reprieve-race-") as home:
        asyncio.run(race(Path(home), arguments.nodes, arguments.pods, arguments.rounds))


if __name__ == "__main__":
    main()
