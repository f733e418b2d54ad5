"""The switches that change decisions, read once from the configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reprieve.config import Configuration

LESS_THAN_OR_EQUAL_TO_FINAL_SHARE = "LessThanOrEqualToFinalShare"
LESS_THAN_INITIAL_SHARE = "LessThanInitialShare"
DEFAULT_STRATEGIES = (LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, LESS_THAN_INITIAL_SHARE)


@dataclass(frozen=True, slots=True)
class TopologyRules:
    """How pods are placed in domains."""

    enabled: bool = True
    mixed: bool = True
    balanced: bool = False
    scored: bool = False
    overlapping: bool = True
    place_again: bool = True
    elastic: bool = False
    fail_fast: bool = True
    keep_single_pods: bool = True


@dataclass(frozen=True, slots=True)
class UsageRules:
    """Admission fair sharing: how the usage of LocalQueues is weighed and forgotten."""

    half_life: float
    interval: float
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Rules:
    """Fair sharing and Kueue's feature gates, by what they do here."""

    fair_sharing: bool = False
    strategies: tuple[str, ...] = DEFAULT_STRATEGIES
    scan_flavors: bool = True
    keep_scan_progress: bool = True
    partial_admission: bool = True
    priority_in_entry_order: bool = True
    preemptors_first: bool = False
    recompute_on_overlap: bool = True
    preempt_within_nominal: bool = True
    nominal_first: bool = True
    reclaimable_pods: bool = True
    priority_boost: bool = False
    admission_gated_by: bool = True
    preemption_gates: bool = False
    fine_reasons: bool = True
    ignore_undeclared: bool = False
    stop_without_candidates: bool = False
    """KEP-582 as it was proposed: preempt in this flavor or not at all, and begin with the first again."""
    excluded_prefixes: tuple[str, ...] = ()
    device_classes: Mapping[str, str] = field(default_factory=dict)
    """The resource as which each DeviceClass is counted."""
    topology: TopologyRules = TopologyRules()
    elastic: bool = True
    keeps_turn: bool = False
    """Who is evicted because its pods were not ready keeps its place in the queue."""
    usage: UsageRules | None = None

    @classmethod
    def of(cls, config: Configuration) -> "Rules":
        gate = config.gate
        fair = config.fair_sharing
        return cls(
            fair_sharing=fair is not None,
            strategies=tuple((fair and fair.preemption_strategies) or DEFAULT_STRATEGIES),
            scan_flavors=gate("FlavorFungibility"),
            keep_scan_progress=gate("FlavorFungibilityPreserveScanProgress"),
            partial_admission=gate("PartialAdmission"),
            priority_in_entry_order=gate("PrioritySortingWithinCohort"),
            preemptors_first=gate("PrioritizePreemptorWorkloads"),
            recompute_on_overlap=gate("RecomputeAssignmentUponPreemptionTargetsOverlap"),
            preempt_within_nominal=gate("FairSharingPreemptWithinNominal"),
            nominal_first=gate("FairSharingPrioritizeNonBorrowing"),
            reclaimable_pods=gate("ReclaimablePods"),
            priority_boost=gate("PriorityBoost"),
            admission_gated_by=gate("AdmissionGatedBy"),
            preemption_gates=gate("MultiKueueOrchestratedPreemption") or gate("ConcurrentAdmission"),
            fine_reasons=gate("UnadmittedWorkloadsObservability"),
            ignore_undeclared=gate("QuotaCheckStrategy")
            and config.quota.quota_check_strategy == "IgnoreUndeclared",
            stop_without_candidates=config.quota.when_no_candidates == "StopSearch",
            excluded_prefixes=config.quota.exclude_resource_prefixes,
            device_classes={
                cls: each.name
                for each in config.resources.device_class_mappings
                for cls in each.device_class_names
            },
            topology=_topology(config),
            elastic=gate("ElasticJobsViaWorkloadSlices"),
            keeps_turn=_keeps_turn(config),
            usage=_usage(config),
        )


def _topology(config: Configuration) -> TopologyRules:
    gate = config.gate
    return TopologyRules(
        enabled=gate("TopologyAwareScheduling"),
        mixed=gate("TASProfileMixed"),
        balanced=gate("TASBalancedPlacement"),
        scored=gate("TASRespectNodeAffinityPreferred"),
        overlapping=gate("TASHandleOverlappingFlavors"),
        place_again=gate("TASRecomputeAssignmentWithinSchedulingCycle"),
        elastic=gate("ElasticJobsViaWorkloadSlicesWithTAS"),
        fail_fast=gate("TASFailedNodeReplacementFailFast"),
        keep_single_pods=gate("SkipReassignmentForPodOwnedWorkloads"),
    )


def _keeps_turn(config: Configuration) -> bool:
    waits = config.quota.wait_for_pods_ready
    return waits is not None and waits.requeuing_strategy.timestamp == "Creation"


def _usage(config: Configuration) -> UsageRules | None:
    sharing = config.admission_fair_sharing
    if sharing is None or not config.gate("AdmissionFairSharing"):
        return None
    weights = {name: float(weight) for name, weight in sharing.resource_weights.items()}
    return UsageRules(float(sharing.usage_half_life_time), float(sharing.usage_sampling_interval), weights)
