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


class LocalQueue(Object):
    spec: LocalQueueSpec = LocalQueueSpec()
    status: ConditionsOnly = ConditionsOnly()


class ResourceFlavorSpec(View):
    node_labels: dict[str, str] = {}
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class ResourceFlavor(Object):
    spec: ResourceFlavorSpec = ResourceFlavorSpec()


class WorkloadPriorityClass(Object):
    value: Int32 = 0
    description: str = ""


class PodSet(View):
    name: str = "main"
    count: Int32 = 1
    min_count: Int32 | None = None
    template: PodTemplateSpec = PodTemplateSpec()

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
    preemption_gates: tuple[PreemptionGate, ...] = ()


class PodSetAssignment(View):
    name: str = "main"
    flavors: dict[str, str] = {}
    resource_usage: ResourceList = {}
    count: Int32 | None = None


class Admission(View):
    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class AdmissionCheckState(View):
    name: str
    state: str = "Pending"
    message: str = ""
    last_transition_time: Time | None = None


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


class WorkloadStatus(View):
    conditions: tuple[Condition, ...] = ()
    admission: Admission | None = None
    requeue_state: RequeueState | None = None
    reclaimable_pods: tuple[ReclaimablePod, ...] = ()
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    nominated_cluster_names: tuple[str, ...] = ()
    cluster_name: str = ""
    preemption_gates: tuple[PreemptionGateState, ...] = ()


class Workload(Object):
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

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
