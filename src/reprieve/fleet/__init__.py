"""Several clusters: who gets a copy of a workload, who may preempt for it, who wins, and what if a worker is lost.

One way in: `step(group, settings, now)` takes what the manager sees of one workload and returns what it wants done.
`reconcile` asks the same over plain documents. Nothing here talks to a cluster or reads a clock; the live manager
(`reprieve.controllers.fleet`), the simulation in the tests and the offline question are three shells around it.
"""

from reprieve.fleet.actions import Action, Step
from reprieve.fleet.group import Group, Remote
from reprieve.fleet.manager import step
from reprieve.fleet.offline import Reconciled, UnknownWorkload, reconcile
from reprieve.fleet.settings import FleetSettings, settings_from

__all__ = [
    "Action",
    "FleetSettings",
    "Group",
    "Reconciled",
    "Remote",
    "Step",
    "UnknownWorkload",
    "reconcile",
    "settings_from",
    "step",
]
