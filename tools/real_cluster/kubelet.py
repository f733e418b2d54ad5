"""Fake nodes as a client of any API server: what `reprieve.server.fake_nodes` does from inside the embedded
one.

The same node templates and the same pure lifecycle; here are only the watches, the clock and the calls.
Annotations on pods work alike (`docs/server.md`). As a real kubelet does, it fills in what a node's status
lacks: what can be allocated (all there is), addresses, and that it is ready.
"""

import asyncio
import hashlib
from collections.abc import Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any

from reprieve.kube import NODES, PODS, STRATEGIC_PATCH, ApiError, Change, Client, Informer, TransportError
from reprieve.objects import NodeTemplate
from reprieve.objects.times import format_time
from reprieve.server.fake_nodes import Habits
from reprieve.server.fake_nodes.lifecycle import KILLED, Step, ended_status, next_step, running_status

Document = dict[str, Any]

AT_ONCE = 50
AGAIN = 0.5


class Kubelet:
    """All pods on all nodes; give it a client without a rate limit."""

    def __init__(self, client: Client, habits: Habits | None = None) -> None:
        self._client = client
        self._habits = habits or Habits()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def create_nodes(self, templates: Iterable[NodeTemplate]) -> None:
        async def create(node: Document) -> None:
            node["status"] |= _missing(node)
            async with self._slots:
                try:
                    await self._client.create(NODES, node)
                except ApiError as error:
                    if not error.already_exists:
                        raise

        await asyncio.gather(*(create(node) for template in templates for node in template.nodes()))

    async def run(self) -> None:
        pods = Informer(self._client, PODS.raw(), self._changed, fields="spec.nodeName!=")
        nodes = Informer(self._client, NODES.raw(), self._node_changed)
        async with pods, nodes:
            await asyncio.Event().wait()

    def _node_changed(self, change: Change) -> None:
        if change.type != "DELETED" and _missing(change.new):
            self._spawn(self._register(change.new))

    async def _register(self, node: Document) -> None:
        """A node that somebody else created."""
        try:
            async with self._slots:
                await self._client.patch(
                    NODES,
                    node["metadata"]["name"],
                    {"status": _missing(node)},
                    subresource="status",
                    content_type=STRATEGIC_PATCH,
                )
        except (ApiError, TransportError) as error:
            if not (isinstance(error, ApiError) and error.not_found):
                asyncio.get_running_loop().call_later(AGAIN, self._spawn, self._register(node))

    def _changed(self, change: Change) -> None:
        uid = change.new["metadata"]["uid"]
        if timer := self._timers.pop(uid, None):
            timer.cancel()
        if change.type != "DELETED":
            self._plan(change.new)

    def _plan(self, pod: Document) -> None:
        now = datetime.now(UTC)
        step = next_step(pod, self._habits, now)
        if step is not None:
            self._later(max(0.0, (step.due - now).total_seconds()), pod, step)

    def _later(self, seconds: float, pod: Document, step: Step) -> None:
        loop = asyncio.get_running_loop()
        self._timers[pod["metadata"]["uid"]] = loop.call_later(seconds, self._begin, pod, step)

    def _begin(self, pod: Document, step: Step) -> None:
        self._timers.pop(pod["metadata"]["uid"], None)
        self._spawn(self._take(pod, step))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self, pod: Document, step: Step) -> None:
        try:
            async with self._slots:
                await self._do(pod, step)
        except (ApiError, TransportError) as error:
            if not (isinstance(error, ApiError) and (error.not_found or error.conflict)):
                self._later(AGAIN, pod, step)

    async def _do(self, pod: Document, step: Step) -> None:
        now = datetime.now(UTC)
        metadata = pod["metadata"]
        if step.action == "start":
            own, host = _address("10", 3, metadata["uid"]), _node_address(pod["spec"]["nodeName"])
            await self._patch(pod, running_status(pod, now, own, host))
        elif step.action == "end":
            await self._patch(pod, ended_status(pod, now, step.exit_code, step.reason))
        else:
            if metadata.get("finalizers"):
                await self._patch(pod, ended_status(pod, now, KILLED, "Error"))
            await self._client.delete(
                PODS, metadata["name"], metadata["namespace"], uid=metadata["uid"], grace_seconds=0
            )

    async def _patch(self, pod: Document, status: Document) -> None:
        status = {key: value for key, value in status.items() if key not in ("hostIPs",)}
        metadata = pod["metadata"]
        patch = {"metadata": {"uid": metadata["uid"]}, "status": status}
        await self._client.patch(
            PODS,
            metadata["name"],
            patch,
            metadata["namespace"],
            subresource="status",
            content_type=STRATEGIC_PATCH,
        )


def _missing(node: Document) -> Document:
    """What the status of this node lacks."""
    status, name = node.get("status") or {}, node["metadata"]["name"]
    found: Document = {}
    if not status.get("allocatable") and status.get("capacity"):
        found["allocatable"] = dict(status["capacity"])
    if not status.get("addresses"):
        found["addresses"] = [
            {"type": "InternalIP", "address": _node_address(name)},
            {"type": "Hostname", "address": name},
        ]
    if not any(condition["type"] == "Ready" for condition in status.get("conditions") or ()):
        found["conditions"] = [_ready()]
    return found


def _address(prefix: str, length: int, of: str) -> str:
    """Made up, but always the same for the same pod or node."""
    return ".".join([prefix, *map(str, hashlib.blake2b(of.encode(), digest_size=length).digest())])


def _node_address(name: str) -> str:
    return _address("172.16", 2, name)


def _ready() -> Document:
    now = format_time(datetime.now(UTC).replace(microsecond=0))
    return {
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "fake node is ready",
        "lastHeartbeatTime": now, "lastTransitionTime": now,
    }  # fmt: skip
