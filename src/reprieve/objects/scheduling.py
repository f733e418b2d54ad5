"""scheduling.k8s.io: PriorityClass, PodGroup and Workload (the template of pod groups)."""

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
    workload_ref: WorkloadReference | None = None


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


class ControllerReference(View):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class PodGroupTemplate(GroupFields):
    name: str = ""


class WorkloadSpec(View):
    controller_ref: ControllerReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()


class Workload(Object):
    """scheduling.k8s.io Workload; not Kueue's object of the same name (`reprieve.objects.kueue.Workload`)."""

    spec: WorkloadSpec = WorkloadSpec()
