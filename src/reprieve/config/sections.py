"""The sections of the configuration.

Every field is documented here and in docs/configuration.md; a test compares the two.
"""

from typing import Annotated, Literal, dataclass_transform

import msgspec
from msgspec import Meta

from reprieve.jobs import JobKind
from reprieve.objects import Duration, LabelSelector, well_known

Positive = Annotated[int, Meta(ge=1)]
Weight = Annotated[float, Meta(ge=0)]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """Base of all sections: frozen, camelCase in the file."""


class Weights(Section):
    """Weights of the terms that `minimal-cost` adds up once budgets and priorities are equal."""

    lost_work: Weight = 1.0
    restart: Weight = 1.0
    preemption_cost: Weight = 1.0
    units: Weight = 0.01
    """Little: fewer pods first, and fewer units between plans that evict equally many pods."""
    pods: Weight = 1.0
    cascade: Weight = 1.0


class Preemption(Section):
    algorithm: Literal["kep-5710", "kubernetes", "minimal-cost"] = "kep-5710"
    time_budget: Duration = Duration(0.2)
    """How long `minimal-cost` may look for something better."""
    weights: Weights = Weights()
    max_protected_units: Annotated[int, Meta(ge=0)] = 0
    """How many running units a preemption priority may protect beyond their priority; 0: any number."""
    max_protection: Duration = Duration(0)
    """How long after its start a preemption priority may protect a unit; 0: as long as it runs."""
    place_beyond_min_count: bool = False
    """`minimal-cost`: evict also for pods of a gang beyond its minCount."""
    headroom: Duration = Duration(0)
    """What more important units gave back within this time is kept for them; 0: nothing is."""
    return_pause: Duration = Duration(0)
    """How long a unit waits after it was preempted; twice as long each further time; 0: not at all."""
    max_return_pause: Duration = Duration(4 * 3600)
    """The longest of these pauses."""


class ScoredResource(Section):
    name: str
    weight: Annotated[int, Meta(ge=1, le=100)] = 1


class ShapePoint(Section):
    utilization: Annotated[int, Meta(ge=0, le=100)]
    score: Annotated[int, Meta(ge=0, le=10)]


class ScoringStrategy(Section):
    type: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] = "LeastAllocated"
    resources: tuple[ScoredResource, ...] = (ScoredResource(name="cpu"), ScoredResource(name="memory"))
    shape: tuple[ShapePoint, ...] = ()
    """Points of the function from utilization to score; only and always with RequestedToCapacityRatio."""


class Placement(Section):
    scoring_strategy: ScoringStrategy = ScoringStrategy()


Strategy = Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]


class FairSharing(Section):
    """Its presence turns fair sharing on."""

    preemption_strategies: tuple[Strategy, ...] = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


class AdmissionFairSharing(Section):
    """Its presence turns on admission fair sharing for ClusterQueues with the mode in `admissionScope`."""

    usage_half_life_time: Duration = Duration(0)
    """After this long a usage counts half; 0: it never fades."""
    usage_sampling_interval: Duration = Duration(300)
    """How often the usage of LocalQueues is looked at."""
    resource_weights: dict[str, Weight] = msgspec.field(default_factory=dict)
    """What a unit of each resource counts; 1 if it is not named."""


class SelectorRequirement(Section):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: tuple[str, ...] = ()


class NamespaceSelector(Section):
    match_labels: dict[str, str] = {}
    match_expressions: tuple[SelectorRequirement, ...] = ()


class QuotaWebhook(Section):
    port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """Where the webhook that holds jobs at their creation is served; 0: it is not."""
    host: str = "0.0.0.0"
    """At which address; `::` where a cluster has IPv6 only."""
    name: str = "reprieve"
    """Of its MutatingWebhookConfiguration and of the Service in front of it."""


class RequeuingStrategy(Section):
    timestamp: Literal["Eviction", "Creation"] = "Eviction"
    """Where a workload that comes back stands in its queue: by the time of its eviction, or its old place."""
    backoff_limit_count: Annotated[int, Meta(ge=0)] | None = None
    """After so many returns it is switched off; none: it is tried for ever."""
    backoff_base_seconds: Annotated[int, Meta(ge=0)] = 60
    """How long it waits after the first eviction; twice as long each further time."""
    backoff_max_seconds: Annotated[int, Meta(ge=0)] = 3600
    """The longest of these waits."""


class WaitForPodsReady(Section):
    """Its presence turns it on: who holds quota and does not get its pods to run gives it back."""

    timeout: Duration = Duration(1800)
    """How long after its admission all pods of a workload must be ready."""
    recovery_timeout: Duration | None = None
    """How long pods that were ready may be missing; as `timeout` if it is not set; 0: for ever."""
    requeuing_strategy: RequeuingStrategy = RequeuingStrategy()

    @property
    def recovery(self) -> float:
        return float(self.timeout if self.recovery_timeout is None else self.recovery_timeout)


