"""Config maps, secrets, leases."""

import base64
import binascii
import re

from reprieve.objects import Document
from reprieve.server.documents import at
from reprieve.server.errors import Cause, forbidden_field, invalid_value, required

_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
"""Keys that a secret of a type must have."""


def validate_config_map(new: Document, old: Document | None) -> list[Cause]:
    data, raw = new.get("data"), new.get("binaryData")
    causes = _validate_strings(data, "data") + _validate_strings(raw, "binaryData")
    if not causes:
        causes = _validate_keys(data, "data") + _validate_keys(raw, "binaryData")
        causes += [
            invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData")
            for key in data or {}
            if key in (raw or {})
        ]
        causes += _validate_base64(raw, "binaryData")
    return causes + _validate_frozen(new, old)


def validate_secret(new: Document, old: Document | None) -> list[Cause]:
    data = new.get("data")
    causes = _validate_strings(data, "data") + _validate_frozen(new, old)
    if not causes:
        causes = _validate_keys(data, "data") + _validate_base64(data, "data")
        causes += [
            required(f"data[{key}]")
            for key in _NEEDED.get(new.get("type", ""), ())
            if key not in (data or {})
        ]
    if old is not None and new.get("type") != old.get("type"):
        causes.append(invalid_value("type", new.get("type"), "field is immutable"))
    return causes


def _validate_strings(data: object, path: str) -> list[Cause]:
    if data is None:
        return []
    if not isinstance(data, dict):
        return [invalid_value(path, type(data).__name__, "must be a map of strings")]
    return [
        invalid_value(f"{path}[{key}]", value, "must be a string")
        for key, value in data.items()
        if not isinstance(value, str)
    ]


def _validate_keys(data: Document | None, path: str) -> list[Cause]:
    return [
        invalid_value(f"{path}[{key}]", key, "must consist of letters, digits, '-', '_' or '.'")
        for key in data or {}
        if not _KEY.fullmatch(key) or key in (".", "..")
    ]


def _validate_base64(data: Document | None, path: str) -> list[Cause]:
    return [
        invalid_value(f"{path}[{key}]", "<redacted>", "must be base64")
        for key, value in (data or {}).items()
        if not _is_base64(value)
    ]


def _validate_frozen(new: Document, old: Document | None) -> list[Cause]:
    if old is None or old.get("immutable") is not True:
        return []
    return [
        forbidden_field(field, "field is immutable when `immutable` is set")
        for field in ("data", "binaryData", "immutable")
        if new.get(field) != old.get(field)
    ]


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def validate_lease(new: Document, old: Document | None) -> list[Cause]:
    del old
    duration = at(new, "spec", "leaseDurationSeconds")
    causes = []
    if duration is not None and (not isinstance(duration, int) or duration <= 0):
        causes.append(invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    transitions = at(new, "spec", "leaseTransitions")
    if isinstance(transitions, int) and transitions < 0:
        problem = "must be greater than or equal to 0"
        causes.append(invalid_value("spec.leaseTransitions", transitions, problem))
    return causes
