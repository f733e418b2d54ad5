"""The words of the wire: gate, labels, annotations, condition types and reasons that several clusters share."""

from typing import Final

CONTROLLER: Final = "kueue.x-k8s.io/multikueue"
"""`spec.controllerName` of the admission checks that the fleet answers, and `spec.managedBy` of its jobs."""

GATE: Final = "kueue.x-k8s.io/multikueue"
"""The preemption gate that every copy is born with."""

ORIGIN_LABEL: Final = "kueue.x-k8s.io/multikueue-origin"
PREBUILT_LABEL: Final = "kueue.x-k8s.io/prebuilt-workload-name"
JOB_UID_LABEL: Final = "kueue.x-k8s.io/job-uid"

LEDGER_ANNOTATION: Final = "reprieve.dev/fleet-ledger"
"""On the manager's workload: whose turn it is to preempt, measured by the manager's own clock."""

GATE_LEASE_ANNOTATION: Final = "reprieve.dev/gate-lease"
"""On a copy: how long an open gate stays open before the worker closes it by itself."""

GATE_SEEN_ANNOTATION: Final = "reprieve.dev/gate-seen"
"""On a copy, by its worker: which opening of the gate it saw, and when by its own clock."""

QUOTA_RESERVED: Final = "QuotaReserved"
ADMITTED: Final = "Admitted"
EVICTED: Final = "Evicted"
FINISHED: Final = "Finished"
BLOCKED: Final = "BlockedOnPreemptionGates"
DEACTIVATION_TARGET: Final = "DeactivationTarget"

OPEN: Final = "Open"
CLOSED: Final = "Closed"

OUT_OF_SYNC: Final = "OutOfSync"
EVICTED_ON_MANAGER: Final = "EvictedOnManagerCluster"
