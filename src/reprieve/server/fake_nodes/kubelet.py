"""The kubelet of all fake nodes: keeps them ready, and moves their pods through their lifecycle.

One queue for all pods, one for the nodes. A pod is reconciled when it changes and when its next step is due;
nothing is remembered in between, so a restart continues where it stopped.
"""

import asyncio
import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from reprieve.objects import Document, NodeTemplate, well_known
from reprieve.server.api import Api
from reprieve.server.controllers import keep_running
from reprieve.server.controllers.controller import in_parallel
from reprieve.server.controllers.delaying_queue import DelayingQueue
from reprieve.server.controllers.pods import Pod, PodIndex, PodKey
from reprieve.server.errors import ApiError
from reprieve.server.fake_nodes.health import NodeKeeper
from reprieve.server.fake_nodes.lifecycle import KILLED, Habits, Step, ended_status, next_step, running_status
from reprieve.server.patch import STRATEGIC_MERGE_PATCH

MANAGER = "kubelet"
RETRY = timedelta(milliseconds=200)


class FakeKubelet:
    """A background task of the server: `EmbeddedServer(background=(FakeKubelet.starting(...),))`."""

    def __init__(
        self, api: Api, templates: Iterable[NodeTemplate] = (), habits: Habits | None = None
    ) -> None:
        self._api = api
        self._habits = habits or Habits()
        self._queue: DelayingQueue[PodKey] = DelayingQueue(api.backend.clock)
        self._pods = PodIndex.shared(api)
        self.nodes = NodeKeeper(api, templates, self._pods, self._node_returned)
        self._pods.listen(self._pod_changed)
        for pod in self._pods:
            self._pod_changed(None, pod)

    @staticmethod
    def starting(templates: Iterable[NodeTemplate] = (), habits: Habits | None = None) -> Any:
        """A background coroutine for `EmbeddedServer`."""
        nodes = tuple(templates)
        return lambda api: FakeKubelet(api, nodes, habits).run()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(keep_running(self.nodes.run, "fake nodes"))
            tasks.create_task(keep_running(self._run_pods, "fake kubelet"))

    async def _run_pods(self) -> None:
        while True:
            due = await self._queue.take()
            await in_parallel(partial(self._reconcile, key) for key in due)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        if after is None:
            if before is not None:
                self._queue.drop(before.key)
        elif after.node and (after.deleting or not after.finished):
            self._queue.add(after.key)

    def _node_returned(self, node: str) -> None:
        """A node came up, or was created: reconcile the pods that wait there."""
        for pod in self._pods.on_node(node):
            self._pod_changed(None, pod)

    async def _reconcile(self, key: PodKey) -> None:
        pod = self._api.peek("pods", key[1], key[0])
        if pod is None or not self.nodes.is_up((pod.get("spec") or {}).get("nodeName", "")):
            return
        now = self._api.now()
        step = next_step(pod, self._habits, now)
        if step is None:
            return
        if step.due > now:
            self._queue.add(key, step.due)
            return
        try:
            await self._perform(step, pod, now)
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise
            if refusal.code == 409:
                self._queue.add(key, now + RETRY)

    async def _perform(self, step: Step, pod: Document, now: datetime) -> None:
        if step.action == "start":
            await self._patch_status(pod, running_status(pod, now, *self._addresses(pod)))
        elif step.action == "end":
            await self._patch_status(pod, ended_status(pod, now, step.exit_code, step.reason))
        else:
            await self._remove(pod, now)

    async def _remove(self, pod: Document, now: datetime) -> None:
        """The containers have stopped; if a finalizer keeps the object, its status shows how they ended."""
        meta = pod["metadata"]
        ended = (pod.get("status") or {}).get("phase") in well_known.TERMINAL_PHASES
        if meta.get("finalizers") and not ended:
            await self._patch_status(pod, ended_status(pod, now, KILLED, "Error"))
        await self._api.delete("pods", meta["name"], meta["namespace"], grace=0, uid=meta["uid"])

    async def _patch_status(self, pod: Document, status: Document) -> None:
        meta = pod["metadata"]
        await self._api.patch(
            "pods",
            meta["name"],
            {"metadata": {"uid": meta["uid"]}, "status": status},
            meta["namespace"],
            content_type=STRATEGIC_MERGE_PATCH,
            subresource="status",
            manager=MANAGER,
        )

    def _addresses(self, pod: Document) -> tuple[str, str]:
        """Made up, but always the same for the same pod and node."""
        digest = hashlib.blake2b(pod["metadata"]["uid"].encode(), digest_size=3).digest()
        return "10.{}.{}.{}".format(*digest), self.nodes.address(pod["spec"]["nodeName"])
