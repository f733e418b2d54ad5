"""What an answer does not use, and says so: kinds that it does not read, fields that nobody reads."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from reprieve.jobs import has_pod_template
from reprieve.objects import (
    Document,
    Ignored,
    Reference,
    ReprieveError,
    Source,
    document_of,
    doubts,
    given,
    ignored,
    kind_key,
    owners_of,
    unknown_fields,
    well_known,
)
from reprieve.whatif import sentences

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
        ("", "ResourceQuota"),
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
_KUEUE_WORKLOAD = (well_known.KUEUE_API, "Workload")
_WHY_ANYWHERE = {("reprieve.dev", "ReprieveConfiguration"): sentences.CONFIGURATION_NAMED}
_WHY = {
    **_WHY_ANYWHERE,
    ("apps", "DaemonSet"): sentences.DAEMON_SET_NOT_COUNTED,
    ("autoscaling", "HorizontalPodAutoscaler"): sentences.REPLICAS_COUNT,
    ("keda.sh", "ScaledObject"): sentences.REPLICAS_COUNT,
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"): sentences.REQUESTS_COUNT,
    ("karpenter.sh", "NodePool"): sentences.NODE_POOL_NOT_COUNTED,
}
"""What it means for a plan of nodes."""


class Reading(NamedTuple):
    """What a command reads of what it is given."""

    kinds: Collection[tuple[str, str]]
    instead: str = ""
    """What to give in place of something that makes pods."""
    reasons: Mapping[tuple[str, str], str] = _WHY_ANYWHERE
    """By group and kind, what it means for the answer that objects are not read."""

    def of_jobs(self, jobs: Iterable[tuple[str, str]]) -> "Reading":
        """The same, and these kinds of jobs."""
        return self._replace(kinds={*self.kinds, *jobs}, instead="")


NODES = Reading(NODE_KINDS, sentences.NOT_PLANNED, _WHY)
QUOTA = Reading(QUOTA_KINDS, sentences.NO_WORKLOAD)
BOTH = Reading(NODE_KINDS | QUOTA_KINDS, sentences.NOT_PLANNED, _WHY)


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
            found.append(sentences.ignored_objects(self.ignored))
        if self.unknown:
            found.append(sentences.fields_nobody_reads(self.unknown))
        if self.doubtful:
            found.append(sentences.doubtful(self.doubtful))
        return tuple(found)


def waits_for_quota(queue: str, annotations: Iterable[str] = ()) -> str:
    """Of a job or pod that a plan of nodes is made for; `annotations` are those of its pods."""
    heeded = sorted({each for each in annotations if _TOPOLOGY.fullmatch(each)})
    return sentences.waits_for_quota(queue, heeded)


def take_notes(
    objects: Iterable[Document | Source],
    reading: Reading,
    jobs: Iterable[Document] = (),
    reasons: Mapping[tuple[str, str], str] = MappingProxyType({}),
    *,
    may_be_empty: bool = False,
) -> Notes:
    """About what was given, `jobs` that are planned apart. Raises if none of it can be used, unless it
    `may_be_empty`.

    `reasons`: by API version and kind, why those that are left are not used, where the caller knows it.
    """
    everything, planned = list(objects), [*map(id, jobs)]
    sources = given(everything)
    others = [each for each in sources if id(each.document) not in planned]
    if any(kind_key(each.document) not in reading.kinds for each in others):
        # A job whose pods are among the objects is there with its pods.
        made = {owner for each in everything for owner in owners_of(document_of(each))}
        others = [each for each in others if Reference.read(each.document) not in made]
    left = tuple(
        msgspec.structs.replace(each, why=reasons.get((each.api_version, each.kind), each.why))
        for each in _explained(ignored(others, reading.kinds, reading.instead), others, reading)
    )
    if sources and not may_be_empty and sum(each.count for each in left) == len(sources):
        raise ReprieveError(sentences.nothing_can_be_used(left))
    # Programs hand over what they have read from somewhere; people write files.
    written = any(isinstance(each, Source) for each in everything)
    if not written:
        return Notes(left, [])
    return Notes(left, unknown_fields(sources), doubts(sources))


def _explained(left: Iterable[Ignored], sources: Iterable[Source], reading: Reading) -> tuple[Ignored, ...]:
    """With what it means for the answer that a kind is not read, where it means anything."""
    found = list(left)
    strange = {(each.api_version, each.kind) for each in found if not each.why}
    makers = {
        kind
        for each in (sources if strange else ())
        if (kind := _kind(each.document)) in strange
        and kind_key(each.document) != _KUEUE_WORKLOAD
        and has_pod_template(each.document)
    }

    def why(each: Ignored) -> str:
        known = reading.reasons.get((each.api_version.rpartition("/")[0], each.kind), each.why)
        return known or (sentences.MAKES_PODS if (each.api_version, each.kind) in makers else "")

    return tuple(msgspec.structs.replace(each, why=why(each)) for each in found)


def _kind(document: Document) -> tuple[str, str]:
    return str(document.get("apiVersion")), str(document.get("kind"))
