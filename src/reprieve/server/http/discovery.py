"""Documents about the server itself: `/api`, `/apis`, group versions, aggregated discovery, OpenAPI, version.

Built once for each state of the registry.
"""

from typing import Any

from reprieve.server import openapi
from reprieve.server.http.negotiation import JSON
from reprieve.server.http.rendering import encode
from reprieve.server.registry import SUBRESOURCES, Registry, ResourceInfo

VERSION = {
    "major": "1",
    "minor": "37",
    "gitVersion": "v1.37.0+reprieve",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2026-11-15T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "linux/amd64",
}
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_V2_IN_PROTOBUF = "application/com.github.proto-openapi.spec.v2%sv1.0+protobuf"
"""Go clients accept it with an @, which Go cannot parse in a Content-Type, so that the answer has a dot. The
document is empty: kubectl asks for it only about kinds that version 3 does not have, and finds none here."""
_ROOT_PATHS = [
    "/api",
    "/api/v1",
    "/apis",
    "/healthz",
    "/livez",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/version",
]

Answer = tuple[bytes, str]


class PublishedDocuments:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._cache: dict[tuple[str, ...], Answer | None] = {}
        self._generation = registry.generation

    def find(self, parts: list[str], accept: str, host: str) -> Answer | None:
        """Body and content type, or None when there is no such document."""
        if self._generation != self._registry.generation:
            self._cache.clear()
            self._generation = self._registry.generation
        if parts == ["openapi", "v2"] and _V2_IN_PROTOBUF % "@" in accept:
            return b"", _V2_IN_PROTOBUF % "."
        wants_all = _wants_aggregated(accept)
        if parts == ["api"] and not wants_all:
            return encode(api_versions(host)), JSON
        key = ("aggregated" if wants_all else "", *parts)
        if key not in self._cache:
            if len(self._cache) > 1000:
                self._cache.clear()
            self._cache[key] = self._build(parts, wants_all)
        return self._cache[key]

    def _build(self, parts: list[str], wants_all: bool) -> Answer | None:
        if not parts:
            groups = [f"/apis/{g}" for g in self._registry.groups()]
            return encode({"paths": sorted([*_ROOT_PATHS, *groups])}), JSON
        if parts[0] == "openapi":
            return self._openapi(parts[1:])
        if parts == ["version"]:
            return encode(VERSION), JSON
        if wants_all and parts in (["api"], ["apis"]):
            return encode(aggregated(self._registry, parts == ["api"])), AGGREGATED
        document = self._discovery(parts)
        return (encode(document), JSON) if document is not None else None

    def _discovery(self, parts: list[str]) -> dict[str, Any] | None:
        registry = self._registry
        if parts[0] == "api" and len(parts) == 2:
            return resource_list(registry, "", parts[1])
        if parts[0] != "apis":
            return None
        if len(parts) == 1:
            return group_list(registry)
        if len(parts) == 2:
            return group(registry, parts[1])
        return resource_list(registry, parts[1], parts[2]) if len(parts) == 3 else None

    def _openapi(self, parts: list[str]) -> Answer | None:
        resources = list(self._registry)
        if parts == ["v3"]:
            return encode(openapi.v3_index(resources)), JSON
        if len(parts) >= 3 and parts[0] == "v3":
            name = "/".join(parts[2:])
            document = openapi.v3_document(name, resources)
            return (encode(document), JSON) if document is not None else None
        return None


def _wants_aggregated(accept: str) -> bool:
    return "as=APIGroupDiscoveryList" in accept and "v=v2;" in accept.replace(" ", "") + ";"


def api_versions(address: str) -> dict[str, Any]:
    servers = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": servers}


def group_list(registry: Registry) -> dict[str, Any]:
    groups = [_group(registry, group) for group in registry.groups()]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(registry: Registry, name: str) -> dict[str, Any] | None:
    if name not in registry.groups():
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(registry, name)}


def _group(registry: Registry, name: str) -> dict[str, Any]:
    versions = [{"groupVersion": f"{name}/{v}", "version": v} for v in registry.versions(name)]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(registry: Registry, group: str, version: str) -> dict[str, Any] | None:
    resources = registry.in_version(group, version)
    if not resources:
        return None
    entries = [entry for resource in resources for entry in _entries(resource)]
    group_version = f"{group}/{version}" if group else version
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": sorted(entries, key=lambda entry: str(entry["name"])),
    }


def _entries(resource: ResourceInfo) -> list[dict[str, Any]]:
    entry: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": sorted(resource.verbs),
    }
    entries = [entry | _aliases(resource)]
    for name in sorted(resource.subresources):
        verbs, group, version, kind = SUBRESOURCES[name]
        sub: dict[str, Any] = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
        }
        if kind and (group, version) != (resource.group, resource.version):
            sub |= {"group": group, "version": version}
        entries.append(sub | {"kind": kind or resource.kind, "verbs": list(verbs)})
    return entries


def _aliases(resource: ResourceInfo) -> dict[str, Any]:
    aliases = {"shortNames": list(resource.short_names), "categories": list(resource.categories)}
    return {key: names for key, names in aliases.items() if names}


def aggregated(registry: Registry, core: bool) -> dict[str, Any]:
    """apidiscovery.k8s.io/v2: everything in one answer."""
    groups = [""] if core else registry.groups()
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_aggregated_group(registry, name) for name in groups],
    }


def _aggregated_group(registry: Registry, name: str) -> dict[str, Any]:
    versions = [
        {
            "version": version,
            "resources": [_aggregated_resource(r) for r in registry.in_version(name, version)],
            "freshness": "Current",
        }
        for version in registry.versions(name)
    ]
    metadata: dict[str, Any] = {"creationTimestamp": None}
    if name:
        metadata["name"] = name
    return {"metadata": metadata, "versions": versions}


def _aggregated_resource(resource: ResourceInfo) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": sorted(resource.verbs),
    }
    entry |= _aliases(resource)
    subs = []
    for name in sorted(resource.subresources):
        verbs, group, version, kind = SUBRESOURCES[name]
        response = (
            {"group": group, "version": version, "kind": kind}
            if kind
            else {"group": resource.group, "version": resource.version, "kind": resource.kind}
        )
        subs.append({"subresource": name, "responseKind": response, "verbs": list(verbs)})
    if subs:
        entry["subresources"] = subs
    return entry
