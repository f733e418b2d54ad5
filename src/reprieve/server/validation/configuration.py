"""Config maps, secrets, leases."""

import base64
import binascii

from reprieve.objects import Document
from reprieve.server.documents import at
from reprieve.server.errors import Cause, forbidden_field, invalid_value


def validate_config_map(new: Document, old: Document | None) -> list[Cause]:
    return _validate_strings(new.get("data"), "data") + _validate_frozen(new, old)


def validate_secret(new: Document, old: Document | None) -> list[Cause]:
    causes = _validate_strings(new.get("data"), "data") + _validate_frozen(new, old)
    data = new.get("data")
    if not causes and isinstance(data, dict):
        causes += [
            invalid_value(f"data[{key}]", "<redacted>", "must be base64")
            for key, value in data.items()
            if not _is_base64(value)
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
    if duration is not None and (not isinstance(duration, int) or duration <= 0):
        return [invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0")]
    return []
