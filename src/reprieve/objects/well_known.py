"""Names on the wire that more than one module has to spell alike, grouped by the API group they belong to.

Labels, annotations, finalizers, taints, condition types, priority classes, phases. Reasons are here when code
reads them or writes them in several places; a reason that is only written, once, stands next to its message.
Tables keyed by (API group, kind) keep plain strings, where a constant would hide what the table shows.
"""

# Core: pods

TERMINAL_PHASES = frozenset(("Succeeded", "Failed"))
"""`status.phase` of a pod that will never run again and holds no resources."""

READY = "Ready"
"""Condition of a pod and of a node, and the state of an admission check."""
POD_SCHEDULED = "PodScheduled"
UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"
SCHEDULING_GATED = "SchedulingGated"
WAITING_FOR_QUOTA = "WaitingForQuota"
WAITING_FOR_POD_GROUP = "WaitingForPodGroup"
"""Reasons of `PodScheduled` being False. The last two are Reprieve's own: nothing was tried yet, and an
autoscaler adds nodes for pods that are `Unschedulable`."""

DISRUPTION_TARGET = "DisruptionTarget"
PREEMPTION_BY_SCHEDULER = "PreemptionByScheduler"
"""Reason of `DisruptionTarget` on a victim that is about to be deleted."""
PREEMPTION_WITHDRAWN = "PreemptionWithdrawn"
"""Reason of `DisruptionTarget` being False: the plan that named the victim was given up. Reprieve's own."""

DEFAULT_SCHEDULER = "default-scheduler"
"""`spec.schedulerName` of pods that name none."""

POD_RESIZE_PENDING = "PodResizePending"

PREEMPTED_EVENT = "Preempted"
"""Reason of the event on a victim, as kube-scheduler writes it."""

# Core: nodes and namespaces

HOSTNAME_LABEL = "kubernetes.io/hostname"
ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"
OLD_ZONE_LABEL = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION_LABEL = "failure-domain.beta.kubernetes.io/region"

NOT_READY_TAINT = "node.kubernetes.io/not-ready"
UNREACHABLE_TAINT = "node.kubernetes.io/unreachable"
UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"
"""The label by which namespace selectors can name one namespace; the API server sets it."""

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
"""Annotation of the bookmark after which a watch has sent everything that existed when it began."""

# Core and storage.k8s.io: volumes

STORAGE_API = "storage.k8s.io"
RBAC_API = "rbac.authorization.k8s.io"
DEVICE_API = "resource.k8s.io"
OLD_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
"""Annotation with the class of a claim or volume; where it stands, the field does not count."""
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
"""Annotation of a claim whose volume knows of it, too."""
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
"""Annotation of a volume or claim that somebody else than its author bound."""
SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""Annotation of a claim: where its volume is to be made."""
CLAIM_PROTECTION = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION = "kubernetes.io/pv-protection"
"""Finalizers of claims that pods use and of volumes that are bound."""
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""Annotation of a CSINode: in-tree plugins whose volumes a CSI driver serves there."""
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"

# batch and policy

JOB_COMPLETE = "Complete"
JOB_FAILED = "Failed"
JOB_SUSPENDED = "Suspended"
JOB_ENDED = (JOB_COMPLETE, JOB_FAILED)
"""Either of these conditions ends a job."""

JOB_NAME_LABEL = "batch.kubernetes.io/job-name"
JOB_CONTROLLER_UID_LABEL = "batch.kubernetes.io/controller-uid"
JOB_INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index"
JOB_TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"

DISRUPTION_ALLOWED = "DisruptionAllowed"
INSUFFICIENT_PODS = "InsufficientPods"
"""Reason of `DisruptionAllowed` being False."""

# scheduling.k8s.io

SCHEDULING_API = "scheduling.k8s.io"

