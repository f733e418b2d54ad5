"""The part of JSONPath that Kubernetes allows in definitions: printer columns, scale paths.

    .spec.replicas   .metadata.labels['a.b/c']   .metadata.annotations.example\\.com/x
    .spec.hosts[0]   .spec.hosts[*]   .spec.hosts[-1]   .status.conditions[?(@.type=="Ready")].status
    .status.conditions[-1:].type   .spec.hosts[0:6:2]

No recursion, no unions. A path that finds nothing gives an empty list, never an error.
"""

import re
from collections.abc import Callable
from typing import Any

Step = Callable[[Any], list[Any]]


class InvalidPath(ValueError):
    """Not a path of the supported form."""


_TOKEN = re.compile(
    r"""
    \.(?P<name>(?:[^.\[\\]|\\.)+)
  | \[\s*'(?P<quoted>[^']*)'\s*\]
  | \[\s*"(?P<double>[^"]*)"\s*\]
  | \[\s*(?P<index>-?\d{1,18})\s*\]
  | \[\s*(?P<slice>-?\d{0,18}:-?\d{0,18}(?::(?:[1-9]\d{0,17})?)?)\s*\]
  | (?P<all>\[\s*\*\s*\])
  | \[\?\(\s*@(?P<where>[^=!<>]*?)\s*(?P<operator>==|!=)\s*(?P<value>"[^"]*"|'[^']*'|[^)\s]+)\s*\)\]
    """,
    re.VERBOSE,
)


class JsonPath:
    """A compiled path."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = _compile(text)

    def find(self, document: Any) -> list[Any]:
        values = [document]
        for step in self._steps:
            values = [found for value in values for found in step(value)]
        return [value for value in values if value is not None]


def _compile(text: str) -> list[Step]:
    body = text.strip()
    if body.startswith("{") and body.endswith("}"):
        body = body[1:-1]
    body = body.removeprefix("$")
    steps: list[Step] = []
    position = 0
    while position < len(body):
        match = _TOKEN.match(body, position)
        if match is None:
            raise InvalidPath(f"unsupported JSONPath {text!r} at {body[position:]!r}")
        steps.append(_step(match))
        position = match.end()
    return steps


def _step(match: re.Match[str]) -> Step:
    groups = match.groupdict()
    name = groups["quoted"] if groups["quoted"] is not None else groups["double"]
    if groups["name"] is not None:
        name = re.sub(r"\\(.)", r"\1", groups["name"])
    if name is not None:
        return _every if name == "*" else _key(name)
    if groups["index"] is not None:
        return _item(int(groups["index"]))
    if groups["slice"] is not None:
        return _slice(*(int(part) if part else None for part in groups["slice"].split(":")))
    if groups["all"] is not None:
        return _every
    return _filter(JsonPath(groups["where"]), groups["operator"] == "==", _literal(groups["value"]))


def _key(name: str) -> Step:
    return lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _item(index: int) -> Step:
    def step(value: Any) -> list[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            return [value[index]]
        return []

    return step


def _slice(start: int | None, end: int | None, step: int | None = None) -> Step:
    """As client-go has it: a bound outside the list finds nothing, where Python would take what is there."""

    def found(value: Any) -> list[Any]:
        if not isinstance(value, list):
            return []
        size = len(value)
        first, last = start or 0, size if end is None else end
        first, last = (bound + size if bound < 0 else bound for bound in (first, last))
        inside = 0 <= first < size and 0 <= last <= size
        return value[first : last : step or 1] if inside else []

    return found


def _every(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _filter(path: JsonPath, equal: bool, wanted: Any) -> Step:
    return lambda value: [v for v in _every(value) if bool(path.find(v) == [wanted]) is equal]


def _literal(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return text
