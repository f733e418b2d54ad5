"""Specs of pods that were admitted before need no second look.

Bulk creation sends the same spec thousands of times. Defaulting and validation of a spec depend on nothing
but the spec, a few members of the metadata and the priority classes, so the outcome is remembered by these.
Only what was admitted is kept, never a refusal.
"""

from typing import NamedTuple

import msgspec

from reprieve.objects import CHECKED_ANNOTATIONS, Document, well_known
from reprieve.server.storage.records import encode

_READ = (well_known.PREEMPTION_CLASS_ANNOTATION, *CHECKED_ANNOTATIONS)
_CAPACITY = 2048
_LARGEST_KEY = 8192


class AdmittedSpec(NamedTuple):
    """Encoded already: encoding a document with these inside copies the bytes."""

    spec: msgspec.Raw
    status: msgspec.Raw


class AdmittedSpecs:
    def __init__(self) -> None:
        self._specs: dict[bytes, AdmittedSpec] = {}
        self._generation = -1

    def key(self, document: Document, generation: int) -> bytes:
        if generation != self._generation:
            self._specs.clear()
            self._generation = generation
        metadata = document["metadata"]
        notes = metadata.get("annotations") or {}
        read = [notes.get(name) for name in _READ] if notes else None
        group = metadata.get("labels", {}).get(well_known.POD_GROUP_LABEL)
        return encode([read, group, document.get("spec")])

    def reuse(self, key: bytes, document: Document) -> bool:
        """Give the document the spec and status that an equal spec got before, if any.

        They are encoded bytes: the document can only be stored then, not read.
        """
        known = self._specs.get(key)
        if known is None:
            return False
        document["spec"] = known.spec
        document["status"] = known.status
        return True

    def keep(self, key: bytes, document: Document) -> None:
        """Remember an admitted pod, unless it is large or its status carries the time of its admission."""
        if "conditions" in document["status"] or len(key) > _LARGEST_KEY:
            return
        if len(self._specs) >= _CAPACITY:
            del self._specs[next(iter(self._specs))]
        self._specs[key] = AdmittedSpec(
            msgspec.Raw(encode(document["spec"])), msgspec.Raw(encode(document["status"]))
        )