SYSTEM_NODE_CRITICAL = "system-node-critical"
SYSTEM_CLUSTER_CRITICAL = "system-cluster-critical"
SYSTEM_CLASSES = {SYSTEM_CLUSTER_CRITICAL: 2_000_000_000, SYSTEM_NODE_CRITICAL: 2_000_001_000}
"""Priority classes that exist in every cluster, with their values."""

POD_GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
"""The label by which pods join a group of the out-of-tree plugins; `spec.schedulingGroup` comes first."""
POD_GROUP_PROTECTION = "scheduling.k8s.io/podgroup-protection"
"""Finalizer of a group that still has pods."""

POD_GROUP_SCHEDULED = "PodGroupInitiallyScheduled"
PODS_NOT_MATCHING_PRIORITY = "PodsNotMatchingPriority"

# kueue.x-k8s.io

KUEUE_API = "kueue.x-k8s.io"

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
WORKLOAD_PRIORITY_CLASS_LABEL = "kueue.x-k8s.io/priority-class"
PREBUILT_WORKLOAD_LABEL = "kueue.x-k8s.io/prebuilt-workload-name"
JOB_UID_LABEL = "kueue.x-k8s.io/job-uid"
MAX_EXEC_TIME_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"
COMPONENT_INDEX_ANNOTATION = "kueue.x-k8s.io/component-workload-index"
POD_GROUP_NAME_LABEL = "kueue.x-k8s.io/pod-group-name"
"""Pods with the same value ask for quota together, once there are as many as the annotation says."""
POD_GROUP_TOTAL = "kueue.x-k8s.io/pod-group-total-count"
MIN_PARALLELISM_ANNOTATION = "kueue.x-k8s.io/job-min-parallelism"
ELASTIC_JOB_ANNOTATION = "kueue.x-k8s.io/elastic-job"
SYNC_COMPLETIONS_ANNOTATION = "kueue.x-k8s.io/job-completions-equal-parallelism"
PRIORITY_BOOST_ANNOTATION = "kueue.x-k8s.io/priority-boost"
ADMISSION_GATED_BY_ANNOTATION = "kueue.x-k8s.io/admission-gated-by"
PREEMPTION_GATED_ANNOTATION = "kueue.x-k8s.io/preemption-gated"
"""The alpha form of a closed preemption gate (KEP-8303): preemption is planned and not carried out."""
CANNOT_PREEMPT_ANNOTATION = "kueue.x-k8s.io/cannot-preempt"
"""No placement that needs preemption is considered (KEP-8729)."""
ELASTIC_JOB_ANNOTATION = "kueue.x-k8s.io/elastic-job"
SLICE_REPLACEMENT_ANNOTATION = "kueue.x-k8s.io/workload-slice-replacement-for"
"""On a workload: the key of the admitted one whose place it takes with another number of pods."""
GROUP_WORKLOAD_ANNOTATION = "kueue.x-k8s.io/is-group-workload"
TOPOLOGY_REQUIRED_ANNOTATION = "kueue.x-k8s.io/podset-required-topology"
TOPOLOGY_PREFERRED_ANNOTATION = "kueue.x-k8s.io/podset-preferred-topology"
TOPOLOGY_UNCONSTRAINED_ANNOTATION = "kueue.x-k8s.io/podset-unconstrained-topology"
TOPOLOGY_SLICE_ANNOTATION = "kueue.x-k8s.io/podset-slice-required-topology"
TOPOLOGY_SLICE_SIZE_ANNOTATION = "kueue.x-k8s.io/podset-slice-size"
TOPOLOGY_SLICES_ANNOTATION = "kueue.x-k8s.io/podset-slice-required-topology-constraints"
TOPOLOGY_GROUP_ANNOTATION = "kueue.x-k8s.io/podset-group-name"
TOPOLOGY_ANNOTATIONS = (
    TOPOLOGY_REQUIRED_ANNOTATION,
    TOPOLOGY_PREFERRED_ANNOTATION,
    TOPOLOGY_UNCONSTRAINED_ANNOTATION,
    TOPOLOGY_SLICE_ANNOTATION,
    TOPOLOGY_SLICES_ANNOTATION,
)
"""A pod with one of these is placed through quota: what it uses is counted with its workload."""
WORKLOAD_ANNOTATION = "kueue.x-k8s.io/workload"
"""On a pod: the workload whose domains it gets one of."""
POD_SET_LABEL = "kueue.x-k8s.io/podset"
TOPOLOGY_GATE = "kueue.x-k8s.io/topology"
"""Scheduling gate of pods that wait to be told their domain."""

