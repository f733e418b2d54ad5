"""scheduling.k8s.io: PriorityClass, PodGroup, Workload."""

from collections.abc import Callable

from reprieve.objects import well_known
from reprieve.objects.structure import FORBIDDEN, REQUIRED
from reprieve.objects.validation.checks import (
    At,
    Problems,
    all_immutable,
    at_most_items,
    between,
    dns_label,
    exactly_one,
    immutable,
    int32,
    label_key,
    one_of,
    required,
    subdomain,
    unique,
)
from reprieve.objects.validation.pods import PREEMPTION_POLICIES

HIGHEST_USER_PRIORITY = 1_000_000_000
MOST_TEMPLATES = 8
Gate = Callable[[str], bool]

_FIXED_FIELDS = (
    "schedulingConstraints",
    "resourceClaims",
    "disruptionMode",
    "priorityClassName",
    "priority",
    "preemptionPolicy",
)


def priority_class(document: At) -> Problems:
    """`system-` names and values above a billion are Kubernetes' own."""
    name, value = document.field("metadata", "name").text, document.field("value")
    if not value.is_set:
        yield from required(value)
    yield from int32(value)
    yield from one_of(document.field("preemptionPolicy"), PREEMPTION_POLICIES)
    if name in well_known.SYSTEM_CLASSES:
        if value.number is not None and value.number != well_known.SYSTEM_CLASSES[name]:
            yield value.problem(
                f"the value of {name} is {well_known.SYSTEM_CLASSES[name]}, got {value.number}"
            )
        return
    if name.startswith("system-"):
        message = (
            f"names that start with 'system-' are reserved for {' and '.join(well_known.SYSTEM_CLASSES)}"
        )
        yield document.field("metadata", "name").problem(message, FORBIDDEN)
    if value.number is not None and value.number > HIGHEST_USER_PRIORITY:
        message = f"must be at most {HIGHEST_USER_PRIORITY}, got {value.number}: the system has what is above"
        yield value.problem(message, FORBIDDEN)


def priority_class_update(new: At, old: At) -> Problems:
    yield from immutable(new.field("value"), old.field("value"))
    yield from immutable(new.field("preemptionPolicy"), old.field("preemptionPolicy"))


def pod_group(document: At, gate: Gate, *, allow_basic_all: bool) -> Problems:
    spec = document.field("spec")
    yield from _group_fields(spec, gate, allow_basic_all=allow_basic_all)
    reference, parent = spec.field("workloadRef"), spec.field("parentCompositePodGroupName")
    yield from workload_reference(reference)
    yield from subdomain(parent)
    if parent.is_set and not gate("CompositePodGroup"):
        yield parent.problem("needs the feature gate CompositePodGroup", FORBIDDEN)
    elif parent.is_set and not reference.is_set:
        yield reference.problem("must be set when parentCompositePodGroupName is set", REQUIRED)


def workload_reference(reference: At) -> Problems:
    if reference.is_set:
        for name in ("workloadName", "templateName"):
            yield from required(reference.field(name))
        yield from subdomain(reference.field("workloadName"))
        yield from dns_label(reference.field("templateName"))


def pod_group_update(new: At, old: At) -> Problems:
    """Everything stays but `gang.minCount` and the preemption priority class."""
    spec, before = new.field("spec"), old.field("spec")
    yield from all_immutable(spec, before, ("workloadRef", "parentCompositePodGroupName", *_FIXED_FIELDS))
    yield from same_policy(spec.field("schedulingPolicy"), before.field("schedulingPolicy"))


def workload(document: At, gate: Gate, *, allow_basic_all: bool) -> Problems:
    spec = document.field("spec")
    reference = spec.field("controllerRef")
    if reference.is_set:
        for name in ("kind", "name"):
            yield from required(reference.field(name))
    templates = spec.field("podGroupTemplates")
    if spec.field("compositePodGroupTemplates").is_set:
        yield from exactly_one(spec, ("podGroupTemplates", "compositePodGroupTemplates"))
    else:
        yield from required(templates)
    yield from at_most_items(templates, MOST_TEMPLATES)
    yield from unique(template.field("name") for template in templates.items())
    for template in templates.items():
        yield from group_template(template, gate, allow_basic_all=allow_basic_all)


