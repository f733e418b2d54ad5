"""Kueue's older version on the way out: what `objects.normalise` renames on the way in, renamed back.

Without it a client of v1beta1 would read a field under a name it does not know, send its own name beside
it, and lose its change.
"""

from typing import Any

from reprieve.objects import Document, well_known


def to_v1beta1(document: Document) -> Document:
    """Changes and returns the document."""
    change = _CHANGES.get(document.get("kind", ""))
    if change is not None:
        change(_section(document, "spec"), _section(document, "status"))
    return document


def _section(document: Document, name: str) -> Document:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _move(section: Document, old: str, new: str) -> None:
    if old in section:
        section[new] = section.pop(old)


def _cluster_queue(spec: Document, status: Document) -> None:
    del status
    _move(spec, "cohortName", "cohort")


def _local_queue(spec: Document, status: Document) -> None:
    del spec
    _move(status, "flavorsUsage", "flavorUsage")


def _workload(spec: Document, status: Document) -> None:
    reference: Any = spec.get("priorityClassRef")
    if isinstance(reference, dict) and reference.get("group") in well_known.PRIORITY_CLASS_SOURCES:
        del spec["priorityClassRef"]
        spec["priorityClassName"] = reference.get("name", "")
        spec["priorityClassSource"] = well_known.PRIORITY_CLASS_SOURCES[reference["group"]]
    _move(status, "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds")


def _multikueue_cluster(spec: Document, status: Document) -> None:
    del status
    source = spec.get("clusterSource")
    if isinstance(source, dict):
        del spec["clusterSource"]
        spec.update(source)


_CHANGES = {
    "ClusterQueue": _cluster_queue,
    "LocalQueue": _local_queue,
    "Workload": _workload,
    "MultiKueueCluster": _multikueue_cluster,
}
