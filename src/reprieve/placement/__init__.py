"""Where a pod or a gang can go: kube-scheduler's default filters and scores over columns.

    filters = PodFilters(cluster, row)         # the filters of one pod, made once
    slot = place(filters)                      # the best node, or None
    why = diagnose(filters)                    # each node's first objection, `why.message`
    all_of_it = objections(filters)            # {Reason: the nodes that give it}
    gang = place_gang(cluster, rows, min_count=4, running=0)
    tree = TreePlacer(cluster).place(root)     # a tree of groups, each in the best of its domains

Reads the cluster and supposes pods on nodes; changes nothing that outlives a rollback.
"""

from reprieve.placement.counting import DomainLimit
from reprieve.placement.devices import (
    AllocationError,
    DeviceFilter,
    ExtendedClaim,
    binding_state,
    device_filter,
    has_devices,
    named,
)
from reprieve.placement.diagnosis import (
    FEASIBLE,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Diagnosis,
    diagnose,
    objections,
)
from reprieve.placement.domains import EVERYWHERE, Domain, best_domain, domains_of, domains_within
from reprieve.placement.filters import PodFilters
from reprieve.placement.gang import Assignment, GangPlacement, place_gang, settle
from reprieve.placement.least import fill, place_with_least
from reprieve.placement.options import Way, Ways
from reprieve.placement.reasons import Code, Reason
from reprieve.placement.resources import DEFAULT, Scoring, resolve_scoring
from reprieve.placement.sentences import devices as device_texts
from reprieve.placement.sentences import filters as filter_texts
from reprieve.placement.sentences import groups as group_texts
from reprieve.placement.sentences import volumes as volume_texts
from reprieve.placement.single import feasible_mask, nominated_slot, passes, place
from reprieve.placement.static import static_fit
from reprieve.placement.trees import TreeGroup, TreePlacer
from reprieve.placement.twins import carried_over, first_twins
from reprieve.placement.volumes.csi_nodes import NO_LIMIT
from reprieve.placement.volumes.limits import Limits
from reprieve.placement.volumes.state import VolumeState

__all__ = [
    "DEFAULT",
    "EVERYWHERE",
    "FEASIBLE",
    "NO_LIMIT",
    "UNRESOLVABLE",
    "UNSCHEDULABLE",
    "AllocationError",
    "Assignment",
    "Code",
    "DeviceFilter",
    "Diagnosis",
    "Domain",
    "DomainLimit",
    "ExtendedClaim",
    "GangPlacement",
    "Limits",
    "PodFilters",
    "Reason",
    "Scoring",
    "TreeGroup",
    "TreePlacer",
    "VolumeState",
    "Way",
    "Ways",
    "best_domain",
    "binding_state",
    "carried_over",
    "device_filter",
    "device_texts",
    "diagnose",
    "domains_of",
    "domains_within",
    "feasible_mask",
    "fill",
    "filter_texts",
    "first_twins",
    "group_texts",
    "has_devices",
    "named",
    "nominated_slot",
    "objections",
    "passes",
    "place",
    "place_gang",
    "place_with_least",
    "resolve_scoring",
    "settle",
    "static_fit",
    "volume_texts",
]
