"""One object as it is written in the cluster, and what was said about it: YAML and events.

Read when a viewer asks, with the rights the page has anyway: everything is a list of one. Values of
environment variables are left out: people keep secrets there.
"""

import asyncio
from typing import Any

import msgspec

from reprieve.jobs import JobKinds
from reprieve.kube import (
    CLUSTER_QUEUES,
    COHORTS,
    COMPOSITE_POD_GROUPS,
    EVENTS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    NODES,
    OWNER_KINDS,
    POD_GROUPS,
    PODS,
    ApiError,
    Client,
    Resource,
    TransportError,
    job_resources,
)
from reprieve.objects import Document, ReprieveError, format_yaml

KINDS = {
    each.kind: each
    for each in (
        PODS,
        NODES,
        POD_GROUPS,
        COMPOSITE_POD_GROUPS,
        KUEUE_WORKLOADS,
        CLUSTER_QUEUES,
        LOCAL_QUEUES,
        COHORTS,
        MULTIKUEUE_CLUSTERS,
    )
}
MOST_EVENTS = 100
MOST_BYTES = 256 << 10
HIDDEN = "(not shown)"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Documents:
    def __init__(self, client: Client, jobs: JobKinds | None = None) -> None:
        """`jobs`: the kinds that create pods."""
        self._client = client
        known = (*OWNER_KINDS, *job_resources(jobs or JobKinds()))
        # Of kinds with one name (Jobs of Kubernetes and of Volcano) the first one listed is meant.
        creators = {each.kind: each for each in reversed(known)}
        self._kinds = {**creators, **KINDS}

    async def __call__(self, name: str) -> dict[str, Any]:
        """`yaml` and `events`, newest first."""
        kind, _, key = name.partition("/")
        namespace, _, plain = key.rpartition("/")
        if not plain or "," in key or "=" in key:
            raise ReprieveError(f"{name!r} is no name; write KIND/NAMESPACE/NAME")
        try:
            yaml = await self._yaml(kind, namespace, plain)
            return {"yaml": yaml, "events": await self._events(kind, namespace, plain)}
        except (ApiError, TransportError) as error:
            raise ReprieveError(str(error)) from error

    async def _yaml(self, kind: str, namespace: str, name: str) -> str:
        """Empty when it is not there, or of a kind that the page does not read."""
        if kind not in self._kinds:
            return ""
        for document in await self._listed(self._kinds[kind], namespace, f"metadata.name={name}"):
            head = {"apiVersion": self._kinds[kind].api_version, "kind": kind}
            return await asyncio.to_thread(_written, {**head, **document})
        return ""

    async def _events(self, kind: str, namespace: str, name: str) -> list[dict[str, Any]]:
        selector = f"regarding.kind={kind},regarding.name={name}"
        found = await self._listed(EVENTS, namespace or "default", selector)
        events = sorted((_event(each) for each in found), key=lambda event: event["time"], reverse=True)
        return events[:MOST_EVENTS]

    async def _listed(self, wanted: Resource, namespace: str, fields: str) -> list[Document]:
        resource = await self._client.served(wanted)
        if resource is None:
            return []
        items = (await self._client.listing(resource, namespace, fields=fields, decode=bytes)).items
        return [msgspec.json.decode(item) for item in items if len(item) < MOST_BYTES]


def _written(document: Document) -> str:
    metadata = document.get("metadata") or {}
    metadata.pop("managedFields", None)
    (metadata.get("annotations") or {}).pop(LAST_APPLIED, None)  # the same once more, with all its values
    return format_yaml([_without_values(document)])


def _without_values(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_values(each) for each in value]
    if not isinstance(value, dict):
        return value
    shown = {key: _without_values(each) for key, each in value.items()}
    for variable in shown.get("env") or () if isinstance(shown.get("env"), list) else ():
        if isinstance(variable, dict) and "value" in variable:
            variable["value"] = HIDDEN
    return shown


def _event(event: Document) -> dict[str, Any]:
    series = event.get("series") or {}
    time = series.get("lastObservedTime") or event.get("eventTime") or event.get("deprecatedLastTimestamp")
    metadata = event.get("metadata") or {}
    return {
        "time": time or metadata.get("creationTimestamp") or "",
        "type": event.get("type", ""),
        "reason": event.get("reason", ""),
        "note": event.get("note", ""),
        "count": series.get("count") or event.get("deprecatedCount") or 1,
        "by": event.get("reportingController") or (event.get("deprecatedSource") or {}).get("component", ""),
    }
