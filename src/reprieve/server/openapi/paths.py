"""The paths of a resource, with what clients look for in them: the kind, and which query parameters a write takes."""

from typing import Any

from reprieve.server.openapi.components import V2, Dialect
from reprieve.server.registry import ResourceInfo

Document = dict[str, Any]

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


def paths_of(resource: ResourceInfo, component: str, dialect: Dialect) -> Document:
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    collection = f"{root}{scope}/{resource.plural}"
    item = collection + "/{name}"
    paths: Document = {collection: _operations(resource, component, dialect, _COLLECTION_VERBS)}
    if "get" in resource.verbs:
        operations = _operations(resource, component, dialect, _ITEM_VERBS)
        paths[item] = operations
        for subresource in sorted(resource.subresources & {"status", "scale"}):
            paths[f"{item}/{subresource}"] = {
                method: operations[method] for method in ("get", "put", "patch") if method in operations
            }
    if resource.namespaced and "list" in resource.verbs:
        listing = _operations(resource, component, dialect, {"get": ("list", "list")})
        paths[f"{root}/{resource.plural}"] = listing
    return {path: operations for path, operations in paths.items() if operations}


def _operations(
    resource: ResourceInfo, component: str, dialect: Dialect, verbs: dict[str, tuple[str, str]]
) -> Document:
    return {
        method: _operation(resource, component, dialect, method, action)
        for method, (verb, action) in verbs.items()
        if verb in resource.verbs
    }


def _operation(
    resource: ResourceInfo, component: str, dialect: Dialect, method: str, action: str
) -> Document:
    reference = {"$ref": dialect.prefix + component}
    answer: Document = {"description": "OK"}
    if dialect is V2:
        answer["schema"] = reference
    else:
        answer["content"] = {"application/json": {"schema": reference}}
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
            _parameter(name, text, dialect) for name, text in _WRITE_PARAMETERS.items()
        ]
    return operation


def _parameter(name: str, description: str, dialect: Dialect) -> Document:
    parameter: Document = {"name": name, "in": "query", "description": description}
    return parameter | ({"type": "string"} if dialect is V2 else {"schema": {"type": "string"}})
