"""kueue.x-k8s.io/v1beta2. Older spellings (v1beta1) are turned into these by `reprieve.objects.normalise`."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty dict

from reprieve.objects import well_known
from reprieve.objects.core import PodTemplateSpec, Quantity, ResourceList, Taint, Toleration
from reprieve.objects.meta import Condition, Int32, LabelSelector, Object, Time, View


class ResourceQuota(View):
    name: str
    nominal_quota: Quantity = "0"
    borrowing_limit: Quantity | None = None
    lending_limit: Quantity | None = None


class FlavorQuotas(View):
    name: str
    resources: tuple[ResourceQuota, ...] = ()


class ResourceGroup(View):
    covered_resources: tuple[str, ...] = ()
    flavors: tuple[FlavorQuotas, ...] = ()


class FlavorFungibility(View):
    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str = ""


class BorrowWithinCohort(View):
    policy: str = "Never"
    max_priority_threshold: Int32 | None = None


class Preemption(View):
    within_cluster_queue: str = "Never"
    reclaim_within_cohort: str = "Never"
    borrow_within_cohort: BorrowWithinCohort = BorrowWithinCohort()


class FairSharing(View):
    weight: Quantity = "1"


class AdmissionCheckRule(View):
    name: str
    on_flavors: tuple[str, ...] = ()


class AdmissionChecksStrategy(View):
    admission_checks: tuple[AdmissionCheckRule, ...] = ()


class AdmissionScope(View):
    admission_mode: str = ""


class ClusterQueueSpec(View):
    resource_groups: tuple[ResourceGroup, ...] = ()
    cohort_name: str = ""
    queueing_strategy: str = "BestEffortFIFO"
    namespace_selector: LabelSelector | None = None
    flavor_fungibility: FlavorFungibility = FlavorFungibility()
    preemption: Preemption = Preemption()
    admission_checks_strategy: AdmissionChecksStrategy = AdmissionChecksStrategy()
    stop_policy: str = "None"
    fair_sharing: FairSharing | None = None
    admission_scope: AdmissionScope | None = None


class ConditionsOnly(View):
    """A status of which nothing but the conditions is read."""

    conditions: tuple[Condition, ...] = ()


class ClusterQueue(Object):
    spec: ClusterQueueSpec = ClusterQueueSpec()
    status: ConditionsOnly = ConditionsOnly()


class CohortSpec(View):
    parent_name: str = ""
    resource_groups: tuple[ResourceGroup, ...] = ()
    fair_sharing: FairSharing | None = None


class Cohort(Object):
    spec: CohortSpec = CohortSpec()


class LocalQueueSpec(View):
    cluster_queue: str = ""
    stop_policy: str = "None"
    fair_sharing: FairSharing | None = None


class AdmissionFairSharingStatus(View):
    consumed_resources: ResourceList = {}


class LocalQueueFairSharing(View):
    admission_fair_sharing_status: AdmissionFairSharingStatus | None = None


class LocalQueueStatus(View):
    conditions: tuple[Condition, ...] = ()
    fair_sharing: LocalQueueFairSharing | None = None


class LocalQueue(Object):
    spec: LocalQueueSpec = LocalQueueSpec()
    status: LocalQueueStatus = LocalQueueStatus()


class ResourceFlavorSpec(View):
    node_labels: dict[str, str] = {}
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology_name: str = ""


class ResourceFlavor(Object):
    spec: ResourceFlavorSpec = ResourceFlavorSpec()


class TopologyLevel(View):
    node_label: str = ""


class TopologySpec(View):
    levels: tuple[TopologyLevel, ...] = ()


class Topology(Object):
    """The levels of a data centre, outermost first, each named by the node label that has its value."""

    spec: TopologySpec = TopologySpec()


class WorkloadPriorityClass(Object):
    value: Int32 = 0
    description: str = ""


class SliceConstraint(View):
    topology: str = ""
    size: Int32 = 0


class TopologyRequest(View):
    """Where the pods of a pod set want to be relative to each other."""

    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    pod_index_label: str | None = None
    sub_group_index_label: str | None = None
    sub_group_count: Int32 | None = None
    pod_set_group_name: str | None = None
    pod_set_slice_required_topology: str | None = None
    pod_set_slice_size: Int32 | None = None
    podset_slice_required_topology_constraints: tuple[SliceConstraint, ...] = ()

    @property
    def explicit(self) -> bool:
        """Index labels and a group name alone ask for no topology."""
        return (
            self.required is not None
            or self.preferred is not None
            or self.unconstrained is not None
            or self.pod_set_slice_required_topology is not None
            or self.pod_set_slice_size is not None
            or bool(self.podset_slice_required_topology_constraints)
        )

    @property
    def slices(self) -> tuple[SliceConstraint, ...]:
        """Nested slices, outermost first, whichever way they are written."""
        if self.podset_slice_required_topology_constraints:
            return self.podset_slice_required_topology_constraints
        if self.pod_set_slice_required_topology is None:
            return ()
        size = self.pod_set_slice_size or 0
        return (SliceConstraint(topology=self.pod_set_slice_required_topology, size=size),)


class PodSet(View):
    name: str = "main"
    count: Int32 = 1
    min_count: Int32 | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    topology_request: TopologyRequest | None = None

    @property
    def may_shrink(self) -> bool:
        """Partial admission: it may be admitted with fewer pods than it asks for."""
        return self.min_count is not None and self.min_count < self.count


class PriorityClassRef(View):
    group: str = ""
    kind: str = ""
    name: str = ""


class PreemptionGate(View):
    name: str


class WorkloadSpec(View):
    pod_sets: tuple[PodSet, ...] = ()
    queue_name: str = ""
    priority_class_ref: PriorityClassRef | None = None
    priority: Int32 | None = None
    active: bool = True
    maximum_execution_time_seconds: Int32 | None = None
    preemption_gates: tuple[PreemptionGate, ...] = ()


class IndividualValues(View):
    prefix: str = ""
    suffix: str = ""
    roots: tuple[str, ...] = ()


class LevelValues(View):
    universal: str | None = None
    individual: IndividualValues | None = None


class PodCounts(View):
    universal: Int32 | None = None
    individual: tuple[Int32, ...] = ()


class AssignmentSlice(View):
    domain_count: Int32 = 0
    values_per_level: tuple[LevelValues, ...] = ()
    pod_counts: PodCounts = PodCounts()


class TopologyAssignment(View):
    """Domains and how many pods go to each, compressed; `objects.domains` reads and writes it."""

    levels: tuple[str, ...] = ()
    slices: tuple[AssignmentSlice, ...] = ()


class PodSetAssignment(View):
    name: str = "main"
    flavors: dict[str, str] = {}
    resource_usage: ResourceList = {}
    count: Int32 | None = None
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: str | None = None


class Admission(View):
    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()

    @property
    def topology_pending(self) -> bool:
        """Whether domains are still to be found for some of its pods."""
        for each in self.pod_set_assignments:
            if each.delayed_topology_request == "Pending" and each.topology_assignment is None:
                return True
        return False


class PodSetUpdate(View):
    """What an admission check adds to the pods of a pod set."""

    name: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class AdmissionCheckState(View):
    name: str
    state: str = "Pending"
    message: str = ""
    last_transition_time: Time | None = None
    pod_set_updates: tuple[PodSetUpdate, ...] = ()


class ReclaimablePod(View):
    name: str
    count: Int32 = 0


class PreemptionGateState(View):
    name: str
    position: str = "Closed"
    last_transition_time: Time | None = None


class RequeueState(View):
    count: Int32 | None = None
    requeue_at: Time | None = None


class UnhealthyNode(View):
    name: str = ""


class WorkloadStatus(View):
    conditions: tuple[Condition, ...] = ()
    admission: Admission | None = None
    requeue_state: RequeueState | None = None
    reclaimable_pods: tuple[ReclaimablePod, ...] = ()
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    nominated_cluster_names: tuple[str, ...] = ()
    cluster_name: str = ""
    preemption_gates: tuple[PreemptionGateState, ...] = ()
    unhealthy_nodes: tuple[UnhealthyNode, ...] = ()
    accumulated_past_execution_time_seconds: Int32 | None = None


class Workload(Object):
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def topology_pending(self) -> bool:
        """Whether it has quota, but is still to be told its domains."""
        admission = self.status.admission
        return admission is not None and admission.topology_pending

    @property
    def may_run(self) -> bool:
        """Admitted here. A workload that was given to another cluster runs there."""
        truths = {each.type for each in self.status.conditions if each.status == "True"}
        return (
            well_known.ADMITTED in truths
            and truths.isdisjoint((well_known.EVICTED, well_known.FINISHED))
            and self.spec.active
            and not self.status.cluster_name
        )

    @property
    def admitted_pods(self) -> int:
        """How many pods it got quota for; zero while it has none."""
        if self.status.admission is None:
            return 0
        wanted = {each.name: each.count for each in self.spec.pod_sets}
        sets = self.status.admission.pod_set_assignments
        return sum(wanted.get(each.name, 0) if each.count is None else each.count for each in sets)


class ParametersReference(View):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class AdmissionCheckSpec(View):
    controller_name: str = ""
    parameters: ParametersReference | None = None


class AdmissionCheck(Object):
    spec: AdmissionCheckSpec = AdmissionCheckSpec()
    status: ConditionsOnly = ConditionsOnly()


class MultiKueueConfigSpec(View):
    clusters: tuple[str, ...] = ()
    quota_management: str = "Manual"


class MultiKueueConfig(Object):
    spec: MultiKueueConfigSpec = MultiKueueConfigSpec()


class KubeConfigSource(View):
    location: str = ""
    location_type: str = "Secret"


class ClusterSource(View):
    kube_config: KubeConfigSource | None = None


class MultiKueueClusterSpec(View):
    cluster_source: ClusterSource = ClusterSource()


class MultiKueueCluster(Object):
    spec: MultiKueueClusterSpec = MultiKueueClusterSpec()
    status: ConditionsOnly = ConditionsOnly()
