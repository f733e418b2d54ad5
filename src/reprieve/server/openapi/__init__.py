"""OpenAPI documents of what the server serves, from the same schemas that validate, patch and apply.

Good enough for `kubectl explain` (types and descriptions), for its question whether the server validates fields
(the `fieldValidation` parameter of each PATCH), for client-side apply (patch strategies) and for old client-side
validation (version 2). Not a full description: responses and most parameters are left out. Pure functions; the caller
caches.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from reprieve.server.openapi import gnostic
from reprieve.server.openapi.components import V2, V3, Components
from reprieve.server.openapi.paths import paths_of
from reprieve.server.registry import ResourceInfo

Document = dict[str, Any]
INFO = {"title": "Kubernetes", "version": "reprieve"}


def v2_document(resources: Iterable[ResourceInfo]) -> Document:
    served = list(resources)
    components = Components(V2)
    paths: Document = {}
    for resource in served:
        paths.update(paths_of(resource, components.add_kind(resource), V2))
    return {"swagger": "2.0", "info": INFO, "paths": paths, "definitions": components.schemas}


def v2_protobuf(resources: Iterable[ResourceInfo]) -> bytes:
    return gnostic.encode(v2_document(resources))


def v3_document(group_version: str, resources: Iterable[ResourceInfo]) -> Document | None:
    """The document of `v1` or `batch/v1`; None when nothing is served there."""
    served = [r for r in resources if r.api_version == group_version]
    if not served:
        return None
    components = Components(V3)
    paths: Document = {}
    for resource in served:
        paths.update(paths_of(resource, components.add_kind(resource), V3))
    return {
        "openapi": "3.0.0",
        "info": INFO,
        "paths": paths,
        "components": {"schemas": components.schemas},
    }


def v3_index(resources: Iterable[ResourceInfo]) -> Document:
    """Where each group and version is described; the hash lets clients cache until something changes."""
    served = list(resources)
    paths: Document = {}
    for group_version in dict.fromkeys(r.api_version for r in served):
        where = f"apis/{group_version}" if "/" in group_version else f"api/{group_version}"
        mark = _fingerprint(r for r in served if r.api_version == group_version)
        paths[where] = {"serverRelativeURL": f"/openapi/v3/{where}?hash={mark}"}
    return {"paths": paths}


def _fingerprint(resources: Iterable[ResourceInfo]) -> str:
    described = [[r.plural, r.kind, r.namespaced, sorted(r.subresources), r.schema] for r in resources]
    return hashlib.sha256(msgspec.json.encode(described)).hexdigest()[:32].upper()


__all__ = ["v2_document", "v2_protobuf", "v3_document", "v3_index"]
