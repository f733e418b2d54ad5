"""core/v1: the parts of pods, nodes and namespaces that scheduling reads."""

import msgspec

from reprieve.objects.meta import NOTHING, Condition, Int32, Int64, LabelSelector, Object, Time, View
from reprieve.objects.volumes import Volume

Quantity = str | int | float
"""A resource quantity as it stands on the wire; `reprieve.objects.quantity` gives it a value."""

ResourceList = dict[str, Quantity]


class ResourceRequirements(View):
    requests: ResourceList = NOTHING
    limits: ResourceList = NOTHING


class ContainerPort(View):
    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = "TCP"


class Container(View):
    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


class Toleration(View):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class Taint(View):
    key: str
    effect: str = ""
    value: str = ""


class NodeSelectorRequirement(View):
    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelectorTerm(View):
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(View):
    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(View):
    weight: Int32
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(View):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(View):
    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(View):
    weight: Int32
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(View):
    """Affinity and anti-affinity share this shape."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(View):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(View):
    topology_key: str = ""
    max_skew: Int32 = 1
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()


class SchedulingGate(View):
    name: str = ""


class SchedulingGroup(View):
    """The link from a pod to its PodGroup in the same namespace."""

    pod_group_name: str = ""


class OldWorkloadReference(View):
    """How pods of Kubernetes 1.35 named their group; read only to say that nobody honours it any more."""

    name: str = ""


class PodResourceClaim(View):
    """How a pod names a ResourceClaim: one that exists, or one that is made from a template for it."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodResourceClaimStatus(View):
    """The claim that was made from a template; without a name none was needed."""

    name: str = ""
    resource_claim_name: str | None = None


class PodSpec(View):
    node_name: str = ""
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    scheduling_group: SchedulingGroup | None = None
    workload_ref: OldWorkloadReference | None = None
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: ResourceList = NOTHING
    node_selector: dict[str, str] = NOTHING
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    host_network: bool = False
    termination_grace_period_seconds: Int64 | None = None
    restart_policy: str = ""
    runtime_class_name: str = ""
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()


class ContainerStatus(View):
    name: str = ""
    allocated_resources: ResourceList = NOTHING
    resources: ResourceRequirements | None = None


class PodStatus(View):
    phase: str = ""
    start_time: Time | None = None
    nominated_node_name: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    allocated_resources: ResourceList = NOTHING
    resources: ResourceRequirements | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()


class Pod(Object):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def group_key(self) -> str:
        """`namespace/name` of its PodGroup, empty for a pod on its own.

        Decoding has turned the label of older clusters into `spec.scheduling_group`, so this is the answer.
        """
        group = self.spec.scheduling_group
        if group is None or not group.pod_group_name:
            return ""
        return f"{self.metadata.namespace}/{group.pod_group_name}"


class NodeSpec(View):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class ContainerImage(View):
    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeStatus(View):
    allocatable: ResourceList = NOTHING
    capacity: ResourceList = NOTHING
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()


class Node(Object):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Object):
    """Only its labels matter here: for namespace selectors."""


class LimitRangeItem(View):
    type: str = ""
    max: ResourceList = NOTHING
    min: ResourceList = NOTHING
    default: ResourceList = NOTHING
    default_request: ResourceList = NOTHING


class LimitRangeSpec(View):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Object):
    spec: LimitRangeSpec = LimitRangeSpec()


class TemplateMeta(View):
    labels: dict[str, str] = NOTHING
    annotations: dict[str, str] = NOTHING


class PodTemplateSpec(View):
    metadata: TemplateMeta = TemplateMeta()
    spec: PodSpec = PodSpec()
