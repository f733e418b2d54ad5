"""scheduling.k8s.io: PriorityClass, PodGroup, CompositePodGroup and Workload (the template of groups)."""

from reprieve.objects.core import PodResourceClaim
from reprieve.objects.meta import Condition, Int32, Object, View


class PriorityClass(Object):
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str = ""
    description: str = ""


class GangPolicy(View):
    min_count: Int32 = 1


class BasicPolicy(View):
    pass


class SchedulingPolicy(View):
    """Exactly one member is set."""

    basic: BasicPolicy | None = None
    gang: GangPolicy | None = None


class TopologyConstraint(View):
    key: str = ""


class SchedulingConstraints(View):
    topology: tuple[TopologyConstraint, ...] = ()


class Mode(View):
    pass


class DisruptionMode(View):
    """Exactly one member is set; none at all means single."""

    single: Mode | None = None
    all: Mode | None = None


class WorkloadReference(View):
    workload_name: str = ""
    template_name: str = ""


class GroupFields(View):
    """What a group and the template of one have in common."""

    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str = ""
    preemption_priority_class_name: str = ""


class PodGroupSpec(GroupFields):
    parent_composite_pod_group_name: str = ""
    workload_ref: WorkloadReference | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    """Claims of the group: pods that name one of them in the same way use it as the group."""


class PodGroupStatus(View):
    conditions: tuple[Condition, ...] = ()


class PodGroup(Object):
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def min_count(self) -> int:
        """How many pods must run at once; a basic group is content with one."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 1

    @property
    def is_gang(self) -> bool:
        return self.spec.scheduling_policy.gang is not None

    @property
    def disrupted_as_a_whole(self) -> bool:
        """Disruption mode *all*: its pods go together or not at all."""
        mode = self.spec.disruption_mode
        return mode is not None and mode.all is not None

    @property
    def topology_key(self) -> str:
        """The label whose value all its pods share; empty when they may go anywhere."""
        return topology_key(self.spec)

    @property
    def parent_key(self) -> str:
        """`namespace/name` of the CompositePodGroup above it; empty for a group on its own."""
        return parent_key(self)


class CompositeGangPolicy(View):
    min_group_count: Int32 = 1


class CompositeSchedulingPolicy(View):
    """Exactly one member is set."""

    basic: BasicPolicy | None = None
    gang: CompositeGangPolicy | None = None


class CompositeFields(View):
    """What a composite group and the template of one have in common."""

    scheduling_policy: CompositeSchedulingPolicy = CompositeSchedulingPolicy()
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str = ""


class CompositePodGroupSpec(CompositeFields):
    parent_composite_pod_group_name: str = ""
    workload_ref: WorkloadReference | None = None


class CompositePodGroup(Object):
    """A group of groups. It has no pods of its own: those name the PodGroups at the bottom of the tree."""

    spec: CompositePodGroupSpec = CompositePodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def min_group_count(self) -> int:
        """How many of its children must be placed at once; a basic one is content with one."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_group_count if gang is not None else 1

    @property
    def disrupted_as_a_whole(self) -> bool:
        """Disruption mode *all*: everything below it goes together or not at all."""
        mode = self.spec.disruption_mode
        return mode is not None and mode.all is not None

    @property
    def topology_key(self) -> str:
        """The label whose value all pods below it share; empty when they may go anywhere."""
        return topology_key(self.spec)

    @property
    def parent_key(self) -> str:
        """`namespace/name` of the CompositePodGroup above it; empty for the root of a tree."""
        return parent_key(self)


def topology_key(spec: GroupFields | CompositeFields) -> str:
    constraints = spec.scheduling_constraints
    return constraints.topology[0].key if constraints is not None and constraints.topology else ""


def parent_key(group: PodGroup | CompositePodGroup) -> str:
    name = group.spec.parent_composite_pod_group_name
    return f"{group.namespace}/{name}" if name else ""


class ControllerReference(View):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class PodGroupTemplate(GroupFields):
    name: str = ""


class CompositePodGroupTemplate(CompositeFields):
    name: str = ""
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()
    composite_pod_group_templates: tuple["CompositePodGroupTemplate", ...] = ()


class WorkloadSpec(View):
    controller_ref: ControllerReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()
    composite_pod_group_templates: tuple[CompositePodGroupTemplate, ...] = ()


class Workload(Object):
    """scheduling.k8s.io Workload; not Kueue's object of the same name (`reprieve.objects.kueue.Workload`)."""

    spec: WorkloadSpec = WorkloadSpec()
