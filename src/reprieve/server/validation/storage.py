"""Volumes and claims: what kube-apiserver refuses of what we store."""

from reprieve.objects import Document
from reprieve.server.documents import at
from reprieve.server.errors import Cause, forbidden_field, not_supported, required

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_NO_SOURCES = {
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
}  # fmt: skip
"""Fields of a volume's spec that do not say where it is."""
_CLAIM_MAY_CHANGE = {"resources", "volumeAttributesClassName", "volumeName"}


def validate_claim(new: Document, old: Document | None) -> list[Cause]:
    causes = _access_modes(new)
    if at(new, "spec", "resources", "requests", "storage") is None:
        causes.append(required("spec.resources[storage]"))
    if old is not None and _fixed(new) != _fixed(old) and _fixed(new) != _with_class(old, new):
        causes.append(
            forbidden_field(
                "spec", "spec is immutable after creation except resources.requests of bound claims"
            )
        )
    return causes


def _with_class(claim: Document, chosen: Document) -> Document | None:
    """A claim that names no class may get one later: the default class."""
    if at(claim, "spec", "storageClassName") is not None:
        return None
    return {**_fixed(claim), "storageClassName": at(chosen, "spec", "storageClassName")}


def _fixed(claim: Document) -> Document:
    return {key: value for key, value in (at(claim, "spec") or {}).items() if key not in _CLAIM_MAY_CHANGE}


def _access_modes(document: Document) -> list[Cause]:
    modes = at(document, "spec", "accessModes") or []
    if not modes:
        return [required("spec.accessModes", "at least 1 access mode is required")]
    return [not_supported("spec.accessModes", m, _ACCESS_MODES) for m in modes if m not in _ACCESS_MODES]


def validate_volume(new: Document, old: Document | None) -> list[Cause]:
    causes = _access_modes(new)
    if at(new, "spec", "capacity", "storage") is None:
        causes.append(required("spec.capacity"))
    spec = at(new, "spec") or {}
    sources = sorted(key for key in spec if key not in _NO_SOURCES)
    if not sources:
        causes.append(required("spec", "must specify a volume type"))
    causes += [
        forbidden_field(f"spec.{source}", "may not specify more than 1 volume type") for source in sources[1:]
    ]
    before = at(old, "spec") or {}
    if old is not None and {key: spec[key] for key in sources} != {
        key: value for key, value in before.items() if key not in _NO_SOURCES
    }:
        causes.append(forbidden_field("spec.persistentvolumesource", "is immutable after creation"))
    return causes
