"""The switches that change decisions, read once from the configuration."""

from dataclasses import dataclass

from reprieve.config import Configuration

LESS_THAN_OR_EQUAL_TO_FINAL_SHARE = "LessThanOrEqualToFinalShare"
LESS_THAN_INITIAL_SHARE = "LessThanInitialShare"
DEFAULT_STRATEGIES = (LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, LESS_THAN_INITIAL_SHARE)


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
        )