PRIORITY_CLASS_KINDS = {KUEUE_API: "WorkloadPriorityClass", SCHEDULING_API: "PriorityClass"}
"""The classes that a workload's `priorityClassRef` may name: kind by API group."""
PRIORITY_CLASS_SOURCES = {
    KUEUE_API: "kueue.x-k8s.io/workloadpriorityclass",
    SCHEDULING_API: "scheduling.k8s.io/priorityclass",
}
"""How v1beta1 wrote the API group, as `priorityClassSource`."""

ADMISSION_GATE = "kueue.x-k8s.io/admission"
"""Scheduling gate of pods whose group waits for quota."""
UNMANAGED_NAMESPACES = ("kube-system", "kueue-system")
"""Where Jobs without a queue stay free even if all others need one, as Kueue's configuration has it."""
RESOURCE_IN_USE = "kueue.x-k8s.io/resource-in-use"
"""Finalizer of queues and flavors."""

QUOTA_RESERVED = "QuotaReserved"
ADMITTED = "Admitted"
EVICTED = "Evicted"
PREEMPTED = "Preempted"
"""Condition of a workload, and the reason of its `Evicted`."""
REQUEUED = "Requeued"
FINISHED = "Finished"
BLOCKED_ON_PREEMPTION_GATES = "BlockedOnPreemptionGates"
DEACTIVATION_TARGET = "DeactivationTarget"
PODS_READY = "PodsReady"
ACTIVE = "Active"
"""Condition of queues, admission checks and worker clusters."""

PENDING_EVALUATION = "PendingEvaluation"
PREEMPTION_GATED = "PreemptionGated"
PENDING_DELAYED_TOPOLOGY = "PendingDelayedTopologyRequests"
NODE_FAILURES = "NodeFailures"
PODS_READY_TIMEOUT = "PodsReadyTimeout"
REQUEUING_LIMIT_EXCEEDED = "RequeuingLimitExceeded"
MAX_TIME_EXCEEDED = "MaximumExecutionTimeExceeded"
"""A workload has been admitted for longer than it may be: it is stopped and stays so."""
SLICE_REPLACED = "WorkloadSliceReplaced"
UNSATISFIED_CHECKS = "UnsatisfiedAdmissionChecks"
IN_CLUSTER_QUEUE = "InClusterQueue"
IN_COHORT_RECLAMATION = "InCohortReclamation"
IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
IN_COHORT_FAIR_SHARING = "InCohortFairSharing"
"""Reasons of `Preempted`."""

PROVISIONING_CONTROLLER = "kueue.x-k8s.io/provisioning-request"
"""`spec.controllerName` of the admission checks that make nodes first."""

# MultiKueue

MULTIKUEUE_CONTROLLER = "kueue.x-k8s.io/multikueue"
"""`spec.controllerName` of the admission checks that the fleet answers, and `spec.managedBy` of its jobs."""
MULTIKUEUE_GATE = "kueue.x-k8s.io/multikueue"
"""The preemption gate that every copy is created with."""
ORIGIN_LABEL = "kueue.x-k8s.io/multikueue-origin"
"""On a copy in a worker cluster: which manager it came from."""
KUBECONFIG_NAMESPACE = "kueue-system"
"""Where the Secrets with the workers' kubeconfigs live, as with Kueue."""
KUBECONFIG_FOLDER = "/etc/multikueue/kubeconfigs/"

