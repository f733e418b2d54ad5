"""What this server would refuse, asked without a server: for `reprieve validate`."""

from functools import cache

from reprieve.objects import Document, Problem, on_write, without_nulls
from reprieve.server.registry import ResourceInfo
from reprieve.server.resources import builtin_resources
from reprieve.server.validation import RULES


def refusals(document: Document) -> list[Problem]:
    """Of a new object whose fields and types are right, the rules that only the server has, in its words."""
    resource = _resources().get((str(document.get("apiVersion")), str(document.get("kind"))))
    rule = RULES.get(resource.storage_key) if resource is not None else None
    if resource is None or rule is None:
        return []
    stored = resource.to_storage(without_nulls(document))
    stored["apiVersion"] = resource.storage_api_version
    on_write(stored)
    return [Problem(cause.field, None, cause.message, cause.reason) for cause in rule(stored, None)]


@cache
def _resources() -> dict[tuple[str, str], ResourceInfo]:
    return {(each.api_version, each.kind): each for each in builtin_resources()}
