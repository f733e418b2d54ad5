"""What an answer does not use, and says so: kinds that it does not read, fields that nobody reads."""

from collections.abc import Iterable
from typing import NamedTuple

from reprieve.objects import (
    Document,
    Ignored,
    ReprieveError,
    Source,
    given,
    ignored,
    ignored_sentence,
    some,
    unknown_fields,
    well_known,
)

STORAGE_KINDS = ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment")
_DEVICE_KINDS = ("DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
NODE_KINDS = frozenset(
    {
        *(("", kind) for kind in ("Pod", "Node", "Namespace", "Service", "ReplicationController")),
        *(("", kind) for kind in ("PersistentVolume", "PersistentVolumeClaim")),
        *((well_known.STORAGE_API, kind) for kind in STORAGE_KINDS),
        *(("apps", kind) for kind in ("ReplicaSet", "StatefulSet")),
        ("node.k8s.io", "RuntimeClass"),
        ("policy", "PodDisruptionBudget"),
        (well_known.SCHEDULING_API, "PriorityClass"),
        (well_known.SCHEDULING_API, "PodGroup"),
        (well_known.SCHEDULING_API, "Workload"),
        (well_known.SCHEDULING_API, "CompositePodGroup"),
        *(("resource.k8s.io", kind) for kind in _DEVICE_KINDS),
    }
)
"""What a plan of nodes reads. Of services and controllers only the selectors, for spreading."""
QUOTA_KINDS = frozenset(
    {
        ("", "Namespace"),
        ("", "LimitRange"),
        ("", "Node"),
        ("", "Pod"),
        ("node.k8s.io", "RuntimeClass"),
        ("resource.k8s.io", "ResourceClaimTemplate"),
        (well_known.SCHEDULING_API, "PriorityClass"),
        *(
            (well_known.KUEUE_API, kind)
            for kind in (
                "AdmissionCheck",
                "ClusterQueue",
                "Cohort",
                "LocalQueue",
                "ResourceFlavor",
                "Topology",
                "Workload",
                "WorkloadPriorityClass",
            )
        ),
    }
)
NO_WORKLOAD = "not turned into a Workload: give the Workload"
_INSTEAD = {
    NODE_KINDS: "not planned: name it with --for, or give its pods",
    QUOTA_KINDS: NO_WORKLOAD,
}
_MOST_NAMED = 3


class Notes(NamedTuple):
    ignored: tuple[Ignored, ...]
    unknown: list[str]
    """Fields, with their places."""
    missing: tuple[str, ...] = ()
    """Sentences about what the objects refer to and what is not among them."""

    @property
    def sentences(self) -> tuple[str, ...]:
        found = [*self.missing]
        if self.ignored:
            found.append(f"Note: {ignored_sentence(self.ignored)}.")
        if self.unknown:
            found.append(f"Warning: fields that nobody reads: {some(self.unknown, _MOST_NAMED)}")
        return tuple(found)


def waits_for_quota(queue: str) -> str:
    """Of a job or pod that a plan of nodes is made for."""
    return f"Note: it waits for quota in queue {queue} first; `reprieve admit` says whether it gets it."


def take_notes(
    objects: Iterable[Document | Source], used: frozenset[tuple[str, str]], jobs: Iterable[Document] = ()
) -> Notes:
    """About what was given, `jobs` that are planned apart. Raises if none of it can be used."""
    everything, planned = list(objects), [*map(id, jobs)]
    sources = given(everything)
    others = [each for each in sources if id(each.document) not in planned]
    left = ignored(others, used, _INSTEAD[used])
    if sources and sum(each.count for each in left) == len(sources):
        raise ReprieveError(f"nothing that was given can be used here; {ignored_sentence(left)}")
    # Programs hand over what they have read from somewhere; people write files.
    written = any(isinstance(each, Source) for each in everything)
    return Notes(left, unknown_fields(sources) if written else [])