GATE_OPEN = "Open"
GATE_CLOSED = "Closed"

OUT_OF_SYNC = "OutOfSync"
EVICTED_ON_MANAGER = "EvictedOnManagerCluster"

# reprieve.dev

API_VERSION = "reprieve.dev/v1alpha1"
"""Of the documents that Reprieve itself defines: its configuration, plans, explanations."""
ANNOTATION_PREFIX = "reprieve.dev/"

PREEMPTION_CLASS_ANNOTATION = "reprieve.dev/preemption-priority-class"
"""On a pod or group: the priority class whose value protects it from preemption."""
MIN_RUNTIME_ANNOTATION = "reprieve.dev/min-runtime"
EXPECTED_RUNTIME_ANNOTATION = "reprieve.dev/expected-runtime"
"""On a job, a pod or a group: how long it will run once it has started. Only forecasts read it."""
CHECKPOINTED_AT_ANNOTATION = "reprieve.dev/checkpointed-at"
PREEMPTION_COST_ANNOTATION = "reprieve.dev/preemption-cost"
DISRUPTION_ROLE_ANNOTATION = "reprieve.dev/disruption-role"
ARRIVES_AFTER_ANNOTATION = "reprieve.dev/arrives-after"
"""On a job: how long after the beginning of a simulation it is submitted. Only simulations read it."""

EVICTED_FOR_ANNOTATION = "reprieve.dev/evicted-for"
"""On a pod with the condition `DisruptionTarget`: which scheduler wrote that, and for which unit, as JSON."""

QUOTA_GIVEN_ANNOTATION = "reprieve.dev/quota-given"
"""On a pod of a group in a queue: the UID of the workload whose quota it may use. The quota controller writes
it, and the scheduler places no such pod without it: a pod made anew after an eviction has none."""

BEFORE_START_ANNOTATION = "reprieve.dev/before-start"
"""On a job that runs on quota: what its flavors changed in it, as JSON, to be put back when it stops."""

NOT_MATCHING_TEMPLATE = "reprieve.dev/NotMatchingTemplate"
"""Condition of a group that contradicts the template of its Workload."""
NO_NODE_FITS = "reprieve.dev/NoNodeFits"
"""Condition of a workload that has quota although no node could ever hold one of its pods."""

WEBHOOK_PATH = "/hold"
"""Where the quota controller answers the API server about new jobs and pods."""

INCOMPLETE = "reprieve.dev/Incomplete"
"""Condition of a group whose pods are bound in part."""

LEDGER_ANNOTATION = "reprieve.dev/fleet-ledger"
"""On the manager's workload: which cluster may preempt now, measured by the manager's own clock."""
FLEET_OWNER_ANNOTATION = "reprieve.dev/fleet-owner"
"""On a copy: the job or gang that it stands for, `RayJob.ray.io/train`. It is withdrawn together with it."""
FLEET_SOURCE_ANNOTATION = "reprieve.dev/fleet-source"
"""On a pod that the fleet made: the UID of the manager's pod that it runs for."""
GATE_LEASE_ANNOTATION = "reprieve.dev/gate-lease"
"""On a copy: how long an open gate stays open before the worker closes it by itself."""
GATE_SEEN_ANNOTATION = "reprieve.dev/gate-seen"
"""On a copy, by its worker: which opening of the gate it saw, and when by its own clock."""

# reprieve.dev: the embedded server's fake nodes

FAKE_NODE_ANNOTATION = "reprieve.dev/fake-node"
NODE_FAIL_ANNOTATION = "reprieve.dev/fail"
RUN_FOR_ANNOTATION = "reprieve.dev/run-for"
EXIT_CODE_ANNOTATION = "reprieve.dev/exit-code"
START_AFTER_ANNOTATION = "reprieve.dev/start-after"
TERMINATE_AFTER_ANNOTATION = "reprieve.dev/terminate-after"
