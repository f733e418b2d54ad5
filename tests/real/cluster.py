"""A real control plane for the tests, the objects they submit, and Reprieve as its own service account runs
it.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.real_cluster import binaries
from tools.real_cluster.control_plane import ControlPlane
from tools.real_cluster.kubelet import Kubelet

from reprieve.kube import (
    NAMESPACES,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    ApiError,
    Client,
    Resource,
    TransportError,
)
from reprieve.manifests import Installation, crds, deployment
from reprieve.objects import NodeTemplate
from reprieve.server.fake_nodes import Habits
from tests import builders
from tests.builders import Document
from tests.waiting import PATIENCE, eventually, eventually_so

ACCOUNT = "system:serviceaccount:reprieve-system:reprieve"
SELECT = "node.kubernetes.io/instance-type"
LONGEST = 5 * PATIENCE
"""A control plane of five programs, on a machine that may be busy."""
GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
CLASSES = {"low": 10, "mid": 50, "high": 100}


def kubectl(plane: ControlPlane, *arguments: str, given: Iterable[Document] | None = None) -> str:
    """Runs it as the administrator; raises with what it said when it fails."""
    text = yaml.safe_dump_all(given) if given is not None else None
    command = [str(binaries.find("kubectl")), f"--kubeconfig={plane.kubeconfig('admin')}", *arguments]
    ended = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(arguments)}: {ended.stdout}{ended.stderr}"
    return ended.stdout + ended.stderr


def installation(plane: ControlPlane, **options: Any) -> Installation:
    """What somebody would ask `reprieve manifests` for on this version."""
    return Installation(policy_version="v1" if plane.version >= (1, 21) else "v1beta1", **options)


def install(plane: ControlPlane, controllers: tuple[str, ...] = ("scheduler",), **options: Any) -> Path:
    """Definitions and rights as `reprieve manifests` prints them; the kubeconfig of the account that has the
    rights.

    The Deployment itself stays out: there is nothing here that could run its image."""
    wanted = deployment(installation(plane, controllers=controllers, **options))
    kubectl(plane, "apply", "--server-side", "--force-conflicts", "-f", "-", given=crds())
    kubectl(plane, "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    documents = [each for each in wanted if each["kind"] != "Deployment"]
    kubectl(plane, "apply", "--server-side", "--force-conflicts", "-f", "-", given=documents)
    token = kubectl(plane, "create", "token", "reprieve", "-n", "reprieve-system", "--duration=2h").strip()
    return plane.kubeconfig_for_token("reprieve", token)


class Run:
    """`reprieve run` as a process of its own."""

    def __init__(self, kubeconfig: Path, log: Path, *arguments: str, listen: str = "") -> None:
        self._log = log
        self._from = log.stat().st_size if log.exists() else 0
        environment = {**os.environ, "COVERAGE_PROCESS_START": ""}
        command = [
            sys.executable,
            "-m",
            "reprieve",
            "run",
            "--kubeconfig",
            str(kubeconfig),
            "--listen",
            listen,
        ]
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                [*command, *arguments], stdout=file, stderr=file, env=environment
            )

    def log(self) -> str:
        return self._log.read_bytes()[self._from :].decode()

    def complaints(self) -> list[str]:
        """Log lines above the level of information.

        A kube-apiserver that gets too little of the processor finds watchers too slow and hangs up on them,
        even before it has written a line. That is said, as client-go says it, and is nobody's fault here.
        """
        told = (line for line in self.log().splitlines() if " I " not in line and " D " not in line)
        return [line for line in told if "a very short watch" not in line]

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Its exit code. One that was just started is let come up: until then SIGTERM ends any process."""
        eventually_so(lambda: self.log() or self._process.poll() is not None, "it is up", LONGEST)
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self._process.wait(PATIENCE)


class Mortal:
    """`reprieve run` that is killed at random moments and started again."""

    def __init__(self, dice: random.Random, *given: Any, **options: Any) -> None:
        """Beside the dice, what `Run` takes."""
        self._dice = dice
        self._start = partial(Run, *given, **options)
        self.run = self._start()

    async def die(self, times: int = 1) -> None:
        for _ in range(times):
            # The moment of the kill is what is tried out; it takes a second to come up.
            await asyncio.sleep(1.0 + self._dice.random() * 3)
            self.run.kill()
            self.run = self._start()


