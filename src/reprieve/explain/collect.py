"""Gathers evidence from an API server with the reader's own rights.

What the reader may not see is left out, and the answer says so. A controller's records cover every namespace,
so they are cut down to those in which the reader may list pods.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from reprieve.explain.evidence import Evidence
from reprieve.explain.redaction import namespaces_of, without
from reprieve.explain.sentences import answers
from reprieve.jobs import JobKinds
from reprieve.kube import (
    EVENTS,
    OWNER_KINDS,
    QUOTA_KINDS,
    SCHEDULER_KINDS,
    WORKLOADS,
    ApiError,
    Client,
    Resource,
    job_resources,
)
from reprieve.objects import Document, Reference
from reprieve.records import Run

FORBIDDEN = 403


async def from_cluster(
    client: Client,
    target: Reference,
    decisions: Iterable[Mapping[str, Any]] = (),
    runs: Iterable[Run] = (),
) -> Evidence:
    """Everything readable that the answer can depend on."""
    not_shown: list[str] = []
    objects: list[Document] = []
    for resource in SCHEDULER_KINDS + QUOTA_KINDS:
        objects += await _readable(client, resource, target.namespace, not_shown)
    partial = bool(not_shown)
    objects += await _jobs(client, target, not_shown, everywhere=not partial)
    events = await _readable(client, EVENTS, target.namespace, not_shown)
    shown = await _visible(client, list(decisions), not_shown)
    return Evidence(objects, events, shown, not_shown, partial, runs)


async def _jobs(
    client: Client, target: Reference, not_shown: list[str], *, everywhere: bool
) -> list[Document]:
    """What creates pods: those of the target; if somebody can look ahead, everybody's: how long they run."""
    own = [each for each in owner_resources(target.kind) if each not in SCHEDULER_KINDS]
    found: list[Document] = []
    hidden: list[str] = []
    for resource in _all_jobs(own) if everywhere else own:
        listed = await _listed(client, resource) if everywhere else None
        if listed is not None:
            found += listed
            continue
        if everywhere:
            hidden.append(resource.plural)
        if resource in own:
            found += await _readable(client, resource, target.namespace, not_shown, only_there=True)
    if hidden:
        not_shown.append(answers.may_not_list_jobs([*dict.fromkeys(hidden)]))
    return found


def _all_jobs(own: Iterable[Resource]) -> list[Resource]:
    """Those that forecasts read, and those of the target; each once, however it is described, and none that
    decisions read anyway."""
    found = (*job_resources(JobKinds()), WORKLOADS, *own)
    return [*{(each.group, each.plural): each for each in found if each not in SCHEDULER_KINDS}.values()]


def owner_resources(kind: str) -> list[Resource]:
    """What creates the pods of such a thing: itself, and what stands between it and them."""
    if kind in {resource.kind for resource in OWNER_KINDS}:
        return [*OWNER_KINDS]
    return job_resources(JobKinds().below(kind))


async def _readable(
    client: Client, resource: Resource, namespace: str, not_shown: list[str], *, only_there: bool = False
) -> list[Document]:
    """All of a kind; if that is forbidden, those of the target's namespace; if that is too, none.

    Everything that is forbidden is added to `not_shown`.
    """
    scopes = ("", namespace) if resource.namespaced and namespace else ("",)
    for scope in scopes[1:] if only_there else scopes:
        listed = await _listed(client, resource, scope)
        if listed is not None:
            return listed
        not_shown.append(answers.may_not_list(resource.plural, scope))
    return []


async def _listed(client: Client, wanted: Resource, namespace: str = "") -> list[Document] | None:
    """All of a kind, none where it is not served; None if that is forbidden."""
    resource = await client.served(wanted)
    if resource is None:
        return []
    try:
        items = (await client.listing(resource.raw(), namespace)).items
    except ApiError as error:
        if error.code != FORBIDDEN:
            raise
        return None
    return [{"apiVersion": resource.api_version, "kind": resource.kind, **item} for item in items]


async def _visible(
    client: Client, decisions: list[Mapping[str, Any]], not_shown: list[str]
) -> list[Mapping[str, Any]]:
    namespaces = sorted({name for decision in decisions for name in namespaces_of(decision)})
    allowed = await asyncio.gather(*(_may_read(client, namespace) for namespace in namespaces))
    hidden = {namespace for namespace, yes in zip(namespaces, allowed, strict=True) if not yes}
    if hidden:
        not_shown.append(answers.may_not_read_decisions(len(hidden)))
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
