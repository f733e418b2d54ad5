"""A cluster with pods in memory and in virtual time: an API that binds and deletes them, a controller that
makes them for Jobs and groups, nodes that run them, and links that delay what each controller sees and sends.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from itertools import cycle
from typing import Any

from reprieve.kube import Request, Response, Stream
from tests.builders import START
from tests.controllers.memory_api import Document, MemoryApi, _ok, _parse, _refusal

NAMESPACE = "ml"
RUNS_FOR = 20.0


class PodApi(MemoryApi):
    """With what a server does to pods: bindings, conditions merged by type, deletion that takes a while."""

    async def answer(self, request: Request) -> Response | Stream:
        if request.path.startswith("/apis/events.k8s.io") and request.method != "GET":
            return _ok({})
        if request.path.startswith(("/api/v1/namespaces/", "/api/v1/pods")) and request.method != "GET":
            plural, namespace, name, subresource = _parse(request.path)
            if plural == "pods":
                return self._change_pod(request, namespace, name, subresource)
        return await super().answer(request)

    def _change_pod(self, request: Request, namespace: str, name: str, subresource: str) -> Response:
        pod, body = deepcopy(self.get("pods", namespace, name)), request.json()
        if pod is None:
            return _refusal(404, "NotFound")
        if request.method == "DELETE":
            wanted = (body.get("preconditions") or {}).items()
            if any(pod["metadata"][key] != value for key, value in wanted):
                return _refusal(409, "Conflict")
            self.delete_pod(pod)
            return _ok(pod)
        if subresource == "binding":
            if pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates"):
                return _refusal(409, "Conflict")
            pod["spec"]["nodeName"] = body["target"]["name"]
            return _ok(self.put("pods", pod), 201)
        if (body.get("metadata") or {}).get("uid", pod["metadata"]["uid"]) != pod["metadata"]["uid"]:
            return _refusal(409, "Conflict")
        for key, text in (body.get("metadata", {}).get("annotations") or {}).items():
            notes = pod["metadata"].setdefault("annotations", {})
            notes.pop(key, None) if text is None else notes.__setitem__(key, text)
        status = dict(body.get("status") or {})
        kept = {each["type"]: each for each in pod.get("status", {}).get("conditions", ())}
        kept |= {each["type"]: each for each in status.pop("conditions", ())}
        pod["status"] = {**pod.get("status", {}), **status, "conditions": list(kept.values())}
        for key, value in (body.get("spec") or {}).items():
            pod["spec"].pop(key, None) if value is None else pod["spec"].__setitem__(key, value)
        return _ok(self.put("pods", pod))

    def delete_pod(self, pod: Document) -> None:
        """One that waits is gone at once, one on a node when its node says so."""
        metadata = pod["metadata"]
        if not pod["spec"].get("nodeName") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            self.remove("pods", metadata["namespace"], metadata["name"])
        elif not metadata.get("deletionTimestamp"):
            metadata["deletionTimestamp"] = START
            self.put("pods", pod)

    def pods_of(self, owner: Document) -> list[Document]:
        uid = owner["metadata"]["uid"]
        owned = (each for each in self.all("pods") if each["metadata"]["ownerReferences"][0]["uid"] == uid)
        return sorted(owned, key=lambda each: str(each["metadata"]["name"]))


class Link:
    """What lies between one controller and the API: every call and every watch is late, in turn."""

    def __init__(self, api: MemoryApi, calls: Sequence[float], watches: Sequence[float]) -> None:
        self._api = api
        self._calls, self._watches = cycle(calls), cycle(watches)

    async def call(self, request: Request) -> Response:
        await asyncio.sleep(0.001 + next(self._calls))
        return await self._api.transport().call(request)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[Stream]:
        async with self._api.transport().stream(request) as stream:
            yield Stream(stream.code, _late(stream.chunks, next(self._watches)), stream.headers)

    async def close(self) -> None:
        return None


async def _late(chunks: AsyncIterator[bytes], lag: float) -> AsyncIterator[bytes]:
    """The same chunks in their order, each `lag` seconds after it was sent."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[tuple[float, bytes | None]]()

    async def read() -> None:
        async for chunk in chunks:
            queue.put_nowait((loop.time() + lag, chunk))
        queue.put_nowait((loop.time(), None))

    reader = asyncio.create_task(read())
    try:
        while True:
            due, chunk = await queue.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if chunk is None:
                return
            yield chunk
    finally:
        reader.cancel()
        with suppress(asyncio.CancelledError):
            await reader


