"""What an API server and its controllers do to a manifest before a scheduler sees it.

    limit_ranges      what a namespace gives to containers, and how much they may ask for
    runtime_classes   overhead, and where pods of a class may run
    resource_quotas   what an object uses of the quota of its namespace
    claims            claims made from templates; the default StorageClass
    workload_priorities  the priority that classes give to a workload
    completing        all of that for the documents of a question

The embedded server and the answers over manifests do the same, since both do it here. Pure: raw documents in,
raw documents out.
"""

from reprieve.admission import limit_ranges, resource_quotas, runtime_classes
from reprieve.admission.claims import (
    DEFAULT_CLASS,
    POD_CLAIM_NAME,
    binds_at_once,
    default_class,
    device_claim,
    ephemeral_claim,
    is_default,
    needs_class,
    owner_of,
)
from reprieve.admission.completing import Completed, Completing, complete
from reprieve.admission.resource_quotas import charge, has_deadline
from reprieve.admission.sentences import refused_by_a_server
from reprieve.admission.workload_priorities import WorkloadPriorities

__all__ = [
    "DEFAULT_CLASS",
    "POD_CLAIM_NAME",
    "Completed",
    "Completing",
    "WorkloadPriorities",
    "binds_at_once",
    "charge",
    "complete",
    "default_class",
    "device_claim",
    "ephemeral_claim",
    "has_deadline",
    "is_default",
    "limit_ranges",
    "needs_class",
    "owner_of",
    "refused_by_a_server",
    "resource_quotas",
    "runtime_classes",
]
