"""A small API server in memory for the controllers' tests: objects, versions, watches, no socket, no
validation.

It keeps what the controllers rely on: resource versions grow, a write based on an old version is a conflict,
`/status` writes change only the status, watches deliver every change in order.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from copy import deepcopy
from typing import Any

from reprieve.jobs import JobKinds
from reprieve.kube import MemoryTransport, Request, Response, Stream

Document = dict[str, Any]
PLURALS = (
    "admissionchecks", "clusterqueues", "cohorts", "jobs", "limitranges", "localqueues", "multikueueclusters",
    "multikueueconfigs", "namespaces", "nodes", "poddisruptionbudgets", "podgroups", "pods",
    "priorityclasses", "resourceflavors", "workloads", "workloadpriorityclasses",
    *(kind.plural for kind in JobKinds()),
)  # fmt: skip
Place = tuple[str, str, str]
Watcher = tuple[str, str, Callable[[Document], bool], asyncio.Queue[bytes | None]]
"""Kind, namespace, selector, and what it is to hear."""


class MemoryApi:
    def __init__(self) -> None:
        self.objects: dict[Place, Document] = {}
        self.requests = 0
        self.unserved: set[str] = set()
        """Plurals that this server does not know."""
        self.groups: set[str] = set()
        """Groups of kinds of jobs that its discovery lists."""
        self._revision = 0
        self._watchers: list[Watcher] = []
        self._uid = 0
        self.listeners: list[Callable[[str, Document], None]] = []

    def transport(self) -> MemoryTransport:
        return MemoryTransport(self.answer)

    # Direct access, for the actors inside this cluster

    def all(self, plural: str) -> Iterator[Document]:
        return iter([item for (kind, _, _), item in self.objects.items() if kind == plural])

    def get(self, plural: str, namespace: str, name: str) -> Document | None:
        return self.objects.get((plural, namespace, name))

    def put(self, plural: str, document: Document) -> Document:
        """Create or replace, whatever the version."""
        metadata = document.setdefault("metadata", {})
        place = (plural, metadata.get("namespace", ""), metadata["name"])
        known = self.objects.get(place)
        stored = deepcopy(document)
        self._revision += 1
        stored["metadata"]["resourceVersion"] = str(self._revision)
        if known is None:
            self._uid += 1
            stored["metadata"]["uid"] = f"uid-{self._uid}"
        else:
            stored["metadata"]["uid"] = known["metadata"]["uid"]
        self.objects[place] = stored
        self._tell("ADDED" if known is None else "MODIFIED", plural, stored)
        return stored

    def remove(self, plural: str, namespace: str, name: str) -> Document | None:
        gone = self.objects.pop((plural, namespace, name), None)
        if gone is not None:
            self._revision += 1
            gone["metadata"]["resourceVersion"] = str(self._revision)
            self._tell("DELETED", plural, gone)
        return gone

    def cut_watches(self) -> None:
        """End every open watch, as a restart or a broken link does."""
        for *_, queue in self._watchers:
            queue.put_nowait(None)
        self._watchers.clear()

    # HTTP

    async def answer(self, request: Request) -> Response | Stream:
        self.requests += 1
        if not request.path.startswith(("/api/", "/apis")):
            return Response(200, b"ok")
        if (found := _discovery(request.path, self.unserved, self.groups)) is not None:
            return _ok(found)
        plural, namespace, name, subresource = _parse(request.path)
        if request.method == "GET" and not name:
            return self._collection(plural, namespace, request)
        if request.method == "POST":
            return self._create(plural, namespace, request.json())
        current = self.objects.get((plural, namespace, name))
        if current is None:
            return _refusal(404, "NotFound")
        if request.method == "GET":
            return _ok(current)
        if request.method == "DELETE":
            return _ok(self.remove(plural, namespace, name))
        return self._write(plural, current, request, subresource)

    def _create(self, plural: str, namespace: str, document: Document) -> Response:
        document["metadata"].setdefault("namespace", namespace)
        if (plural, namespace, document["metadata"]["name"]) in self.objects:
            return _refusal(409, "AlreadyExists")
        return _ok(self.put(plural, document), 201)

    def _write(self, plural: str, current: Document, request: Request, subresource: str) -> Response:
        body = request.json()
        revision = (body.get("metadata") or {}).get("resourceVersion")
        if revision and revision != current["metadata"]["resourceVersion"]:
            return _refusal(409, "Conflict")
        wanted = body if request.method == "PUT" else _merge(deepcopy(current), body)
        changed = deepcopy(current)
        if subresource == "status":
            changed["status"] = wanted.get("status", {})
        else:
            changed = {**wanted, "status": current.get("status", {})}
        return _ok(self.put(plural, changed))

    def _collection(self, plural: str, namespace: str, request: Request) -> Response | Stream:
        matches = _selector(request.query.get("labelSelector", ""))
        items = [
            item
            for (kind, place, _), item in self.objects.items()
            if kind == plural and (not namespace or place == namespace) and matches(item)
        ]
        if request.query.get("watch") != "true":
            return _ok({"metadata": {"resourceVersion": str(self._revision)}, "items": items})
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        since = request.query.get("resourceVersion")
        if request.query.get("sendInitialEvents") == "true":
            for item in items:
                queue.put_nowait(_event("ADDED", item))
            end = {
                "annotations": {"k8s.io/initial-events-end": "true"},
                "resourceVersion": str(self._revision),
            }
            queue.put_nowait(_event("BOOKMARK", {"metadata": end}))
        elif since is not None and int(since) < self._revision:
            return _refusal(410, "Expired")
        watcher = (plural, namespace, matches, queue)
        self._watchers.append(watcher)
        return Stream(200, self._news(watcher))

    async def _news(self, watcher: Watcher) -> AsyncIterator[bytes]:
        """Until the watch is cut, or nobody reads it any more."""
        try:
            while (chunk := await watcher[-1].get()) is not None:
                yield chunk
        finally:
            if watcher in self._watchers:
                self._watchers.remove(watcher)

    def _tell(self, type: str, plural: str, document: Document) -> None:
        for kind, namespace, matches, queue in self._watchers:
            if (
                kind == plural
                and matches(document)
                and namespace in ("", document["metadata"].get("namespace"))
            ):
                queue.put_nowait(_event(type, document))
        for listener in self.listeners:
            listener(plural, document)


def _discovery(path: str, unserved: set[str], groups: set[str]) -> Document | None:
    """Every group serves every version and every kind, except those nobody needs here."""
    parts = path.strip("/").split("/")
    if parts == ["apis"]:
        return {"groups": [{"name": name} for name in sorted(groups)]}
    if parts[0] == "apis" and len(parts) == 2:
        return {"versions": [{"version": version} for version in ("v1", "v1beta1", "v1beta2")]}
    if len(parts) == (2 if parts[0] == "api" else 3):
        return {"resources": [{"name": plural} for plural in PLURALS if plural not in unserved]}
    return None


def _parse(path: str) -> tuple[str, str, str, str]:
    parts = path.strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2:
        namespace, parts = parts[1], parts[2:]
    plural, name, subresource = (*parts, "", "")[:3]
    return plural, namespace, name, subresource


def _selector(text: str) -> Callable[[Document], bool]:
    wanted = [term.partition("=") for term in text.split(",") if term]

    def matches(document: Document) -> bool:
        labels = document["metadata"].get("labels") or {}
        return all(labels.get(key) == value if equals else key in labels for key, equals, value in wanted)

    return matches


def _merge(target: Document, patch: Document) -> Document:
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            target[key] = _merge(dict(target.get(key) or {}), value)
        else:
            target[key] = value
    return target


def _event(type: str, document: Document) -> bytes:
    return json.dumps({"type": type, "object": document}).encode() + b"\n"


def _ok(body: Any, code: int = 200) -> Response:
    return Response(code, json.dumps(body).encode())


def _refusal(code: int, reason: str) -> Response:
    return Response(code, json.dumps({"kind": "Status", "code": code, "reason": reason}).encode())
