"""What a RuntimeClass adds to the pods that name it: overhead, a node selector, tolerations.

An API server writes that into a pod when it is created. A template has not been through that.
"""

from typing import NamedTuple

import msgspec

from reprieve.objects.core import PodSpec, ResourceList, Toleration
from reprieve.objects.meta import Document


class RuntimeClass(NamedTuple):
    overhead: ResourceList
    node_selector: dict[str, str]
    tolerations: tuple[Toleration, ...]

    @classmethod
    def read(cls, document: Document) -> "RuntimeClass":
        scheduling = document.get("scheduling") or {}
        return cls(
            msgspec.convert((document.get("overhead") or {}).get("podFixed") or {}, ResourceList),
            msgspec.convert(scheduling.get("nodeSelector") or {}, dict[str, str]),
            msgspec.convert(scheduling.get("tolerations") or (), tuple[Toleration, ...]),
        )

    def complete(self, spec: PodSpec) -> PodSpec:
        """The spec with what the class adds; as it is if that has been done."""
        if spec.overhead:
            return spec
        tolerations = [each for each in self.tolerations if each not in spec.tolerations]
        return msgspec.structs.replace(
            spec,
            overhead=self.overhead,
            node_selector={**spec.node_selector, **self.node_selector},
            tolerations=(*spec.tolerations, *tolerations),
        )
