"""Feature gates: what each turns on, its default, and which other gates it needs.

Turning a gate on while one that it needs is off is refused. A gate that is on only by default
gives way silently: turning GenericWorkload off is enough to get plain pods, without listing what is built on
it.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from reprieve.objects import Problem, nearest


class Gate(NamedTuple):
    default: bool
    effect: str
    needs: tuple[str, ...] = ()


OWN: dict[str, Gate] = {
    "GenericWorkload": Gate(True, "PodGroups and Workloads are known; off: every pod stands for itself"),
    "GangScheduling": Gate(
        True,
        "a group with a gang policy is placed whole (at least minCount) or not at all",
        ("GenericWorkload",),
    ),
    "WorkloadAwarePreemption": Gate(
        True,
        "gangs preempt, and groups in mode all are preempted whole",
        ("GenericWorkload", "GangScheduling"),
    ),
    "SchedulerAsyncPreemption": Gate(True, "evictions run in the background while the next decision is made"),
    "PodGroupPreemptionPolicy": Gate(
        True, "spec.preemptionPolicy of a PodGroup is read, defaulted and checked", ("GenericWorkload",)
    ),
    "TopologyAwareWorkloadScheduling": Gate(
        True, "spec.schedulingConstraints.topology keeps a group inside one domain", ("GenericWorkload",)
    ),
    "CompositePodGroup": Gate(
        True,
        "CompositePodGroups join groups to trees that are placed and preempted as one",
        ("GenericWorkload", "TopologyAwareWorkloadScheduling"),
    ),
    "DynamicResourceAllocation": Gate(True, "ResourceClaims are allocated; off: nobody looks at them"),
    "DRAWorkloadResourceClaims": Gate(
        True,
        "a PodGroup may own ResourceClaims that its pods share",
        ("GenericWorkload", "DynamicResourceAllocation"),
    ),
    "MultiKueueOrchestratedPreemption": Gate(
        False,
        "one cluster preempts at a time: preemption gates are set, honoured and opened",
        ("MultiKueue",),
    ),
}

KUEUE: dict[str, Gate] = {
    "FlavorFungibility": Gate(True, "whenCanBorrow and whenCanPreempt steer the scan over flavors"),
    "FlavorFungibilityPreserveScanProgress": Gate(
        True, "the scan resumes where it stopped, across cycles", ("FlavorFungibility",)
    ),
    "PartialAdmission": Gate(True, "a podset with minCount may be admitted with fewer pods"),
    "PrioritySortingWithinCohort": Gate(True, "priority counts in the order of entries of a cycle"),
    "PrioritizePreemptorWorkloads": Gate(False, "a workload whose victims are leaving goes first"),
    "RecomputeAssignmentUponPreemptionTargetsOverlap": Gate(
        True, "an entry whose victims another entry took is assigned anew in the same cycle"
    ),
    "FairSharingPreemptWithinNominal": Gate(
        True, "a queue within its nominal quota reclaims without comparing shares"
    ),
    "FairSharingPrioritizeNonBorrowing": Gate(True, "fair sharing lets queues that do not borrow go first"),
    "SchedulingEquivalenceHashing": Gate(True, "workloads of equal shape are parked together"),
    "UnadmittedWorkloadsObservability": Gate(True, "QuotaReserved=False says in detail what is waited for"),
    "UnadmittedWorkloadsExplicitStatus": Gate(
        False, "conditions are written as soon as a workload exists", ("UnadmittedWorkloadsObservability",)
    ),
    "QuotaCheckStrategy": Gate(True, "resources no queue declares may be ignored (quota.quotaCheckStrategy)"),
    "ReclaimablePods": Gate(True, "pods that are done give their quota back early"),
    "PriorityBoost": Gate(False, "the annotation kueue.x-k8s.io/priority-boost is added to the priority"),
    "AdmissionGatedBy": Gate(
        True, "the annotation kueue.x-k8s.io/admission-gated-by keeps a workload out of its queue"
    ),
    "AdmissionFairSharing": Gate(
        True, "LocalQueues that used less go first in queues that say so; needs admissionFairSharing"
    ),
    "ConcurrentAdmission": Gate(
        False, "several flavors are tried at once; here only: preemption gates are honoured"
    ),
    "MultiKueue": Gate(True, "workloads may be sent to other clusters"),
    "MultiKueueIncrementalDispatcherConfig": Gate(True, "fleet.stepSize is read", ("MultiKueue",)),
    "MultiKueueIncrementalDispatcherRespectConfigOrder": Gate(
        True,
        "the incremental dispatcher takes clusters in the order of the MultiKueueConfig",
        ("MultiKueue",),
    ),
    "MultiKueueManagerQuotaAutomation": Gate(False, "quota of the manager follows its workers; unused here"),
    "MultiKueueClusterProfile": Gate(False, "clusters may be named by a ClusterProfile; unused here"),
    "MultiKueueKubeConfigPathValidation": Gate(
        True, "kubeconfig paths must lie under /etc/multikueue/kubeconfigs"
    ),
    "ElasticJobsViaWorkloadSlices": Gate(True, "running jobs may grow by a replacement workload"),
    "ElasticJobsViaWorkloadSlicesWithTAS": Gate(
        False,
        "a replacement workload keeps the places of the pods there are",
        ("ElasticJobsViaWorkloadSlices", "TopologyAwareScheduling"),
    ),
    "TopologyAwareScheduling": Gate(True, "flavors with a topologyName place pods in racks and blocks"),
    "TASProfileMixed": Gate(
        True, "pods that only need capacity go to the fullest domains", ("TopologyAwareScheduling",)
    ),
    "TASBalancedPlacement": Gate(
        False, "preferred topologies are filled evenly", ("TopologyAwareScheduling",)
    ),
    "TASMultiLayerTopology": Gate(
        True, "slices within slices may be asked for by annotation", ("TopologyAwareScheduling",)
    ),
    "TASRespectNodeAffinityPreferred": Gate(
        False, "preferred node affinity orders domains", ("TopologyAwareScheduling",)
    ),
    "TASHandleOverlappingFlavors": Gate(
        True, "flavors that share hosts see each other's pods", ("TopologyAwareScheduling",)
    ),
    "TASRecomputeAssignmentWithinSchedulingCycle": Gate(
        True,
        "who loses a domain to another of the same cycle is placed again at once",
        ("TopologyAwareScheduling",),
    ),
    "TASFailedNodeReplacement": Gate(
        True, "pods of a failed node get another one", ("TopologyAwareScheduling",)
    ),
    "TASFailedNodeReplacementFailFast": Gate(
        True, "no other node: the workload is evicted at once", ("TASFailedNodeReplacement",)
    ),
    "TASReplaceNodeOnPodTermination": Gate(
        True, "a node that is not ready is replaced once its pods end", ("TASFailedNodeReplacement",)
    ),
    "TASReplaceNodeOnNodeTaints": Gate(
        True, "a node whose taint the pods do not tolerate is replaced", ("TASFailedNodeReplacement",)
    ),
    "TASReplaceNodeDueToNotReadyOverFixedTime": Gate(
        False, "a node is replaced after 30 s of not being ready", ("TASFailedNodeReplacement",)
    ),
    "SkipReassignmentForPodOwnedWorkloads": Gate(
        True, "a workload of a single pod keeps its node", ("TASFailedNodeReplacement",)
    ),
    "TASValidateWorkloadSliceSize": Gate(
        True, "a slice must not be larger than its pod set", ("TopologyAwareScheduling",)
    ),
    "TASCacheNodeMatchResults": Gate(True, "an optimisation upstream; unused here"),
    "TASCachingRemainingResources": Gate(True, "an optimisation upstream; unused here"),
    "TASCacheTopologyTree": Gate(True, "an optimisation upstream; unused here"),
    "TASAssignmentsEncodingByHostnamePrefix": Gate(True, "an encoding upstream; unused here"),
    "SchedulerLibraryIntegration": Gate(
        False, "nodes are filtered by the scheduler's own library upstream; unused here"
    ),
    "VectorizedResourceRequests": Gate(True, "an internal representation upstream; unused here"),
    "WorkloadPriorityClassDefaulting": Gate(True, "a WorkloadPriorityClass named default is the default"),
    "RejectUpdatesToCQWithInvalidOnFlavors": Gate(
        False, "onFlavors is checked on every update of a ClusterQueue"
    ),
}

GATES: dict[str, Gate] = OWN | KUEUE


def problems(chosen: Mapping[str, bool]) -> list[Problem]:
    """Unknown gates, and gates turned on without those they need."""
    found = []
    for name, on in chosen.items():
        path = f"featureGates.{name}"
        if name not in GATES:
            found.append(Problem(path, on, f"there is no gate {name!r}{nearest(name, GATES)}"))
        elif on and (missing := _missing(name, chosen)):
            found.append(
                Problem(
                    path,
                    on,
                    f"{name} needs {' and '.join(missing)}, which {_is(missing)} off: "
                    f"turn on {_both(missing)}",
                )
            )
    return found


def is_on(name: str, chosen: Mapping[str, bool]) -> bool:
    """Raises KeyError for a name that is no gate: that is a mistake in the program, not in its input."""
    return _is_on(name, frozenset(chosen.items()))


@cache
def _is_on(name: str, chosen: frozenset[tuple[str, bool]]) -> bool:
    """Remembered: every decision asks for the same few gates."""
    gate, given = GATES[name], dict(chosen)
    return given.get(name, gate.default) and not _missing(name, given)


def _missing(name: str, chosen: Mapping[str, bool]) -> list[str]:
    return [need for need in GATES[name].needs if not is_on(need, chosen)]


def _is(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _both(names: list[str]) -> str:
    return " and ".join(names) + ", or turn this gate off"
