"""Differences between what one server answered and what another did, sorted by what they are about."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import yaml
from tools.fidelity.player import Answer
from tools.fidelity.talk import Exchange

KNOWN = Path(__file__).parent / "known.yaml"
MISSING = "<nothing>"
_KEYED = {"APIResourceList": "resources", "APIGroupList": "groups"}
"""Lists whose order means nothing, by the kind of the document; their items are found by name."""


class Difference(msgspec.Struct, frozen=True):
    scene: str
    say: str
    about: str
    """status, errors, warnings, tables, apply, watches; and by what was done: defaults, reads, patches,
    deletions.
    """
    path: str
    real: Any
    ours: Any

    @property
    def place(self) -> str:
        """What a pattern of `known.yaml` must match."""
        return f"{self.scene}: {self.say}: {self.path}"

    def __str__(self) -> str:
        return f"{self.place}: {_shown(self.real)} there, {_shown(self.ours)} here"


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Differences that are known, and why they are there."""

    why: str
    at: tuple[str, ...]
    """Shell patterns of `scene: what was said: path`."""

    def covers(self, difference: Difference) -> bool:
        return any(fnmatchcase(difference.place, pattern) for pattern in self.at)


def known() -> list[Known]:
    return msgspec.convert(yaml.safe_load(KNOWN.read_text(encoding="utf-8")) or [], list[Known])


def differences(scene: str, exchange: Exchange, real: Answer, ours: Answer) -> Iterator[Difference]:
    """An answer with another code, or of another kind, is one difference, whatever it says."""
    if real.code != ours.code:
        said = {"real": _said(real), "ours": _said(ours)}
        yield Difference(scene, exchange.say, "status", "code", said["real"], said["ours"])
        return
    if _kind(real) != _kind(ours):
        pairs: list[tuple[str, Any, Any]] = [("kind", _kind(real), _kind(ours))]
    else:
        pairs = list(_walk("", _keyed(real.body), _keyed(ours.body)))
    if real.warnings != ours.warnings:
        pairs.append(("warnings", real.warnings, ours.warnings))
    for path, there, here in pairs:
        yield Difference(scene, exchange.say, _about(exchange, real, path), path, there, here)


def _kind(answer: Answer) -> str:
    return answer.body.get("kind", "") if isinstance(answer.body, dict) else type(answer.body).__name__


def _said(answer: Answer) -> str:
    body = answer.body if isinstance(answer.body, dict) else {}
    return f"{answer.code} {body.get('reason') or body.get('kind') or answer.body}"


def _about(exchange: Exchange, answer: Answer, path: str) -> str:
    body, kind = answer.body, _kind(answer)
    if path == "warnings":
        return "warnings"
    if kind == "Status" and body.get("status") == "Failure":
        return "errors"
    if "managedFields" in path:
        return "apply"
    if kind == "Table":
        return "tables"
    if exchange.events:
        return "watches"
    return {"PATCH": "patches", "POST": "defaults", "DELETE": "deletions"}.get(exchange.method, "reads")


def _keyed(body: Any) -> Any:
    """Causes of a refusal are sorted: kube-apiserver itself lists them in another order every time."""
    if (
        isinstance(body, dict)
        and body.get("status") == "Failure"
        and (body.get("details") or {}).get("causes")
    ):
        causes = sorted(body["details"]["causes"], key=lambda each: (each.get("field", ""), each["reason"]))
        return {**body, "details": {**body["details"], "causes": causes}}
    field = _KEYED.get(body.get("kind", "")) if isinstance(body, dict) else None
    return body if field is None else {**body, field: {item["name"]: item for item in body[field]}}


def _walk(path: str, real: Any, ours: Any) -> Iterator[tuple[str, Any, Any]]:
    """Paths at which they differ, as deep as they have the same shape."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in sorted({*real, *ours}):
            yield from _walk(f"{path}.{key}" if path else key, real.get(key, MISSING), ours.get(key, MISSING))
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for index, (there, here) in enumerate(zip(real, ours, strict=True)):
            yield from _walk(f"{path}.{index}" if path else str(index), there, here)
    elif real != ours:
        yield path or "body", real, ours


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 160 else f"{text[:157]}..."
