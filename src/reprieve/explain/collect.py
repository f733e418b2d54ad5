"""Gathers evidence: from an API server with the reader's own rights, from a controller's records, from files.

What the reader may not see is left out, and the answer says so. A controller's records cover every namespace,
so they are cut down to those in which the reader may list pods.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from reprieve.explain.evidence import Evidence
from reprieve.explain.redaction import namespaces_of, without
from reprieve.jobs import JobKinds
from reprieve.kube import (
    EVENTS,
    OWNER_KINDS,
    QUOTA_KINDS,
    SCHEDULER_KINDS,
    ApiError,
    Client,
    Resource,
    job_resources,
)
from reprieve.objects import Document, Reference, ReprieveError
from reprieve.records import Decision

if TYPE_CHECKING:
    import aiohttp

UNAUTHORIZED, FORBIDDEN = 401, 403
RECORDS_TIMEOUT_SECONDS = 10.0


async def from_cluster(client: Client, target: Reference, decisions: Iterable[Mapping[str, Any]]) -> Evidence:
    """Everything readable that the answer can depend on."""
    not_shown: list[str] = []
    objects: list[Document] = []
    for resource in SCHEDULER_KINDS + QUOTA_KINDS:
        objects += await _readable(client, resource, target.namespace, not_shown)
    partial = bool(not_shown)
    for resource in _owners(target.kind):
        objects += await _readable(client, resource, target.namespace, not_shown, only_there=True)
    events = await _readable(client, EVENTS, target.namespace, not_shown)
    shown = await _visible(client, list(decisions), not_shown)
    return Evidence(objects, events, shown, not_shown, partial)


def _owners(kind: str) -> list[Resource]:
    """What creates the pods of such a thing: itself, and what stands between it and them."""
    if kind in {resource.kind for resource in OWNER_KINDS}:
        return [*OWNER_KINDS]
    return job_resources(JobKinds().below(kind))


async def fetch_records(controller: str, token: str = "") -> list[dict[str, Any]]:
    """The decisions with victims that a running controller keeps, newest first, with all their details."""
    import aiohttp

    if not controller.startswith(("http://", "https://")):
        raise ReprieveError(
            f"--controller {controller}: not an address; write for instance http://127.0.0.1:8080"
        )
    url = f"{controller.rstrip('/')}/api/decisions"
    timeout = aiohttp.ClientTimeout(total=RECORDS_TIMEOUT_SECONDS)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as session:
            listed = (await _get(session, f"{url}?limit=1000"))["items"]
            evicting = [item["id"] for item in listed if item["victims"]]
            return [await _get(session, f"{url}/{id}") for id in evicting]
    except (aiohttp.ClientError, TimeoutError, msgspec.MsgspecError, KeyError) as error:
        raise ReprieveError(
            f"no decision records from {controller}: {error or type(error).__name__}; "
            "is the controller running there? "
            "Leave --controller out to explain from conditions and events alone"
        ) from error


def read_records(path: Path) -> list[dict[str, Any]]:
    """The decisions in a file that a controller keeps (`records.path`), newest first; the file is only read.

    A line cut short by a crash is skipped, as the controller itself does; a file without one whole line is
    not a file of records.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ReprieveError(f"--records {path}: cannot be read: {error.strerror}") from error
    decisions = []
    for line in reversed(lines):
        with suppress(msgspec.MsgspecError):
            decisions.append(msgspec.json.decode(line, type=Decision).to_dict())
    if lines and not decisions:
        raise ReprieveError(
            f"--records {path}: no line of it is a decision record; "
            "give the file that the controller's configuration names as records.path"
        )
    return decisions


async def _get(session: "aiohttp.ClientSession", url: str) -> dict[str, Any]:
    async with session.get(url) as response:
        body = await response.read()
        if response.status in (UNAUTHORIZED, FORBIDDEN):
            raise ReprieveError(f"no decision records from {url}: {_message(body) or response.reason}")
        response.raise_for_status()
        document: dict[str, Any] = msgspec.json.decode(body)
        return document


def _message(body: bytes) -> str:
    """The reason a controller gives for a refusal; empty if something else answers there."""
    with suppress(msgspec.MsgspecError):
        return str(msgspec.json.decode(body, type=dict[str, str]).get("message", ""))
    return ""


async def _readable(
    client: Client, wanted: Resource, namespace: str, not_shown: list[str], only_there: bool = False
) -> list[Document]:
    """All of a kind; if that is forbidden, those of the target's namespace; if that is too, none.

    Everything that is forbidden is added to `not_shown`.
    """
    resource = await client.served(wanted)
    if resource is None:
        return []
    scopes = ("", namespace) if resource.namespaced and namespace else ("",)
    for scope in scopes[1:] if only_there else scopes:
        try:
            items = (await client.listing(resource.raw(), scope)).items
        except ApiError as error:
            if error.code != FORBIDDEN:
                raise
            where = (
                f"{resource.plural} in namespace {scope}"
                if scope
                else f"{resource.plural} of the whole cluster"
            )
            not_shown.append(f"{where}: you may not list them")
        else:
            return [{"apiVersion": resource.api_version, "kind": resource.kind, **item} for item in items]
    return []


async def _visible(
    client: Client, decisions: list[Mapping[str, Any]], not_shown: list[str]
) -> list[Mapping[str, Any]]:
    namespaces = sorted({name for decision in decisions for name in namespaces_of(decision)})
    allowed = await asyncio.gather(*(_may_read(client, namespace) for namespace in namespaces))
    hidden = {namespace for namespace, yes in zip(namespaces, allowed, strict=True) if not yes}
    if hidden:
        where = "1 namespace" if len(hidden) == 1 else f"{len(hidden)} namespaces"
        not_shown.append(f"decisions about pods in {where}: you may not read pods there")
    return [without(decision, hidden) for decision in decisions]


async def _may_read(client: Client, namespace: str) -> bool:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"namespace": namespace, "verb": "list", "resource": "pods"}},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = msgspec.json.encode(review)
    answer = msgspec.json.decode(
        await client.request("POST", path, body=body, content_type="application/json")
    )
    return bool((answer.get("status") or {}).get("allowed"))
