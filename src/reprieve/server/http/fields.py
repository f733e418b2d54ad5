"""`fieldValidation`: what to do about fields that no schema knows."""

from reprieve.server.errors import bad_request, invalid, not_supported
from reprieve.server.metadata import unknown_metadata
from reprieve.server.registry import Document, ResourceInfo
from reprieve.server.schema import unknown_fields
from reprieve.server.storage.records import encode

_REMEMBERED = 2048
_LARGEST_REMEMBERED = 8192
_CHOICES = ("Ignore", "Warn", "Strict")


def check_fields(resource: ResourceInfo, document: Document, mode: str) -> list[str]:
    """Warnings, one for each unknown field (at most ten); in strict mode a refusal instead."""
    mode = mode or "Warn"
    if mode not in _CHOICES:
        cause = not_supported("fieldValidation", mode, _CHOICES)
        raise invalid("meta.k8s.io", "CreateOptions", "", [cause])
    if mode == "Ignore":
        return []
    found = resource.unknown(document) if resource.unknown is not None else _unknown(resource, document)
    found = list(dict.fromkeys([*found, *unknown_metadata(document)]))
    problems = [f'unknown field "{path}"' for path in found]
    if problems and mode == "Strict":
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {', '.join(problems)}"
        )
    return problems[:10]


def _unknown(resource: ResourceInfo, document: Document) -> list[str]:
    """Bulk creation repeats its specs: one that has been looked through is not looked through again."""
    spec = document.get("spec")
    if not isinstance(spec, dict):
        return unknown_fields(resource, document)
    key = (resource.api_version, resource.kind, encode(spec))
    if key not in _known_specs:
        found = unknown_fields(resource, {"spec": spec})
        if found:
            return unknown_fields(resource, document)
        if len(key[2]) <= _LARGEST_REMEMBERED:
            if len(_known_specs) >= _REMEMBERED:
                del _known_specs[next(iter(_known_specs))]
            _known_specs[key] = None
    return unknown_fields(resource, {k: v for k, v in document.items() if k != "spec"})


_known_specs: dict[tuple[str, str, bytes], None] = {}
