"""Typed REST calls to any Kubernetes API server.

What the client does for its callers, in this order for each request:
1. waits for the client-side rate limit;
2. looks whether it may still write (`fenced`);
3. sends; an answer with Retry-After (429, or 5xx that names a time) is tried again after that time,
   whatever the verb: the server has done nothing. A lost connection is tried again only for reads: a write
   may have happened;
4. turns every refusal into an `ApiError` with the server's reason.
Writes send only what we change (patches, bindings, deletions with preconditions), never a whole object read
before.
"""

import asyncio
import copy
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from reprieve.kube import kubeconfig
from reprieve.kube.errors import ApiError, Fenced, TransportError, from_body
from reprieve.kube.http_transport import HttpTransport
from reprieve.kube.nesting import read_event, read_page
from reprieve.kube.pacing import Backoff, RateLimit, Sleep
from reprieve.kube.resources import PODS, Discovery, Resource
from reprieve.kube.transport import Request, Response, Transport
from reprieve.kube.wire import Decode, WatchEvent, decoder_of, lines

log = logging.getLogger(__name__)

T = TypeVar("T")

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
JSON = "application/json"
PAGE = 500
ATTEMPTS = 8
INTERACTIVE_ATTEMPTS = 3
"""For commands that a person waits for."""
LONGEST_WAIT = 60.0
FIELD_MANAGER = "reprieve"


