"""Keys that a JSON body has twice, which strict decoding refuses: the last one would win without a word.

Looked for only when a request asks for field validation, as kubectl does: reading a body a second time costs.
YAML that says a thing twice is never read.
"""

import json
from typing import Any

_MOST = 10


class _Object(dict[str, Any]):
    """An object with the keys that came more than once."""

    repeated: tuple[str, ...] = ()


def duplicate_fields(body: bytes) -> list[str]:
    """One problem for each, in the words of Kubernetes, of a JSON body that was read before."""
    found: list[str] = []
    if body.lstrip()[:1] in (b"{", b"["):
        _walk(json.loads(body, object_pairs_hook=_object), "", found)
    return found[:_MOST]


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    result = _Object(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        result.repeated = tuple(
            dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        )
    return result


def _walk(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, _Object):
        prefix = f"{path}." if path else ""
        found += [f'duplicate field "{prefix}{key}"' for key in value.repeated]
        for key, each in value.items():
            if isinstance(each, _Object | list):
                _walk(each, f"{prefix}{key}", found)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            if isinstance(each, _Object | list):
                _walk(each, f"{path}[{index}]", found)
