"""scheduling.k8s.io: CompositePodGroup, and the trees of templates in a Workload."""

from collections.abc import Iterator

from reprieve.objects.structure import DUPLICATE, FORBIDDEN
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import (
    At,
    Problems,
    all_immutable,
    at_most_items,
    dns_label,
    exactly_one,
    int32,
    required,
    subdomain,
)
from reprieve.objects.validation.groups import (
    MOST_TEMPLATES,
    Gate,
    group_template,
    group_templates_update,
    shared_fields,
    templates_update,
    workload_reference,
)

LEVELS = 4
"""Composite templates on three levels, pod group templates down to the fourth."""
NO_CHILD = "must have at least one child PodGroupTemplate or CompositePodGroupTemplate"
TOO_DEEP = f"maximum template hierarchy depth is {LEVELS}"
PRIORITIES_DIFFER = "all priority and priorityClassName values must be identical, detected multiple values"

_FIXED_FIELDS = (
    "parentCompositePodGroupName",
    "workloadRef",
    "schedulingPolicy",
    "schedulingConstraints",
    "disruptionMode",
    "priorityClassName",
    "priority",
    "preemptionPolicy",
)
_FIXED_IN_TEMPLATE = tuple(name for name in _FIXED_FIELDS[2:])


def composite_pod_group(document: At, gate: Gate) -> Problems:
    spec = document.field("spec")
    if not gate("CompositePodGroup"):
        yield document.field("kind").problem("needs the feature gate CompositePodGroup", FORBIDDEN)
    yield from required(spec.field("workloadRef"))
    yield from workload_reference(spec.field("workloadRef"))
    yield from subdomain(spec.field("parentCompositePodGroupName"))
    yield from _composite_fields(spec, gate)


def composite_pod_group_update(new: At, old: At) -> Problems:
    """Nothing of the spec changes, not even `minGroupCount`."""
    yield from all_immutable(new.field("spec"), old.field("spec"), _FIXED_FIELDS)


def _composite_fields(spec: At, gate: Gate) -> Problems:
    policy = spec.field("schedulingPolicy")
    yield from exactly_one(policy, ("basic", "gang"))
    gang = policy.field("gang")
    if isinstance(gang.value, dict):
        if not gang.field("minGroupCount").is_set:
            yield from required(gang.field("minGroupCount"))
        yield from int32(gang.field("minGroupCount"), 1)
    yield from shared_fields(spec, gate)


def composite_templates(spec: At, gate: Gate, *, allow_basic_all: bool) -> Problems:
    """The trees of templates of a Workload."""
    templates = spec.field("compositePodGroupTemplates")
    if not gate("CompositePodGroup"):
        yield templates.problem("needs the feature gate CompositePodGroup", FORBIDDEN)
    for template in _all_composites(spec):
        yield from _template(template, gate, allow_basic_all=allow_basic_all)
    yield from at_most_items(templates, MOST_TEMPLATES)
    yield from _names(spec)
    for template in templates.items():
        if _depth(template) >= LEVELS:
            yield template.problem(TOO_DEEP)
    if len({_priority(each) for each in all_templates(spec)}) > 1:
        yield spec.problem(PRIORITIES_DIFFER)


def _template(template: At, gate: Gate, *, allow_basic_all: bool) -> Problems:
    yield from required(template.field("name"))
    yield from dns_label(template.field("name"))
    yield from _composite_fields(template, gate)
    groups, composites = template.field("podGroupTemplates"), template.field("compositePodGroupTemplates")
    for each in (groups, composites):
        yield from at_most_items(each, MOST_TEMPLATES)
    for each in groups.items():
        yield from group_template(each, gate, allow_basic_all=allow_basic_all)
    if not groups.items() and not composites.items():
        yield template.problem(NO_CHILD)


def composite_templates_update(new: At, old: At) -> Problems:
    """Nothing in a tree of templates changes but `gang.minCount` of a pod group template."""
    name = "compositePodGroupTemplates"
    yield from templates_update(new.field(name), old.field(name), _composite_template_update)


def _composite_template_update(template: At, before: At) -> Problems:
    yield from all_immutable(template, before, _FIXED_IN_TEMPLATE)
    yield from composite_templates_update(template, before)
    yield from group_templates_update(template, before)


def _names(spec: At) -> Problems:
    """Names are unique over the whole tree; the later one is the problem."""
    seen: set[str] = set()
    for template in all_templates(spec):
        name = template.field("name")
        if name.text and name.text in seen:
            yield name.problem(f"{shown(name.text)} is there twice", DUPLICATE)
        seen.add(name.text)


def all_templates(spec: At) -> Iterator[At]:
    yield from spec.field("podGroupTemplates").items()
    for template in spec.field("compositePodGroupTemplates").items():
        yield template
        yield from all_templates(template)


def _all_composites(spec: At) -> Iterator[At]:
    for template in spec.field("compositePodGroupTemplates").items():
        yield template
        yield from _all_composites(template)


def _depth(template: At) -> int:
    """Levels of composite templates, this one included."""
    return 1 + max(map(_depth, template.field("compositePodGroupTemplates").items()), default=0)


def _priority(template: At) -> tuple[str, str]:
    return template.field("priorityClassName").text, repr(template.field("priority").value)
