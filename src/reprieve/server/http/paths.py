"""What a request is for, read from its method, path and query, as kube-apiserver's RequestInfo."""

from urllib.parse import parse_qsl, unquote

import msgspec

_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_NAMESPACE_SUBRESOURCES = ("status", "finalize")
READING = frozenset({"get", "list", "watch"})


class Target(msgspec.Struct, frozen=True):
    """The parts of a request for a resource; empty strings for what the path does not name."""

    verb: str
    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def segments(path: str) -> list[str]:
    parts = path.split("/")
    return [unquote(part) if "%" in part else part for part in parts if part]


def read_query(text: str) -> dict[str, str]:
    """The first value of each parameter, as Go's `Values.Get` gives it."""
    result: dict[str, str] = {}
    for key, value in parse_qsl(text, keep_blank_values=True, max_num_fields=100):
        result.setdefault(key, value)
    return result


def is_true(query: dict[str, str], name: str) -> bool:
    return query.get(name, "").lower() in ("1", "true", "t", "yes")


def read_target(method: str, parts: list[str], query: dict[str, str]) -> Target | None:
    """None: not a path under a group version."""
    if len(parts) >= 3 and parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    if rest[0] == "watch" and len(rest) > 1 and method == "GET":
        rest, query["watch"] = rest[1:], "1"  # the path that watches had before they had a parameter
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= 3 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    if len(rest) > 3:
        return None
    resource, name, subresource = [*rest, "", ""][:3]
    verb = _VERBS.get(method, "")
    if not name:
        verb = {"get": "watch" if is_true(query, "watch") else "list", "delete": "deletecollection"}.get(
            verb, verb
        )
    elif verb == "get" and is_true(query, "watch") and not subresource:
        verb = "watch"
    return Target(verb, group, version, resource, namespace, name, subresource)
