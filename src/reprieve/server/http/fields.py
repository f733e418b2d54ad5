"""`fieldValidation`: what to do about fields that no schema knows."""

from reprieve.server.errors import bad_request, invalid, not_supported
from reprieve.server.metadata import unknown_metadata
from reprieve.server.registry import Document, ResourceInfo
from reprieve.server.schema import unknown_fields

_CHOICES = ("Ignore", "Warn", "Strict")


def check_fields(resource: ResourceInfo, document: Document, mode: str) -> list[str]:
    """Warnings, one for each unknown field (at most ten); in strict mode a refusal instead."""
    mode = mode or "Warn"
    if mode not in _CHOICES:
        cause = not_supported("fieldValidation", mode, _CHOICES)
        raise invalid("meta.k8s.io", "CreateOptions", "", [cause])
    if mode == "Ignore":
        return []
    found = resource.unknown(document) if resource.unknown is not None else unknown_fields(resource, document)
    found = list(dict.fromkeys([*found, *unknown_metadata(document)]))
    problems = [f'unknown field "{path}"' for path in found]
    if problems and mode == "Strict":
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {', '.join(problems)}"
        )
    return problems[:10]
