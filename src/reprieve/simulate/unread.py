"""What manifests of a cluster say and no simulation reads."""

from collections.abc import Iterable

from reprieve.objects import Document, Source, well_known
from reprieve.whatif import Reading, take_notes

_QUEUES = ("AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology", "Workload")
USED = frozenset(
    {
        *(("", kind) for kind in ("Namespace", "Node", "Pod")),
        ("policy", "PodDisruptionBudget"),
        (well_known.SCHEDULING_API, "PriorityClass"),
        *((well_known.KUEUE_API, kind) for kind in _QUEUES),
    }
)
"""Kinds that count; those that count only sometimes have notes of their own."""


def unread(objects: Iterable[Document | Source]) -> tuple[str, ...]:
    """Notes about what people wrote: kinds that are ignored, and unknown fields."""
    written = [each for each in objects if isinstance(each, Source)]
    if not written:
        return ()
    return take_notes(written, Reading(USED, "jobs are what --trace gives"), may_be_empty=True).sentences
