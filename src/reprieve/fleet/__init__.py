"""Which cluster? Several clusters: copies of a workload, preemption gates, the winner, lost workers.

One way in: `step(group, settings, now)` takes what the manager sees of one workload and returns what to do.
`reconcile` does the same over plain documents. Nothing here talks to a cluster or reads a clock; the live
manager (`reprieve.controllers.fleet`), the simulation in the tests and `reconcile` are three shells around
it.
"""

from reprieve.fleet.actions import (
    Action,
    CloseGate,
    CreateCopy,
    DeactivateCopy,
    DeleteCopy,
    Finish,
    Nominate,
    OpenGate,
    SaveLedger,
    SetCheck,
    Step,
    SyncJob,
    UpdateCopy,
)
from reprieve.fleet.cost import PreemptionCost, cost_in, gated_message, preemption_cost, signal_message
from reprieve.fleet.gates import Signal, choose
from reprieve.fleet.group import UNREAD, Group, Ledger, Remote, read_ledger, write_ledger
from reprieve.fleet.lease import Lease, LeaseState, lease_of
from reprieve.fleet.manager import step
from reprieve.fleet.offline import Reconciled, UnknownWorkload, reconcile
from reprieve.fleet.owners import (
    POD,
    POD_GROUP,
    Owner,
    claims_of,
    owner_keys,
    owner_of,
    owner_of_copy,
    typed,
    workloads_named_by,
)
from reprieve.fleet.reading import gate_is_open, key_of, status_of
from reprieve.fleet.settings import LEAST_COST, FleetSettings, settings_from

__all__ = [
    "LEAST_COST",
    "POD",
    "POD_GROUP",
    "UNREAD",
    "Action",
    "CloseGate",
    "CreateCopy",
    "DeactivateCopy",
    "DeleteCopy",
    "Finish",
    "FleetSettings",
    "Group",
    "Lease",
    "LeaseState",
    "Ledger",
    "Nominate",
    "OpenGate",
    "Owner",
    "PreemptionCost",
    "Reconciled",
    "Remote",
    "SaveLedger",
    "SetCheck",
    "Signal",
    "Step",
    "SyncJob",
    "UnknownWorkload",
    "UpdateCopy",
    "choose",
    "claims_of",
    "cost_in",
    "gate_is_open",
    "gated_message",
    "key_of",
    "lease_of",
    "owner_keys",
    "owner_of",
    "owner_of_copy",
    "preemption_cost",
    "read_ledger",
    "reconcile",
    "settings_from",
    "signal_message",
    "status_of",
    "step",
    "typed",
    "workloads_named_by",
    "write_ledger",
]
