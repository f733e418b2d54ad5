"""What people should know about an object that they just wrote: sentences that kubectl prints.

An object that nobody acts on, or a part of one, is stored, so that a chart can be applied, and its author is
told.
"""

from typing import Any

from reprieve.objects import Document
from reprieve.server.documents import at, items
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Record

_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_TELLING = (b'"x-kubernetes-validations"', b'"Webhook"')
"""Words without which a definition needs no sentence: to decode a large one takes long."""


def warnings_about(resource: ResourceInfo, record: Record, created: bool) -> list[str]:
    if resource.storage_key == _DEFINITIONS:
        told = any(word in record.raw for word in _TELLING)
        return _about_definition(record.object) if told else []
    return [f"{resource.kind}: {resource.inert}"] if resource.inert and created else []


def _about_definition(definition: Document) -> list[str]:
    found = []
    for version in items(definition, "spec", "versions"):
        path = _first_rule(at(version, "schema", "openAPIV3Schema", default={}))
        if path is not None:
            found.append(
                f"spec.versions[{version.get('name')}]{path}.x-kubernetes-validations: stored, but this "
                "server does not evaluate CEL: objects that break a rule are accepted"
            )
    if at(definition, "spec", "conversion", "strategy") == "Webhook":
        found.append("spec.conversion.webhook: stored, but this server calls none: nothing is converted")
    return found


def _first_rule(root: Any) -> str | None:
    """The path of the first schema with rules, "" for the root itself; None when there is none."""
    waiting = [("", root)]
    while waiting:
        path, schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        if schema.get("x-kubernetes-validations"):
            return path
        inside = schema.get("properties")
        if isinstance(inside, dict):
            waiting += [(f"{path}.{name}", each) for name, each in inside.items()]
        waiting += [(f"{path}[*]", schema.get("items")), (f"{path}.*", schema.get("additionalProperties"))]
    return None
