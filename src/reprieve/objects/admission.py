"""Admission: what `reprieve validate` and the embedded server do with an object before it is accepted.

    document, problems = admit(document, context)             # create
    document, problems = admit(document, context, old=stored) # update, of the object or of its status

Takes and returns raw documents, so that no field unknown to us is lost; the argument is not changed. In this
order, as Kubernetes does it:

1. one spelling (`normalise.respell`), nulls away;
2. defaults (`defaults`);
3. priority classes (create only): `priorityClassName`, `priority`, `preemptionPolicy` filled in or refused
   (`priorities`);
4. validation: shape (`structure.misfits`) and rules (`validation`), everything that is wrong and not only the
   first;
5. update only: fields that must not change.

`problems` is empty when the object is accepted. A problem whose `reason` is `structure.REFUSED` is admission
saying no (HTTP 403), all others are validation (422; `reason` is Kubernetes' name of the cause). The
documents may be of any shape: nothing here raises. Kinds not in `kinds.KINDS` pass unchecked. A context comes
from the configuration: `Configuration.admission_context(classes)`.

Status: a server that separates `/status` writes takes care of that itself; here both halves are checked
whenever they are there.
"""

from collections.abc import Callable
from typing import NamedTuple

from reprieve.objects import priorities, well_known
from reprieve.objects.defaults.scheduling import apply_defaults, default_policy
from reprieve.objects.disabled import DROPPED, drop_disabled
from reprieve.objects.kinds import KINDS, TABLE, group_version, kind_key, unread_version
from reprieve.objects.meta import Document
from reprieve.objects.normalise import respell
from reprieve.objects.priorities import PriorityClasses
from reprieve.objects.proposals import contradictions
from reprieve.objects.structure import UNSUPPORTED, Problem, misfits
from reprieve.objects.templates import FindWorkload, from_template
from reprieve.objects.validation import composites, devices, fleet, groups, pods, queues, storage, workloads
from reprieve.objects.validation.annotations import own_annotations
from reprieve.objects.validation.checks import At, Problems
from reprieve.objects.validation.shared import metadata, unchanged_identity

Key = tuple[str, str]
_POD, _POD_GROUP = ("", "Pod"), ("scheduling.k8s.io", "PodGroup")
_COMPOSITE = ("scheduling.k8s.io", "CompositePodGroup")
_WORKLOAD = ("scheduling.k8s.io", "Workload")
_PROTECTED = (_POD, _POD_GROUP, _COMPOSITE, _WORKLOAD)
"""Kinds with a priority that protects from preemption."""


def _no_workload(_namespace: str, _name: str) -> Document | None:
    return None


class Context(NamedTuple):
    """What admission has to know besides the object."""

    gate: Callable[[str], bool]
    classes: PriorityClasses = PriorityClasses()
    allow_whole_group_disruption_for_basic: bool = False
    drops_disabled: bool = False
    """A server: what a gate that is off stands for is dropped, instead of named."""

    workload: FindWorkload = _no_workload
    """The Workload (scheduling.k8s.io) that a group names."""

    def allows(self, name: str) -> bool:
        """Whether a field behind this gate may be there. Where they are dropped, what is left is in use."""
        return self.gate(name) or (self.drops_disabled and name in DROPPED)


def admit(
    document: Document, context: Context, old: Document | None = None
) -> tuple[Document, list[Problem]]:
    """The object as it is to be stored, and everything that is wrong with it."""
    current = respell(document)
    key = kind_key(current)
    if key not in KINDS:
        return current, []
    before = None if old is None else respell(old)
    unlike: list[Problem] = []
    if key == _POD_GROUP and before is None:
        current, unlike = from_template(current, context.workload)
    if context.drops_disabled or key == _POD:
        drop_disabled(current, before, key, context.gate)
    apply_defaults(current, key, context.gate, creating=before is None)
    if before is not None:
        apply_defaults(before, key, context.gate, creating=False)
    problems = [*_version(current, key), *unlike]
    problems += [Problem(*each) for each in contradictions(current, key)]
    if before is None:
        problems += _resolve_priority(current, key, context)
    if key in (_POD_GROUP, _COMPOSITE):
        stored = None if before is None else before.get("spec")
        default_policy(current.get("spec"), stored, context.gate)
    if key in _PROTECTED:
        problems += priorities.preemption_priority_problems(current, context.classes)
    place, earlier = At(current), None if before is None else At(before)
    problems += metadata(place, namespaced=TABLE[key].namespaced)
    problems += _RULES[key](place, earlier, context)
    if earlier is not None:
        problems += unchanged_identity(place, earlier)
    return current, _with_shape(problems, misfits(current, KINDS[key]))


def _version(document: Document, key: Key) -> Problems:
    version = group_version(document)[1]
    if version not in TABLE[key].versions:
        yield Problem("apiVersion", document.get("apiVersion"), unread_version(key, version), UNSUPPORTED)


def _resolve_priority(document: Document, key: Key, context: Context) -> list[Problem]:
    spec = document.get("spec")
    if key not in _PROTECTED or not isinstance(spec, dict):
        return []
    if key != _POD and not context.gate("GenericWorkload"):
        return []
    if key == _WORKLOAD:
        return list(_resolve_templates(At(spec, "spec"), context))
    with_policy = key == _POD or context.gate("PodGroupPreemptionPolicy")
    return priorities.resolve(At(spec, "spec"), context.classes, with_policy=with_policy)


