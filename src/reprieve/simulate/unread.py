"""What manifests of a cluster say and no simulation reads."""

from collections.abc import Iterable

from reprieve.objects import (
    Document,
    Source,
    given,
    ignored,
    ignored_sentence,
    some,
    unknown_fields,
    well_known,
)

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
MOST_NAMED = 3


def unread(objects: Iterable[Document | Source]) -> tuple[str, ...]:
    """Notes about what people wrote: kinds that are ignored, and fields that nobody reads."""
    written = [each for each in objects if isinstance(each, Source)]
    sources = given(written) if written else []
    notes = []
    if left := ignored(sources, USED, "jobs are what --trace gives"):
        notes.append(ignored_sentence(left))
    if strange := unknown_fields(sources):
        notes.append(f"fields that nobody reads ({some(strange, MOST_NAMED)})")
    return tuple(notes)
