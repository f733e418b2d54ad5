"""What an answer does not use, and says so: kinds that it does not read, fields that nobody reads."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from reprieve.jobs import has_pod_template
from reprieve.objects import (
    Document,
    Ignored,
    ReprieveError,
    Source,
    doubts,
    given,
    ignored,
    ignored_sentence,
    some,
    unknown_fields,
    well_known,
)

_TOPOLOGY = re.compile(r"kueue\.x-k8s\.io/podset-.*topology.*")
STORAGE_KINDS = ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment")
_DEVICE_KINDS = ("DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
NODE_KINDS = frozenset(
    {
        *(("", kind) for kind in ("Pod", "Node", "Namespace", "Service", "ReplicationController")),
        *(("", kind) for kind in ("PersistentVolume", "PersistentVolumeClaim")),
        *((well_known.STORAGE_API, kind) for kind in STORAGE_KINDS),
        *(("apps", kind) for kind in ("ReplicaSet", "StatefulSet")),
        ("", "LimitRange"),
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
_MAKES_PODS = "it makes pods, which are not planned: describe it under jobs.kinds of the configuration"
_SCALED = "the replicas that are written count"
_WHY_ANYWHERE = {("reprieve.dev", "ReprieveConfiguration"): "it is heeded where --config names it"}
_WHY = {
    **_WHY_ANYWHERE,
    ("", "ResourceQuota"): "a server refuses pods beyond it; that is not counted",
    ("apps", "DaemonSet"): "the part of each node that its pods take is not counted: give its pods",
    ("autoscaling", "HorizontalPodAutoscaler"): _SCALED,
    ("keda.sh", "ScaledObject"): _SCALED,
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"): "the requests that are written count",
    ("karpenter.sh", "NodePool"): "nodes that could be added are not counted",
}
"""What it means for a plan of nodes."""
_MOST_NAMED = 3


class Notes(NamedTuple):
    ignored: tuple[Ignored, ...]
    unknown: list[str]
    """Fields, with their places."""
    doubtful: Sequence[str] = ()
    """What hardly anybody means, with its places."""
    missing: tuple[str, ...] = ()
    """Sentences about what the objects refer to and what is not among them."""

    @property
    def sentences(self) -> tuple[str, ...]:
        found = [*self.missing]
        if self.ignored:
            found.append(f"Note: {ignored_sentence(self.ignored)}.")
        if self.unknown:
            found.append(f"Warning: fields that nobody reads: {some(self.unknown, _MOST_NAMED)}")
        if self.doubtful:
            found.append(f"Warning: {some(self.doubtful, _MOST_NAMED)}.")
        return tuple(found)


def waits_for_quota(queue: str, annotations: Iterable[str] = ()) -> str:
    """Of a job or pod that a plan of nodes is made for; `annotations` are those of its pods."""
    text = f"Note: it waits for quota in queue {queue} first; `reprieve admit` says whether it gets it."
    heeded = sorted({each for each in annotations if _TOPOLOGY.fullmatch(each)})
    return f"{text} {some(heeded, _MOST_NAMED)} is heeded there, not here." if heeded else text


def take_notes(
    objects: Iterable[Document | Source],
    used: frozenset[tuple[str, str]],
    jobs: Iterable[Document] = (),
    reasons: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Notes:
    """About what was given, `jobs` that are planned apart. Raises if none of it can be used.

    `reasons`: by API version and kind, why those that are left are not used, where the caller knows it.
    """
    everything, planned = list(objects), [*map(id, jobs)]
    sources = given(everything)
    others = [each for each in sources if id(each.document) not in planned]
    left = tuple(
        msgspec.structs.replace(each, why=reasons.get((each.api_version, each.kind), each.why))
        for each in _explained(ignored(others, used, _INSTEAD[used]), others, used)
    )
    if sources and sum(each.count for each in left) == len(sources):
        raise ReprieveError(f"nothing that was given can be used here; {ignored_sentence(left)}")
    # Programs hand over what they have read from somewhere; people write files.
    written = any(isinstance(each, Source) for each in everything)
    if not written:
        return Notes(left, [])
    return Notes(left, unknown_fields(sources), doubts(sources))


def _explained(
    left: Iterable[Ignored], sources: Iterable[Source], used: frozenset[tuple[str, str]]
) -> tuple[Ignored, ...]:
    """With what it means for the answer that a kind is not read, where it means anything."""
    found = list(left)
    strange = {(each.api_version, each.kind) for each in found if not each.why}
    makers = {
        kind
        for each in (sources if strange else ())
        if (kind := _kind(each.document)) in strange and has_pod_template(each.document)
    }
    reasons = _WHY if used is NODE_KINDS else _WHY_ANYWHERE

    def why(each: Ignored) -> str:
        known = reasons.get((each.api_version.rpartition("/")[0], each.kind), each.why)
        return known or (_MAKES_PODS if (each.api_version, each.kind) in makers else "")

    return tuple(msgspec.structs.replace(each, why=why(each)) for each in found)


def _kind(document: Document) -> tuple[str, str]:
    return str(document.get("apiVersion")), str(document.get("kind"))
