"""The few fields of metadata that caches need, from a typed view and from a raw document alike."""

from typing import Any


def key_of(object: Any) -> tuple[str, str]:
    """(namespace, name)."""
    if isinstance(object, dict):
        metadata = object.get("metadata") or {}
        return metadata.get("namespace", ""), metadata.get("name", "")
    return object.metadata.namespace, object.metadata.name


def uid_of(object: Any) -> str:
    if isinstance(object, dict):
        uid: str = (object.get("metadata") or {}).get("uid", "")
        return uid
    typed: str = object.metadata.uid
    return typed


def revision_of(object: Any) -> str:
    if isinstance(object, dict):
        revision: str = (object.get("metadata") or {}).get("resourceVersion", "")
        return revision
    typed: str = object.metadata.resource_version
    return typed