def group_template(template: At, gate: Gate, *, allow_basic_all: bool) -> Problems:
    yield from required(template.field("name"))
    yield from dns_label(template.field("name"))
    yield from _group_fields(template, gate, allow_basic_all=allow_basic_all)


def workload_update(new: At, old: At) -> Problems:
    """Templates are neither added nor removed; inside them only `gang.minCount` may change."""
    spec, before = new.field("spec"), old.field("spec")
    yield from immutable(spec.field("controllerRef"), before.field("controllerRef"))
    yield from group_templates_update(spec, before)


def group_templates_update(parent: At, before: At) -> Problems:
    """The pod group templates of a Workload, or of a composite template in it."""
    name = "podGroupTemplates"
    yield from templates_update(parent.field(name), before.field(name), _group_template_update)


def _group_template_update(template: At, before: At) -> Problems:
    yield from all_immutable(template, before, _FIXED_FIELDS)
    yield from same_policy(template.field("schedulingPolicy"), before.field("schedulingPolicy"))


def templates_update(new: At, old: At, changed: Callable[[At, At], Problems]) -> Problems:
    """None is added or removed; `changed` judges each that is there before and after."""
    known = {template.field("name").text: template for template in old.items()}
    names = {template.field("name").text for template in new.items()}
    for missing in [name for name in known if name not in names]:
        yield new.problem(f"the template {missing!r} cannot be removed", FORBIDDEN)
    for template in new.items():
        earlier = known.get(template.field("name").text)
        if earlier is None:
            yield template.field("name").problem("a template cannot be added", FORBIDDEN)
        else:
            yield from changed(template, earlier)


def _group_fields(spec: At, gate: Gate, *, allow_basic_all: bool) -> Problems:
    """What a PodGroup and a template of one have in common."""
    policy, mode = spec.field("schedulingPolicy"), spec.field("disruptionMode")
    yield from exactly_one(policy, ("basic", "gang"))
    gang = policy.field("gang")
    if isinstance(gang.value, dict):
        if not gang.field("minCount").is_set:
            yield from required(gang.field("minCount"))
        yield from int32(gang.field("minCount"), 1)
    yield from subdomain(spec.field("preemptionPriorityClassName"))
    yield from shared_fields(spec, gate)
    is_basic = policy.field("basic").is_set and not gang.is_set
    if mode.field("all").is_set and is_basic and not allow_basic_all:
        message = (
            "a group with the basic policy has no whole to disrupt: use schedulingPolicy.gang, or "
            "disruptionMode single (admission.allowWholeGroupDisruptionForBasic in the configuration "
            "accepts it, as Kubernetes 1.37 does)"
        )
        yield mode.problem(message, FORBIDDEN)


def shared_fields(spec: At, gate: Gate) -> Problems:
    """What groups, composite groups and the templates of both have in common."""
    mode = spec.field("disruptionMode")
    if isinstance(mode.value, str):
        yield from one_of(mode, ("Pod", "PodGroup"))
    elif mode.is_set:
        yield from exactly_one(mode, ("single", "all"))
    yield from _topology(spec.field("schedulingConstraints"), gate)
    yield from subdomain(spec.field("priorityClassName"))
    yield from int32(spec.field("priority"))
    if spec.field("priorityClassName").text not in well_known.SYSTEM_CLASSES:
        yield from between(spec.field("priority"), None, HIGHEST_USER_PRIORITY)
    yield from one_of(spec.field("preemptionPolicy"), PREEMPTION_POLICIES)
    if spec.field("preemptionPolicy").is_set and not gate("PodGroupPreemptionPolicy"):
        yield spec.field("preemptionPolicy").problem(
            "needs the feature gate PodGroupPreemptionPolicy", FORBIDDEN
        )


def _topology(constraints: At, gate: Gate) -> Problems:
    if constraints.is_set and not gate("TopologyAwareWorkloadScheduling"):
        yield constraints.problem("needs the feature gate TopologyAwareWorkloadScheduling", FORBIDDEN)
    yield from at_most_items(constraints.field("topology"), 1)
    for each in constraints.field("topology").items():
        yield from required(each.field("key"))
        yield from label_key(each.field("key"))


def same_policy(new: At, old: At) -> Problems:
    for member in ("basic", "gang"):
        if new.field(member).is_set != old.field(member).is_set:
            yield new.problem(f"cannot be changed: {member} can neither be set nor unset later", FORBIDDEN)
