"""OpenAPI documents of what the server serves, from the same schemas that validate, patch and apply.

Good enough for `kubectl explain` (types and descriptions), for its check whether the server validates fields
(the `fieldValidation` parameter of each PATCH) and for client-side apply (patch strategies). Not a full
description: responses and most parameters are left out. Pure functions; the caller caches.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from reprieve.objects import Document
from reprieve.server.openapi.components import REFERENCE, Components
from reprieve.server.registry import ResourceInfo

INFO = {"title": "Kubernetes", "version": "reprieve"}
_WRITE_PARAMETERS = {
    "dryRun": "All: check everything, store nothing.",
    "fieldManager": "Who makes the change.",
    "fieldValidation": "Ignore, Warn or Strict: what to do about unknown fields.",
}
_COLLECTION_VERBS = {
    "get": ("list", "list"),
    "post": ("create", "post"),
    "delete": ("deletecollection", "deletecollection"),
}
_ITEM_VERBS = {
    "get": ("get", "get"),
    "put": ("update", "put"),
    "patch": ("patch", "patch"),
    "delete": ("delete", "delete"),
}


def v3_document(group_version: str, resources: Iterable[ResourceInfo]) -> Document | None:
    """The document of `v1` or `batch/v1`; None when nothing is served there."""
    served = [r for r in resources if r.api_version == group_version]
    if not served:
        return None
    components = Components()
    paths: Document = {}
    for resource in served:
        paths.update(_paths_of(resource, components.add_kind(resource)))
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


# -- paths: the kind, and which query parameters a write takes -----------------------------------------------


def _paths_of(resource: ResourceInfo, component: str) -> Document:
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    collection = f"{root}{scope}/{resource.plural}"
    item = collection + "/{name}"
    paths: Document = {collection: _operations(resource, component, _COLLECTION_VERBS)}
    if "get" in resource.verbs:
        operations = _operations(resource, component, _ITEM_VERBS)
        paths[item] = operations
        for subresource in sorted(resource.subresources & {"status", "scale"}):
            paths[f"{item}/{subresource}"] = {
                method: operations[method] for method in ("get", "put", "patch") if method in operations
            }
    if resource.namespaced and "list" in resource.verbs:
        listing = _operations(resource, component, {"get": ("list", "list")})
        paths[f"{root}/{resource.plural}"] = listing
    return {path: operations for path, operations in paths.items() if operations}


def _operations(resource: ResourceInfo, component: str, verbs: dict[str, tuple[str, str]]) -> Document:
    return {
        method: _operation(resource, component, method, action)
        for method, (verb, action) in verbs.items()
        if verb in resource.verbs
    }


def _operation(resource: ResourceInfo, component: str, method: str, action: str) -> Document:
    reference = {"$ref": REFERENCE + component}
    answer = {"description": "OK", "content": {"application/json": {"schema": reference}}}
    operation: Document = {
        "responses": {"200": answer},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {
            "group": resource.group,
            "kind": resource.kind,
            "version": resource.version,
        },
    }
    if method in ("post", "put", "patch"):
        operation["parameters"] = [
            {"name": name, "in": "query", "description": text, "schema": {"type": "string"}}
            for name, text in _WRITE_PARAMETERS.items()
        ]
    return operation


__all__ = ["v3_document", "v3_index"]