def _resolve_templates(spec: At, context: Context) -> Problems:
    """A template that names a class gets its priority; one that names none gets nothing, as upstream."""
    for template in composites.all_templates(spec):
        if isinstance(template.value, dict) and template.field("priorityClassName").text:
            yield from priorities.resolve(template, context.classes, with_policy=False)


def _with_shape(problems: list[Problem], shape: list[Problem]) -> list[Problem]:
    """A rule explains better than a type: where both found something, only the rule's problem is kept."""
    ruled = {problem.path for problem in problems}
    return [*(problem for problem in shape if problem.path not in ruled), *problems]


def _pod(new: At, old: At | None, _context: Context) -> Problems:
    yield from pods.pod(new)
    yield from own_annotations(new, old)
    if old is not None:
        yield from pods.pod_update(new, old)


def _priority_class(new: At, old: At | None, _context: Context) -> Problems:
    yield from groups.priority_class(new)
    if old is not None:
        yield from groups.priority_class_update(new, old)


def _pod_group(new: At, old: At | None, context: Context) -> Problems:
    allowed = context.allow_whole_group_disruption_for_basic
    yield from groups.pod_group(new, context.allows, allow_basic_all=allowed)
    yield from own_annotations(new, old)
    if old is not None:
        yield from groups.pod_group_update(new, old)


def _composite_pod_group(new: At, old: At | None, context: Context) -> Problems:
    yield from composites.composite_pod_group(new, context.gate)
    yield from own_annotations(new, old)
    if old is not None:
        yield from composites.composite_pod_group_update(new, old)


def _scheduling_workload(new: At, old: At | None, context: Context) -> Problems:
    allowed = context.allow_whole_group_disruption_for_basic
    yield from groups.workload(new, context.allows, allow_basic_all=allowed)
    spec = new.field("spec")
    trees = spec.field("compositePodGroupTemplates").is_set
    if trees:
        yield from composites.composite_templates(spec, context.gate, allow_basic_all=allowed)
    if old is not None:
        yield from groups.workload_update(new, old)
        if trees or old.field("spec", "compositePodGroupTemplates").is_set:
            yield from composites.composite_templates_update(spec, old.field("spec"))


def _kueue_workload(new: At, old: At | None, _context: Context) -> Problems:
    yield from workloads.workload(new)
    if old is not None:
        yield from workloads.workload_update(new, old)


_STORAGE = (
    *(("", kind) for kind in ("PersistentVolume", "PersistentVolumeClaim")),
    *(
        (well_known.STORAGE_API, kind)
        for kind in ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment")
    ),
)
"""Their shape is checked here; what else an API server asks of them, the embedded one asks."""
_RULES: dict[Key, Callable[[At, At | None, Context], Problems]] = {
    _POD: _pod,
    ("", "Node"): lambda new, _old, _context: pods.node(new),
    ("", "Namespace"): lambda _new, _old, _context: iter(()),
    ("", "LimitRange"): lambda new, _old, _context: pods.limit_range(new),
    **dict.fromkeys(_STORAGE, lambda _new, _old, _context: iter(())),
    ("", "PersistentVolumeClaim"): lambda new, _old, _context: storage.claim(new),
    ("", "PersistentVolume"): lambda new, _old, _context: storage.volume(new),
    ("batch", "Job"): lambda new, _old, _context: pods.job(new),
    ("policy", "PodDisruptionBudget"): lambda new, _old, _context: pods.disruption_budget(new),
    ("resource.k8s.io", "ResourceClaim"): lambda new, old, _context: devices.claim(new, old),
    ("resource.k8s.io", "ResourceClaimTemplate"): lambda new, old, _context: devices.template(new, old),
    ("resource.k8s.io", "DeviceClass"): lambda new, old, _context: devices.device_class(new, old),
    ("resource.k8s.io", "ResourceSlice"): lambda new, old, _context: devices.resource_slice(new, old),
    ("resource.k8s.io", "DeviceTaintRule"): lambda new, old, _context: devices.taint_rule(new, old),
    ("scheduling.k8s.io", "PriorityClass"): _priority_class,
    _POD_GROUP: _pod_group,
    _COMPOSITE: _composite_pod_group,
    _WORKLOAD: _scheduling_workload,
    ("kueue.x-k8s.io", "ClusterQueue"): lambda new, old, context: queues.cluster_queue(
        new, context.gate, old
    ),
    ("kueue.x-k8s.io", "Cohort"): lambda new, _old, _context: queues.cohort(new),
    ("kueue.x-k8s.io", "LocalQueue"): lambda new, old, _context: queues.local_queue(new, old),
    ("kueue.x-k8s.io", "ResourceFlavor"): lambda new, old, _context: queues.resource_flavor(new, old),
    ("kueue.x-k8s.io", "Topology"): lambda new, old, _context: queues.topology(new, old),
    ("kueue.x-k8s.io", "WorkloadPriorityClass"): lambda new, old, _context: queues.workload_priority_class(
        new, old
    ),
    ("kueue.x-k8s.io", "Workload"): _kueue_workload,
    ("kueue.x-k8s.io", "AdmissionCheck"): lambda new, old, _context: fleet.admission_check(new, old),
    ("kueue.x-k8s.io", "MultiKueueConfig"): lambda new, _old, context: fleet.multikueue_config(
        new, context.gate
    ),
    ("kueue.x-k8s.io", "MultiKueueCluster"): lambda new, _old, context: fleet.multikueue_cluster(
        new, context.gate
    ),
}