class Client:
    """One connection pool to one API server. Close it, or use it as an async context manager."""

    def __init__(
        self,
        transport: Transport,
        *,
        rate_limit: RateLimit | None = None,
        namespace: str = "default",
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        attempts: int | None = None,
    ) -> None:
        self._transport = transport
        self._attempts = attempts or ATTEMPTS
        self._patient = attempts is None
        self._limit = rate_limit
        self._sleep = sleep
        self._jitter = jitter
        self._discovery = Discovery(self.request)
        self._urgent = False
        self._may_write: Callable[[], bool] | None = None
        self.namespace = namespace
        self.problems: dict[str, str] = {}
        """What keeps us from reading, by kind; the empty key: the server does not answer at all."""

    @classmethod
    def from_access(
        cls, access: kubeconfig.ClusterAccess, *, qps: float = 0, burst: int = 1, attempts: int | None = None
    ) -> "Client":
        limit = RateLimit(qps, burst) if qps > 0 else None
        return cls(HttpTransport(access), rate_limit=limit, namespace=access.namespace, attempts=attempts)

    @classmethod
    def from_kubeconfig(
        cls,
        path: str | Path | None = None,
        context: str | None = None,
        *,
        qps: float = 0,
        burst: int = 1,
        attempts: int | None = None,
    ) -> "Client":
        """Connect as kubectl does: this file, $KUBECONFIG, ~/.kube/config, or the pod's service account.

        `attempts` is how often a request is tried (`INTERACTIVE_ATTEMPTS` for commands).
        """
        access = kubeconfig.load(path, context)
        return cls.from_access(access, qps=qps, burst=burst, attempts=attempts)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    def urgent(self) -> "Client":
        """The same connection, with requests that come before all others under the rate limit."""
        twin = copy.copy(self)
        twin._urgent = True
        return twin

    def fenced(self, may_write: Callable[[], bool]) -> "Client":
        """The same connection, which sends a write only if it may at that very moment (`Fenced`)."""
        twin = copy.copy(self)
        twin._may_write = may_write
        return twin

    # Reading

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Any:
        return decoder_of(resource)(await self.request("GET", resource.path(namespace, name)))

    async def listing(
        self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "",
        limit: int = PAGE, decode: Decode | None = None,
    ) -> "Listing":  # fmt: skip
        """The whole collection, in pages. An expired continue token restarts the listing once, unpaged."""
        path, query, decode = (
            resource.path(namespace),
            _selectors(labels, fields),
            decode or decoder_of(resource),
        )
        try:
            return await self._pages(path, query, limit, decode)
        except ApiError as error:
            if not error.expired:
                raise
            return await self._pages(path, query, 0, decode)

    async def _pages(self, path: str, query: dict[str, str], limit: int, decode: Decode) -> "Listing":
        items: list[Any] = []
        token = ""
        while True:
            page_query = dict(query)
            if limit:
                page_query["limit"] = str(limit)
            if token:
                page_query["continue"] = token
            body = await self.request("GET", path, query=page_query)
            page = read_page(body)
            items.extend(decode(raw) for raw in page.items or ())
            token = page.metadata.continue_ or ""
            if not token:
                return Listing(items, page.metadata.resource_version or "")

    async def list_all(self, resources: Iterable[Resource]) -> list[dict[str, Any]]:
        """Every object of these kinds as raw documents; kinds that the server does not serve are skipped."""
        documents: list[dict[str, Any]] = []
        async for resource in self._served_of(resources):
            typed = {"apiVersion": resource.api_version, "kind": resource.kind}
            documents.extend({**typed, **item} for item in (await self.listing(resource.raw())).items)
        return documents

    async def dump_all(self, resources: Iterable[Resource]) -> list[bytes]:
        """The same as one List document (JSON, one line) for each kind, for another process: not decoded."""
        lists = []
        async for resource in self._served_of(resources):
            listing = await self.listing(resource, decode=bytes)
            head = f'{{"apiVersion":"{resource.api_version}","kind":"{resource.kind}List","items":['
            lists.append(b"%s%s]}" % (head.encode(), b",".join(listing.items)))
        return lists

    async def _served_of(self, resources: Iterable[Resource]) -> AsyncIterator[Resource]:
        for wanted in resources:
            resource = await self.served(wanted)
            if resource is not None:
                yield resource

    async def watch(
        self, resource: Resource, namespace: str = "", *, query: Mapping[str, str], timeout: float
    ) -> AsyncIterator[WatchEvent]:
        """Events as they come. The server keeps the stream open for `timeout`; our own is a little longer."""
        full = {"watch": "true", "timeoutSeconds": str(int(timeout)), **query}
        await self._take()
        request = Request("GET", resource.path(namespace), full, timeout=timeout + 30)
        async with AsyncExitStack() as stack:
            try:
                stream = await stack.enter_async_context(self._transport.stream(request))
            except TransportError as lost:
                self._no_answer(lost)
                raise
            self._answered()
            if stream.code != 200:
                body = b"".join([chunk async for chunk in stream.chunks])
                raise from_body(stream.code, body, retry_after(stream.headers))
            async for line in lines(stream.chunks):
                yield read_event(line)

    # Discovery

    async def served(self, resource: Resource) -> Resource | None:
        """The resource in a version that is served: the wanted one, else the preferred one, else None."""
        return await self._discovery.find(resource)

    async def served_groups(self) -> set[str]:
        """The API groups that are served now; what was known of kinds before is looked up again."""
        return await self._discovery.groups()

    # Writing

    async def create(
        self, resource: Resource, document: Mapping[str, Any], namespace: str = ""
    ) -> dict[str, Any]:
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **document}
        namespace = namespace or (document.get("metadata") or {}).get("namespace", "")
        return await self._write("POST", resource.path(namespace), body, JSON)

    async def replace(
        self,
        resource: Resource,
        name: str,
        document: Mapping[str, Any],
        namespace: str = "",
        subresource: str = "",
    ) -> dict[str, Any]:
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **document}
        return await self._write("PUT", resource.path(namespace, name, subresource), body, JSON)

    async def patch(
        self,
        resource: Resource,
        name: str,
        patch: Mapping[str, Any],
        namespace: str = "",
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
    ) -> dict[str, Any]:
        return await self._write("PATCH", resource.path(namespace, name, subresource), patch, content_type)

    async def apply(
        self,
        resource: Resource,
        document: Mapping[str, Any],
        *,
        field_manager: str = FIELD_MANAGER,
        force: bool = True,
    ) -> dict[str, Any]:
        """Server-side apply: create it, or take over the fields given."""
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **document}
        metadata = body["metadata"]
        path = resource.path(metadata.get("namespace", ""), metadata["name"])
        query = {"fieldManager": field_manager, "force": "true" if force else "false"}
        answer = await self.request(
            "PATCH", path, query=query, body=msgspec.json.encode(body), content_type=APPLY_PATCH
        )
        document_out: dict[str, Any] = msgspec.json.decode(answer)
        return document_out

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        grace_seconds: int | None = None,
        propagation: str = "",
    ) -> None:
        """Delete it. With a UID, only that object: another one of the same name is a conflict.

        `propagation` says what happens to dependents. A plain DELETE of a Job leaves its pods behind;
        "Background" has the garbage collector remove them.
        """
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        if given := {key: value for key, value in preconditions.items() if value}:
            options["preconditions"] = given
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if propagation:
            options["propagationPolicy"] = propagation
        await self._write("DELETE", resource.path(namespace, name), options, JSON)

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Put a pod on a node. The server answers with a Status; a pod bound already is a conflict."""
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self._write("POST", PODS.path(namespace, name, "binding"), binding, JSON)

    async def update_with_retries(
        self, resource: Resource, name: str, namespace: str, change: Callable[[dict[str, Any]], bool],
        *, subresource: str = "", attempts: int = 5,
    ) -> dict[str, Any]:  # fmt: skip
        """Read, change, write; again after a conflict. `change` returns whether it changed anything."""
        for attempt in range(attempts):
            document: dict[str, Any] = await self.get(resource.raw(), name, namespace)
            if not change(document):
                return document
            try:
                return await self.replace(resource, name, document, namespace, subresource)
            except ApiError as error:
                if not error.conflict or attempt == attempts - 1:
                    raise
            await self._sleep(0.01 * 2**attempt * (1 + self._jitter()))
        raise AssertionError("attempts must be positive")

    async def _write(
        self, method: str, path: str, body: Mapping[str, Any], content_type: str
    ) -> dict[str, Any]:
        answer = await self.request(method, path, body=msgspec.json.encode(body), content_type=content_type)
        document: dict[str, Any] = msgspec.json.decode(answer) if answer else {}
        return document

    # One request

    async def request(
        self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: bytes = b"",
        content_type: str = "", timeout: float | None = None,
    ) -> bytes:  # fmt: skip
        """Send the request and return the body of a success; everything else is raised."""
        request = Request(method, path, query or {}, body, content_type, timeout)
        backoff = Backoff(base=0.1, cap=5.0, random=self._jitter)
        for attempt in range(1, self._attempts + 1):
            await self._take()
            if method != "GET" and self._may_write is not None and not self._may_write():
                raise Fenced("not sent: this replica may not lead any more")
            try:
                response = await self._transport.call(request)
            except TransportError as lost:
                self._no_answer(lost)
                if method != "GET" or attempt == self._attempts:
                    raise
                await self._sleep(backoff.next())
                continue
            self._answered()
            if response.code < 300:
                return response.body
            error = _error(response)
            if (
                error.retry_after is None
                or attempt == self._attempts
                or error.code not in (429, 500, 502, 503, 504)
            ):
                raise error
            await self._sleep(min(error.retry_after, LONGEST_WAIT) * (1 + 0.1 * self._jitter()))
        raise AssertionError("unreachable")

    def _no_answer(self, error: TransportError) -> None:
        """Logged once, at the first failure. A caller with limited attempts gets the error instead."""
        if self._patient and "" not in self.problems:
            self.problems[""] = f"the API server does not answer; trying again until it does ({error})"
            log.warning("%s", self.problems[""])

    def _answered(self) -> None:
        if self.problems.pop("", None):
            log.info("the API server answers again")

    async def _take(self) -> None:
        if self._limit is not None:
            await self._limit.take(self._urgent)


class Listing(msgspec.Struct, frozen=True):
    """A whole collection and the revision it was read at."""

    items: list[Any]
    revision: str


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from Retry-After; the HTTP-date form is not used by API servers and is ignored."""
    with suppress(ValueError):
        return max(0.0, float(headers.get("Retry-After", "")))
    return None


def _error(response: Response) -> ApiError:
    return from_body(response.code, response.body, retry_after(response.headers))


def _selectors(labels: str, fields: str) -> dict[str, str]:
    return {key: value for key, value in (("labelSelector", labels), ("fieldSelector", fields)) if value}
