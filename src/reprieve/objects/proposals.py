"""Spellings that only a proposal or an early version of an API used, turned into today's in place.

Where an object says the same thing in two places and the two differ, the older spelling stays where it is:
`contradictions` finds it, and validation refuses the object. Nothing is chosen in silence.
"""

from collections.abc import Callable, Iterator
from typing import Any

from reprieve.objects.meta import Document

_MODES = {"Pod": "single", "Single": "single", "PodGroup": "all", "All": "all"}
_MODE_PLACES = (
    ("preemptionMode",),
    ("schedulingPolicy", "disruptionMode"),
    ("schedulingPolicy", "preemptionMode"),
    ("schedulingPolicy", "gang", "disruptionMode"),
    ("schedulingPolicy", "gang", "preemptionMode"),
    ("schedulingPolicy", "basic", "disruptionMode"),
    ("schedulingPolicy", "basic", "preemptionMode"),
)
"""Where KEP-5710 put the disruption mode of a group, besides `disruptionMode` itself."""
PREEMPTION_CLASS_FIELD = "preemptionPriorityClassName"
_OLDER_FUNGIBILITY = (("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt"))
Key = tuple[str, str]
OLD_POD_LINK = (
    "is the spelling of Kubernetes 1.35, which nobody reads any more: "
    "name a PodGroup in spec.schedulingGroup.podGroupName"
)
"""About `spec.workloadRef` of a pod."""


def modernise(document: Document, key: Key) -> None:
    """Today's spelling, whatever version the document says it is. Most kinds have no other."""
    rewrite = _REWRITES.get(key)
    if rewrite is not None:
        rewrite(document)


def contradictions(document: Document, key: Key) -> Iterator[tuple[str, Any, str]]:
    """(path, value, sentence) of each older spelling that says something else than today's field."""
    if key == ("scheduling.k8s.io", "PodGroup"):
        yield from _mode_contradictions(_section(document, "spec"), "spec")
    elif key == ("scheduling.k8s.io", "Workload"):
        for path, template in _templates(_section(document, "spec"), "spec"):
            yield from _mode_contradictions(template, path)
    elif key == ("kueue.x-k8s.io", "ClusterQueue"):
        inner = _section(document, "spec", "preemption").get("flavorFungibility")
        if inner is not None:
            yield (
                "spec.preemption.flavorFungibility",
                inner,
                "says something else than spec.flavorFungibility: keep one of the two",
            )
    elif key == ("kueue.x-k8s.io", "Workload"):
        for index, gate in enumerate(_sections(document, "status", "preemptionGates")):
            if "state" in gate:
                message = f"says something else than position, which is {gate.get('position')!r}"
                yield f"status.preemptionGates[{index}].state", gate["state"], message


def _mode_contradictions(spec: Document, path: str) -> Iterator[tuple[str, Any, str]]:
    for place in _MODE_PLACES:
        section = _section(spec, *place[:-1])
        if place[-1] in section:
            message = f"says something else than {path}.disruptionMode: keep one of the two"
            yield ".".join((path, *place)), section[place[-1]], message


def _pod_group(document: Document) -> None:
    spec = _section(document, "spec")
    _group_fields(spec)
    _template_reference(spec)


def _template_reference(spec: Document) -> None:
    """Kubernetes 1.36 named the template as `podGroupTemplateRef.workload`."""
    workload = _section(spec, "podGroupTemplateRef", "workload")
    if set(workload) == {"workloadName", "podGroupTemplateName"}:
        reference = {
            "workloadName": workload["workloadName"],
            "templateName": workload["podGroupTemplateName"],
        }
        if spec.setdefault("workloadRef", reference) == reference:
            del spec["podGroupTemplateRef"]


def _scheduling_workload(document: Document) -> None:
    """The first draft gives the priorities once for the whole Workload; today every template carries them."""
    spec = _section(document, "spec")
    names = ("priorityClassName", "priority", PREEMPTION_CLASS_FIELD)
    shared = {name: spec.pop(name) for name in names if name in spec}
    for _, template in _templates(spec, "spec"):
        _group_fields(template)
        for name, value in shared.items():
            template.setdefault(name, value)


def _templates(section: Document, path: str) -> Iterator[tuple[str, Document]]:
    """All templates with their paths, those of composite groups and what is inside them included."""
    for index, template in enumerate(_sections(section, "podGroupTemplates")):
        yield f"{path}.podGroupTemplates[{index}]", template
    for index, template in enumerate(_sections(section, "compositePodGroupTemplates")):
        below = f"{path}.compositePodGroupTemplates[{index}]"
        yield below, template
        yield from _templates(template, below)


def _group_fields(spec: Document) -> None:
    if "disruptionMode" in spec:
        spec["disruptionMode"] = _mode(spec["disruptionMode"])
    for place in _MODE_PLACES:
        section = _section(spec, *place[:-1])
        if place[-1] in section:
            mode = _mode(section[place[-1]])
            if spec.setdefault("disruptionMode", mode) == mode:
                del section[place[-1]]


def _mode(value: Any) -> Any:
    return {_MODES[value]: {}} if isinstance(value, str) and value in _MODES else value


def _cluster_queue(document: Document) -> None:
    """KEP-582 put `flavorFungibility` into `preemption`, and spelled its values differently."""
    spec = _section(document, "spec")
    preemption = _section(spec, "preemption")
    for fungibility in (_section(preemption, "flavorFungibility"), _section(spec, "flavorFungibility")):
        for field, old in _OLDER_FUNGIBILITY:
            if fungibility.get(field) == old:
                fungibility[field] = "MayStopSearch"
    inner = preemption.get("flavorFungibility")
    if isinstance(inner, dict) and spec.setdefault("flavorFungibility", inner) == inner:
        del preemption["flavorFungibility"]


def _kueue_workload(document: Document) -> None:
    """KEP-8303 called the position of a preemption gate its state."""
    for gate in _sections(document, "status", "preemptionGates"):
        if "state" in gate and gate.setdefault("position", gate["state"]) == gate["state"]:
            del gate["state"]


def _section(document: Document, *path: str) -> Document:
    """A nested object, or a new empty one that is not part of the document."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _sections(document: Document, *path: str) -> list[Document]:
    found = _section(document, *path[:-1]).get(path[-1])
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


_REWRITES: dict[Key, Callable[[Document], None]] = {
    ("scheduling.k8s.io", "PodGroup"): _pod_group,
    ("scheduling.k8s.io", "Workload"): _scheduling_workload,
    ("kueue.x-k8s.io", "ClusterQueue"): _cluster_queue,
    ("kueue.x-k8s.io", "Workload"): _kueue_workload,
}