class Actors:
    """The controller of Jobs and groups, and the nodes."""

    def __init__(self, api: PodApi, gated: bool) -> None:
        self.api = api
        self.gated = gated
        """Whether pods of groups in queues are made with their gate."""
        self._made = 0
        self._since: dict[str, float] = {}

    def forget(self) -> None:
        """When pods began to run, of all of them."""
        self._since.clear()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            now = asyncio.get_running_loop().time()
            for each in list(self.api.all("pods")):
                self._pod(deepcopy(each), now)
            for job in list(self.api.all("jobs")):
                self._job(deepcopy(job))
            for group in list(self.api.all("podgroups")):
                self._group(group)

    def _pod(self, pod: Document, now: float) -> None:
        uid, status = pod["metadata"]["uid"], pod.setdefault("status", {})
        if not pod["spec"].get("nodeName") or status.get("phase") == "Succeeded":
            return
        since = self._since.setdefault(uid, now)
        if pod["metadata"].get("deletionTimestamp"):
            self.api.remove("pods", NAMESPACE, pod["metadata"]["name"])
        elif status.get("phase") != "Running":
            status["phase"] = "Running"
            self.api.put("pods", pod)
        elif now - since >= RUNS_FOR:
            status["phase"] = "Succeeded"
            self.api.put("pods", pod)

    def _job(self, job: Document) -> None:
        spec, status = job["spec"], job.setdefault("status", {})
        if any(each["type"] == "Complete" for each in status.get("conditions", ())):
            return
        before, pods = deepcopy(status), self.api.pods_of(job)
        done = [each for each in pods if each.get("status", {}).get("phase") == "Succeeded"]
        leaving = [each for each in pods if each["metadata"].get("deletionTimestamp")]
        active = [each for each in pods if each not in done and each not in leaving]
        if spec.get("suspend"):
            for each in active:
                self.api.delete_pod(deepcopy(each))
            status.pop("startTime", None)
        else:
            status["startTime"] = START
            for _ in range(min(spec["parallelism"], spec["completions"] - len(done)) - len(active)):
                self._make(job, "Job", "batch/v1", spec["template"]["spec"])
        status |= {"active": len(active), "terminating": len(leaving), "succeeded": len(done)}
        suspended = "True" if spec.get("suspend") and not active and not leaving else "False"
        status["conditions"] = [{"type": "Suspended", "status": suspended, "reason": "", "message": ""}]
        if len(done) >= spec["completions"]:
            status["conditions"] = [{"type": "Complete", "status": "True", "reason": "", "message": "done"}]
        if status != before:
            self.api.put("jobs", job)

    def _group(self, group: Document) -> None:
        """Whatever is there counts, as for a controller that keeps its pods."""
        asked = group["metadata"]["annotations"]
        for _ in range(int(asked["pods"]) - len(self.api.pods_of(group))):
            spec: Document = {
                "schedulingGroup": {"podGroupName": group["metadata"]["name"]},
                "priority": group["spec"]["priority"],
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": asked["cpu"]}}}],
            }
            if self.gated:
                spec["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
            self._make(group, "PodGroup", "scheduling.k8s.io/v1beta1", spec)

    def _make(self, owner: Document, kind: str, api_version: str, spec: Document) -> None:
        self._made += 1
        metadata = owner["metadata"]
        reference: dict[str, Any] = {
            "apiVersion": api_version, "kind": kind, "name": metadata["name"], "uid": metadata["uid"],
            "controller": True,
        }  # fmt: skip
        made = {
            "name": f"{metadata['name']}-{self._made}",
            "namespace": NAMESPACE,
            "ownerReferences": [reference],
        }
        self.api.put(
            "pods",
            {
                "metadata": {**made, "creationTimestamp": START},
                "spec": {"schedulerName": "reprieve", **deepcopy(spec)},
                "status": {"phase": "Pending"},
            },
        )
