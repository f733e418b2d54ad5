"""The `scale` subresource: one number of a workload, in the shape of autoscaling/v1 Scale."""

from typing import Any

import msgspec

from reprieve.objects import LabelSelector
from reprieve.server.errors import bad_request, internal, invalid, invalid_value
from reprieve.server.registry import Document, ResourceInfo, ScalePaths


def read_scale(resource: ResourceInfo, document: Document) -> Document:
    paths = resource.scale_paths or ScalePaths()
    meta = document["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Document = {"replicas": _number(_at(document, paths.status_replicas_path))}
    selector = _selector(resource, document, paths)
    if selector:
        status["selector"] = selector
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": _number(_at(document, paths.spec_replicas_path))},
        "status": status,
    }


def write_scale(resource: ResourceInfo, document: Document, scale: Document) -> None:
    """Set the number of replicas of the workload."""
    spec = scale.get("spec")
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request(
            'Scale in version "v1" cannot be handled as a Scale: spec.replicas: expected an integer'
        )
    if replicas < 0:
        cause = invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
        raise invalid("autoscaling", "Scale", document["metadata"]["name"], [cause])
    *parents, last = _parts((resource.scale_paths or ScalePaths()).spec_replicas_path)
    for part in parents:
        document = document.setdefault(part, {})
        if not isinstance(document, dict):
            raise internal(f"{resource.kind} has no object at {part}")
    document[last] = replicas


def _parts(path: str) -> list[str]:
    return [part for part in path.split(".") if part]


def _at(document: Any, path: str) -> Any:
    for part in _parts(path):
        document = document.get(part) if isinstance(document, dict) else None
    return document


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _selector(resource: ResourceInfo, document: Document, paths: ScalePaths) -> str:
    if resource.custom:
        found = _at(document, paths.label_selector_path) if paths.label_selector_path else ""
        return found if isinstance(found, str) else ""
    selector = _at(document, ".spec.selector")
    if resource.kind == "ReplicationController":
        return ",".join(f"{k}={v}" for k, v in sorted((selector or {}).items()))
    try:
        return format_selector(msgspec.convert(selector or {}, LabelSelector))
    except msgspec.ValidationError:
        return ""


def format_selector(selector: LabelSelector) -> str:
    """The query-string form of a label selector."""
    terms = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    for requirement in selector.match_expressions:
        values = "(" + ",".join(sorted(requirement.values)) + ")"
        forms = {
            "In": f"{requirement.key} in {values}",
            "NotIn": f"{requirement.key} notin {values}",
            "Exists": requirement.key,
            "DoesNotExist": f"!{requirement.key}",
        }
        terms.append(forms.get(requirement.operator, ""))
    return ",".join(term for term in terms if term)