class Quota(Section):
    exclude_resource_prefixes: tuple[str, ...] = ()
    """Resources whose names start so are not counted."""
    quota_check_strategy: Literal["BlockUndeclared", "IgnoreUndeclared"] = "BlockUndeclared"
    """What a resource means that the queue does not cover."""
    when_no_candidates: Literal["TryNextFlavor", "StopSearch"] = "TryNextFlavor"
    """`whenCanPreempt: MayStopSearch`, and the flavor has nobody to preempt: try the next one, as Kueue does,
    or stop there and begin with the first flavor again, as KEP-582 says."""
    manage_jobs_without_queue_name: bool = False
    """Jobs of any kind without a queue wait until they get one, except in kube-system and kueue-system."""
    managed_jobs_namespace_selector: NamespaceSelector | None = None
    """Only in namespaces with these labels do jobs need a queue."""

    webhook: QuotaWebhook = QuotaWebhook()
    wait_for_pods_ready: WaitForPodsReady | None = None

    def managed_namespaces(self) -> LabelSelector | None:
        if self.managed_jobs_namespace_selector is None:
            return None
        return msgspec.convert(msgspec.to_builtins(self.managed_jobs_namespace_selector), LabelSelector)


class DeviceClassMapping(Section):
    """Devices of these classes count as a resource of this name."""

    name: str
    device_class_names: tuple[str, ...]


class Resources(Section):
    device_class_mappings: tuple[DeviceClassMapping, ...] = ()
    """As which resource quota counts the devices of claim templates; empty: it does not count them."""


class Fleet(Section):
    gate_policy: Literal["first-come", "least-cost"] = "first-come"
    single_cluster_preemption_timeout: Duration = Duration(300)
    """How long one cluster alone may preempt."""
    cluster_queue_preemption_timeouts: dict[str, Duration] = {}
    """The same by the name of the manager's ClusterQueue, where it differs."""
    close_gate_at_timeout: bool = True
    """Close the earlier gate before the next one opens. Off: as Kueue, it stays open."""
    close_gate_margin: Duration = Duration(10)
    """How much longer a worker out of reach is given to close its gate by itself."""
    grace: Duration = Duration(10)
    """`least-cost`: how long after the first signal a worker without need to preempt may still win."""
    dispatcher: Literal["AllAtOnce", "Incremental"] = "AllAtOnce"
    step_size: Positive = 3
    """Incremental: how many more clusters are nominated in each round."""
    round_length: Duration = Duration(300)
    """Incremental: how long a round lasts."""
    worker_lost_timeout: Duration = Duration(900)
    origin: str = "multikueue"
    """Value of the label kueue.x-k8s.io/multikueue-origin on remote copies."""
    allow_plain_http: bool = msgspec.field(name="allowPlainHTTP", default=False)
    """Workers may be reached over http://, where anybody on the way can read the token."""


class LeaderElection(Section):
    enabled: bool = True
    lease_duration: Duration = Duration(15)
    renew_deadline: Duration = Duration(10)
    retry_period: Duration = Duration(2)
    namespace: str = "reprieve-system"
    name: str = "reprieve"


class Scheduler(Section):
    scheduler_name: str = "reprieve"
    """Pods with this spec.schedulerName are ours to place."""
    other_scheduler_names: tuple[str, ...] = ()
    """Pods with one of these as well."""
    initial_backoff: Duration = Duration(1)
    max_backoff: Duration = Duration(10)
    max_unschedulable: Duration = Duration(300)
    """After this long an unschedulable pod is tried again although nothing happened."""
    incomplete_gang_timeout: Duration = Duration(300)
    """A gang bound in part that cannot be completed for this long has its bound pods released; 0: never."""
    leader_election: LeaderElection = LeaderElection()

    @property
    def known_names(self) -> frozenset[str]:
        """Schedulers of which something is known: these, and the usual one."""
        return frozenset({well_known.DEFAULT_SCHEDULER, self.scheduler_name, *self.other_scheduler_names})


class Records(Section):
    ring_size: Positive = 10_000
    """How many decisions are kept in memory."""
    path: str = ""
    """A file that keeps them too; empty: memory only."""


class Tracing(Section):
    endpoint: str = ""
    """Where spans are sent, OTLP over HTTP, e.g. http://collector:4318/v1/traces; empty: there are none."""
    sampling_rate_per_million: Annotated[int, Meta(ge=0, le=1_000_000)] = 1_000_000
    """How many of a million traces are sent."""


class Jobs(Section):
    kinds: tuple[JobKind, ...] = ()
    """Kinds of jobs on top of those that are known: where their pods are and how they are started."""


class Admission(Section):
    allow_whole_group_disruption_for_basic: bool = False
    """Accept disruption mode all with the basic policy, as Kubernetes 1.37 does; the proposal forbids it."""
