"""Documents about the server itself: discovery, OpenAPI, version. Built once for each state of the registry."""

from typing import Any

from reprieve.server import openapi
from reprieve.server.http import discovery
from reprieve.server.http.negotiation import JSON
from reprieve.server.http.rendering import encode
from reprieve.server.registry import Registry

_OPENAPI_V2_ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_OPENAPI_V2_ANSWERED = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""Clients ask with an @, which Go refuses to read in a Content-Type; kubectl up to 1.27 gives up on such an answer."""
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
        form = (
            "aggregated" if _wants_aggregated(accept) else "protobuf" if _OPENAPI_V2_ASKED in accept else ""
        )
        key = (form, *parts)
        if parts == ["api"] and not form:
            return encode(discovery.api_versions(host)), JSON
        if key not in self._cache:
            if len(self._cache) > 1000:
                self._cache.clear()
            self._cache[key] = self._build(parts, form)
        return self._cache[key]

    def _build(self, parts: list[str], form: str) -> Answer | None:
        if not parts:
            groups = [f"/apis/{g}" for g in self._registry.groups()]
            return encode({"paths": sorted([*_ROOT_PATHS, *groups])}), JSON
        if parts[0] == "openapi":
            return self._openapi(parts[1:], form)
        if parts == ["version"]:
            return encode(discovery.VERSION), JSON
        if form == "aggregated" and parts in (["api"], ["apis"]):
            return encode(discovery.aggregated(self._registry, parts == ["api"])), discovery.AGGREGATED
        document = self._discovery(parts)
        return (encode(document), JSON) if document is not None else None

    def _discovery(self, parts: list[str]) -> dict[str, Any] | None:
        registry = self._registry
        if parts[0] == "api" and len(parts) == 2:
            return discovery.resource_list(registry, "", parts[1])
        if parts[0] != "apis":
            return None
        if len(parts) == 1:
            return discovery.group_list(registry)
        if len(parts) == 2:
            return discovery.group(registry, parts[1])
        return discovery.resource_list(registry, parts[1], parts[2]) if len(parts) == 3 else None

    def _openapi(self, parts: list[str], form: str) -> Answer | None:
        resources = list(self._registry)
        if parts == ["v2"]:
            if form == "protobuf":
                return openapi.v2_protobuf(resources), _OPENAPI_V2_ANSWERED
            return encode(openapi.v2_document(resources)), JSON
        if parts == ["v3"]:
            return encode(openapi.v3_index(resources)), JSON
        if len(parts) >= 3 and parts[0] == "v3":
            name = "/".join(parts[2:])
            document = openapi.v3_document(name, resources)
            return (encode(document), JSON) if document is not None else None
        return None


def _wants_aggregated(accept: str) -> bool:
    return "as=APIGroupDiscoveryList" in accept and "v=v2;" in accept.replace(" ", "") + ";"
