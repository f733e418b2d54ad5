"""Why a workload, a queue or a flavor is refused: a cause and its values. The sentence is made where it is
shown."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from reprieve.objects import well_known
from reprieve.quota import sentences
from reprieve.quota.pending import GENERIC

MISCONFIGURED = "Misconfigured"
NO_MATCHING_FLAVOR = "NoMatchingFlavor"
EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
WAITING_FOR_QUOTA = "WaitingForQuota"
PLACEMENT_FAILED = "TopologyPlacementFailed"

Value = str | int | tuple[str, ...]


class Cause(Enum):
    """What is refused, with the reason of its condition."""

    def __init__(self, reason: str, said: str | Callable[..., str]) -> None:
        self.reason = reason
        self.said = said

    __hash__ = object.__hash__  # that of `Enum` looks the name up each time

    # A workload that is not tried.
    NO_POD_SETS = (MISCONFIGURED, sentences.NO_POD_SETS)
    NO_QUEUE_NAMED = (MISCONFIGURED, sentences.NO_QUEUE_NAMED)
    NO_LOCAL_QUEUE = (MISCONFIGURED, sentences.no_such_local_queue)
    LOCAL_QUEUE_INACTIVE = ("Suspended", sentences.local_queue_is_inactive)
    NO_CLUSTER_QUEUE = (MISCONFIGURED, sentences.no_such_cluster_queue)
    NO_PRIORITY_CLASS = (MISCONFIGURED, sentences.no_such_priority_class)
    NAMESPACE_MISMATCH = (MISCONFIGURED, sentences.NAMESPACE_MISMATCH)
    FAILED_CHECKS = (well_known.PENDING_EVALUATION, sentences.FAILED_CHECKS)
    ABOVE_LIMITS = (MISCONFIGURED, sentences.limits_exceeded)
    OUTSIDE_LIMIT_RANGES = (MISCONFIGURED, sentences.outside_limit_ranges)
    REQUEST_UNREADABLE = (MISCONFIGURED, sentences.request_is_unreadable)
    DEVICES_UNCOUNTABLE = (MISCONFIGURED, sentences.devices_uncountable)
    LETS_PASS = (WAITING_FOR_QUOTA, sentences.lets_pass)

    # A ClusterQueue that admits nothing.
    STOPPED = ("Stopped", sentences.STOPPED)
    FLAVORS_MISSING = ("FlavorNotFound", sentences.flavors_missing)
    CHECKS_MISSING = ("AdmissionCheckNotFound", sentences.checks_missing)
    CHECKS_INACTIVE = ("AdmissionCheckInactive", sentences.checks_inactive)
    TOPOLOGY_MISSING = ("TopologyNotFound", sentences.topology_missing)
    COHORT_CYCLE = ("HasCycle", sentences.cycle_of_cohorts)
    FLAVOR_IN_TWO_GROUPS = (MISCONFIGURED, sentences.flavor_in_two_groups)
    RESOURCE_NOT_COVERED = (MISCONFIGURED, sentences.resource_not_covered)
    NEGATIVE_AMOUNT = (MISCONFIGURED, sentences.negative_amount)
    UNREADABLE_AMOUNT = (MISCONFIGURED, sentences.unreadable_amount)

    # A flavor that the pods may not use.
    RESOURCE_UNAVAILABLE = (NO_MATCHING_FLAVOR, sentences.resource_unavailable)
    FLAVOR_NOT_NOMINATED = (NO_MATCHING_FLAVOR, sentences.flavor_not_nominated)
    FLAVOR_DIFFERS = (NO_MATCHING_FLAVOR, sentences.flavor_differs)
    FLAVOR_NOT_FOUND = (NO_MATCHING_FLAVOR, sentences.flavor_not_found)
    FLAVOR_TAINTED = (NO_MATCHING_FLAVOR, sentences.untolerated_taint)
    FLAVOR_NOT_SELECTED = (NO_MATCHING_FLAVOR, sentences.flavor_does_not_match)
    FLAVOR_NEEDS_TOPOLOGY = (NO_MATCHING_FLAVOR, sentences.flavor_needs_topology)
    FLAVOR_HAS_NO_TOPOLOGY = (NO_MATCHING_FLAVOR, sentences.flavor_has_no_topology)
    FLAVOR_TOPOLOGY_UNKNOWN = (NO_MATCHING_FLAVOR, sentences.flavor_topology_unknown)
    FLAVOR_LACKS_LEVEL = (NO_MATCHING_FLAVOR, sentences.flavor_lacks_level)

    def text(self, values: tuple[Value, ...]) -> str:
        return self.said if isinstance(self.said, str) else self.said(*values)


class Refusal(NamedTuple):
    """Why a workload is not tried, or why a ClusterQueue admits nothing."""

    cause: Cause
    values: tuple[Value, ...] = ()
    requeue: str = GENERIC

    @property
    def reason(self) -> str:
        """Of the condition: QuotaReserved of a workload, Active of a queue."""
        return self.cause.reason

    @property
    def message(self) -> str:
        return self.cause.text(self.values)
