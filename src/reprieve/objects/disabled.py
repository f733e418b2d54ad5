"""Fields behind feature gates that are off: dropped from new objects, kept where they are stored already.

As a real API server does it. So turning a gate off and on again loses nothing that was there, and what came
in the meantime has the meaning it would have had before the feature existed.
"""

from collections.abc import Callable
from typing import Any

from reprieve.objects.meta import Document

_GROUP = (
    ("schedulingConstraints", "TopologyAwareWorkloadScheduling"),
    ("preemptionPolicy", "PodGroupPreemptionPolicy"),
    ("disruptionMode", "WorkloadAwarePreemption"),
    ("preemptionPriorityClassName", "WorkloadAwarePreemption"),
)
_POD = (("schedulingGroup", "GenericWorkload"),)
DROPPED = frozenset(gate for _, gate in (*_GROUP, *_POD))
"""The gates whose fields are dropped."""
Gate = Callable[[str], bool]


def drop_disabled(document: Document, old: Document | None, key: tuple[str, str], gate: Gate) -> None:
    """Changes the document in place; `old` is what is stored."""
    spec, before = document.get("spec"), (old or {}).get("spec")
    if key == ("", "Pod"):
        _drop(spec, before, _POD, gate)
    elif key == ("scheduling.k8s.io", "PodGroup"):
        _drop(spec, before, _GROUP, gate)
    elif key == ("scheduling.k8s.io", "Workload"):
        stored = {each.get("name"): each for each in _templates(before)}
        for template in _templates(spec):
            _drop(template, stored.get(template.get("name")), _GROUP, gate)


def _drop(section: Any, stored: Any, fields: tuple[tuple[str, str], ...], gate: Gate) -> None:
    if not isinstance(section, dict):
        return
    for field, needed in fields:
        in_use = isinstance(stored, dict) and field in stored
        if field in section and not gate(needed) and not in_use:
            del section[field]


def _templates(spec: Any) -> list[Document]:
    found = spec.get("podGroupTemplates") if isinstance(spec, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