class Place:
    """Some nodes and a namespace on the control plane, for one test."""

    def __init__(self, client: Client, name: str, *, native_groups: bool) -> None:
        self.client = client
        self.name = name
        self._native_groups = native_groups

    async def create(self, resource: Resource, *documents: Document) -> None:
        served = await self.client.served(resource)
        assert served is not None, resource
        slots = asyncio.Semaphore(32)

        async def one(document: Document) -> None:
            async with slots:
                try:
                    await self.client.create(served, document)
                except TransportError:  # a connection that an old API server left behind
                    await self.client.create(served, document)

        await asyncio.gather(*(one(document) for document in documents))

    async def pods(self) -> list[Document]:
        return (await self.client.listing(PODS.raw(), self.name)).items

    async def bound(self, prefix: str = "") -> list[str]:
        return sorted(
            pod["metadata"]["name"] for pod in await self.pods()
            if pod["spec"].get("nodeName") and pod["metadata"]["name"].startswith(prefix)
            and not pod["metadata"].get("deletionTimestamp")
        )  # fmt: skip

    async def clear(self) -> None:
        """Every pod goes at once."""
        await self.client.request("DELETE", PODS.path(self.name), query={"gracePeriodSeconds": "0"})

        async def empty() -> bool:
            return not await self.pods()

        await self.until(empty)

    async def until(self, done: Callable[[], Awaitable[bool]], timeout: float = LONGEST) -> None:
        await eventually(done, self.story, timeout)

    async def until_bound(self, prefix: str, count: int, timeout: float = LONGEST) -> None:
        async def done() -> bool:
            return len(await self.bound(prefix)) == count

        await self.until(done, timeout)

    async def story(self) -> str:
        pods = await self.pods()
        states = Counter(
            (pod["metadata"]["name"].rstrip("0123456789"), "going" if pod["metadata"].get("deletionTimestamp")
             else "bound" if pod["spec"].get("nodeName") else "waiting")
            for pod in pods
        )  # fmt: skip
        said = [c.get("message") for p in pods for c in p["status"].get("conditions", ()) if c.get("message")]
        return f"still not there: {dict(states)}; {said[:3]}"

    async def overcommitted(self, cpu: int) -> dict[str, float]:
        used: Counter[str] = Counter()
        for pod in await self.pods():
            if pod["spec"].get("nodeName") and pod["status"].get("phase") not in ("Succeeded", "Failed"):
                used[pod["spec"]["nodeName"]] += sum(
                    int(c["resources"]["requests"]["cpu"]) for c in pod["spec"]["containers"]
                )
        return {node: amount for node, amount in used.items() if amount > cpu}

    def own_pod(
        self, name: str, cpu: int = 1, priority: str = "low", *, group: str = "", **spec: Any
    ) -> Document:
        """It runs on this place's nodes only; where the server knows no groups, it is in one by its label."""
        labels = {} if self._native_groups or not group else {GROUP_LABEL: group}
        own = {"schedulerName": "reprieve", "nodeSelector": {SELECT: self.name}, **spec}
        member = group if self._native_groups else ""
        return builders.pod(name, cpu, priority, group=member, namespace=self.name, labels=labels, **own)

    def own_group(self, name: str, minimum: int, priority: str = "low", **spec: Any) -> Document:
        return builders.pod_group(name, minimum, priority, namespace=self.name, **spec)


@asynccontextmanager
async def place(
    plane: ControlPlane, name: str, nodes: int = 2, cpu: int = 4, *, layout: str = ""
) -> AsyncIterator[Place]:
    """Nodes that only this test's pods select, kept by a kubelet; nothing is left of them afterwards.

    `layout` is the rest of their template: `;racks=2`."""
    async with Client.from_kubeconfig(plane.kubeconfig("admin")) as client:
        here = Place(client, name, native_groups=plane.native_groups)
        needed: list[tuple[Resource, Document]] = [(NAMESPACES, {"metadata": {"name": name}})]
        needed += [
            (PRIORITY_CLASSES, {"metadata": {"name": cls}, "value": value}) for cls, value in CLASSES.items()
        ]
        for resource, document in needed:
            try:
                await client.create(resource, document)
            except ApiError as error:
                if not error.already_exists:
                    raise
        await _default_account(client, name)
        async with kept_nodes(client, NodeTemplate.parse(f"{name}={nodes}:cpu={cpu},memory=64Gi{layout}")):
            try:
                yield here
            finally:
                await client.request("DELETE", PODS.path(name), query={"gracePeriodSeconds": "0"})
                await client.request("DELETE", (await client.served(POD_GROUPS) or POD_GROUPS).path(name))


@asynccontextmanager
async def kept_nodes(client: Client, template: NodeTemplate) -> AsyncIterator[None]:
    """Nodes with a kubelet; those that are still there go at the end."""
    kubelet = Kubelet(client, Habits(terminate_after=0.2))
    await kubelet.create_nodes([template])
    await open_to_all(client, template)
    running = asyncio.create_task(kubelet.run())
    try:
        yield
    finally:
        there = {node["metadata"]["name"] for node in (await client.listing(NODES.raw())).items}
        await asyncio.gather(*(client.delete(NODES, name) for name in template.names() if name in there))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def open_to_all(client: Client, template: NodeTemplate) -> None:
    """Nodes are tainted when they are made, until the controller manager finds them ready."""

    async def untainted() -> bool:
        nodes = [await client.get(NODES.raw(), name) for name in template.names()]
        return not any(each["spec"].get("taints") for each in nodes)

    await eventually(untainted, f"the taints of {template.name} are taken off", LONGEST)


def on_node(here: Place, index: int) -> Document:
    """The part of a pod's spec that keeps it on one of the place's nodes."""
    return {"nodeSelector": {"kubernetes.io/hostname": f"{here.name}-{index}"}}


def needs_native_groups(plane: ControlPlane) -> None:
    """For what has no stand-in: trees, and devices in their final version."""
    if not plane.native_groups:
        pytest.skip(f"Kubernetes {'.'.join(map(str, plane.version))} has neither trees nor devices")


async def _default_account(client: Client, namespace: str) -> None:
    """Pods are refused until the controller manager has made the namespace's account."""
    accounts = Resource("", "v1", "ServiceAccount", "serviceaccounts")

    async def made() -> bool:
        try:
            await client.get(accounts, "default", namespace)
        except ApiError as error:
            if not error.not_found:
                raise
            return False
        return True

    await eventually(made, f"a service account in {namespace}")
