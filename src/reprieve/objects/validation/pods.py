"""Pods, their templates, nodes, budgets, jobs: the parts that scheduling reads."""

from collections.abc import Callable

from reprieve.objects.proposals import OLD_POD_LINK
from reprieve.objects.selectors import whole_number
from reprieve.objects.structure import FORBIDDEN, Problem
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import (
    At,
    Problems,
    all_immutable,
    between,
    exactly_one,
    immutable,
    int32,
    label_key,
    label_map,
    one_of,
    quantities,
    required,
    subdomain,
    unique,
)
from reprieve.objects.validation.resources import pod_resources
from reprieve.objects.validation.shared import (
    label_selector,
    node_selector,
    node_term,
    taint,
    toleration,
)

PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_REQUIRED_TERMS = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED_TERMS = "preferredDuringSchedulingIgnoredDuringExecution"


def pod(document: At) -> Problems:
    spec = document.field("spec")
    yield from pod_spec(spec)
    if spec.field("workloadRef").is_set:
        yield spec.field("workloadRef").problem(OLD_POD_LINK, FORBIDDEN)
    phases = ("", "Pending", "Running", "Succeeded", "Failed", "Unknown")
    yield from one_of(document.field("status", "phase"), phases)


def pod_update(new: At, old: At) -> Problems:
    """What scheduling relies on stays; a node once assigned is never changed, gates can only be lifted."""
    spec, before = new.field("spec"), old.field("spec")
    fixed = (
        "schedulingGroup",
        "priority",
        "priorityClassName",
        "preemptionPolicy",
        "schedulerName",
        "overhead",
    )
    yield from all_immutable(spec, before, fixed)
    if before.field("nodeName").text:
        yield from immutable(spec.field("nodeName"), before.field("nodeName"))
    known = {gate.field("name").text for gate in before.field("schedulingGates").items()}
    for gate in spec.field("schedulingGates").items():
        if gate.field("name").text not in known:
            yield gate.field("name").problem(
                "a scheduling gate cannot be added to an existing pod", FORBIDDEN
            )


def pod_spec(spec: At, resources: Callable[[At], Problems] = pod_resources) -> Problems:
    """Also for templates."""
    yield from int32(spec.field("priority"))
    yield from subdomain(spec.field("priorityClassName"))
    yield from one_of(spec.field("preemptionPolicy"), PREEMPTION_POLICIES)
    yield from one_of(spec.field("restartPolicy"), ("Always", "OnFailure", "Never"))
    group = spec.field("schedulingGroup")
    if group.is_set:
        yield from exactly_one(group, ("podGroupName",))
        yield from subdomain(group.field("podGroupName"))
        if spec.field("evictionResponders").is_set:
            yield group.problem("cannot be combined with spec.evictionResponders", FORBIDDEN)
    yield from _containers(spec)
    yield from resources(spec)
    yield from label_map(spec.field("nodeSelector"))
    for each in spec.field("tolerations").items():
        yield from toleration(each)
    yield from unique(gate.field("name") for gate in spec.field("schedulingGates").items())
    yield from _affinity(spec.field("affinity"))
    for each in spec.field("topologySpreadConstraints").items():
        yield from _spread(each)


def _containers(spec: At) -> Problems:
    everything = [*spec.field("containers").items(), *spec.field("initContainers").items()]
    yield from unique(container.field("name") for container in everything)
    for container in everything:
        for port in container.field("ports").items():
            yield from between(port.field("hostPort"), 0, 65535)
            yield from between(port.field("containerPort"), 0, 65535)
            yield from one_of(port.field("protocol"), ("TCP", "UDP", "SCTP"))
    for container in spec.field("initContainers").items():
        yield from one_of(container.field("restartPolicy"), ("Always", "OnFailure", "Never"))


def _affinity(affinity: At) -> Problems:
    node = affinity.field("nodeAffinity")
    yield from node_selector(node.field(_REQUIRED_TERMS))
    for each in node.field(_PREFERRED_TERMS).items():
        yield from between(each.field("weight"), 1, 100)
        yield from node_term(each.field("preference"))
    for kind in ("podAffinity", "podAntiAffinity"):
        for each in affinity.field(kind, _REQUIRED_TERMS).items():
            yield from _pod_term(each)
        for each in affinity.field(kind, _PREFERRED_TERMS).items():
            yield from between(each.field("weight"), 1, 100)
            yield from _pod_term(each.field("podAffinityTerm"))


def _pod_term(term: At) -> Problems:
    yield from required(term.field("topologyKey"))
    yield from label_key(term.field("topologyKey"))
    yield from label_selector(term.field("labelSelector"))
    yield from label_selector(term.field("namespaceSelector"))


def _spread(constraint: At) -> Problems:
    yield from required(constraint.field("topologyKey"))
    yield from label_key(constraint.field("topologyKey"))
    yield from between(constraint.field("maxSkew"), 1, None)
    yield from between(constraint.field("minDomains"), 1, None)
    yield from one_of(constraint.field("whenUnsatisfiable"), ("DoNotSchedule", "ScheduleAnyway"))
    if (
        constraint.field("minDomains").is_set
        and constraint.field("whenUnsatisfiable").text == "ScheduleAnyway"
    ):
        yield constraint.field("minDomains").problem("only whenUnsatisfiable: DoNotSchedule has minDomains")
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        yield from one_of(constraint.field(name), ("Honor", "Ignore"))
    yield from label_selector(constraint.field("labelSelector"))


def node(document: At) -> Problems:
    for each in document.field("spec", "taints").items():
        yield from taint(each)
    for name in ("allocatable", "capacity"):
        yield from quantities(document.field("status", name))


def disruption_budget(document: At) -> Problems:
    spec = document.field("spec")
    yield from label_selector(spec.field("selector"))
    if spec.field("minAvailable").is_set and spec.field("maxUnavailable").is_set:
        yield Problem(spec.path, None, "minAvailable and maxUnavailable cannot both be set")
    yield from one_of(spec.field("unhealthyPodEvictionPolicy"), ("IfHealthyBudget", "AlwaysAllow"))
    for name in ("minAvailable", "maxUnavailable"):
        place = spec.field(name)
        yield from between(place, 0, None)
        if isinstance(place.value, str) and not _is_percentage(place.value):
            yield place.problem(
                f"expected a whole number or a percentage such as 50%, got {shown(place.value)}"
            )
    yield from between(document.field("status", "disruptionsAllowed"), 0, None)


def _is_percentage(text: str) -> bool:
    share = whole_number(text.removesuffix("%"))
    return text.endswith("%") and share is not None and share <= 100


def job(document: At) -> Problems:
    spec = document.field("spec")
    for name in ("parallelism", "completions", "backoffLimit"):
        yield from int32(spec.field(name), 0)
    yield from pod_spec(spec.field("template", "spec"))


def limit_range(document: At) -> Problems:
    for limit in document.field("spec", "limits").items():
        for name in ("max", "min", "default", "defaultRequest"):
            yield from quantities(limit.field(name))
