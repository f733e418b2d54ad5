"""The actions of one step of the manager, as data. The shell that carries them out decides nothing."""

from datetime import datetime

import msgspec

from reprieve.fleet.group import Ledger
from reprieve.objects import Document


class Action(msgspec.Struct, frozen=True, tag=True):
    """One call to one API server."""


class SaveLedger(Action, frozen=True):
    """Write the ledger to the manager's workload, only if it has not changed meanwhile."""

    ledger: Ledger


class CloseGate(Action, frozen=True):
    cluster: str
    at: datetime


class OpenGate(Action, frozen=True):
    cluster: str
    at: datetime


class CreateCopy(Action, frozen=True):
    cluster: str
    document: Document


class DeleteCopy(Action, frozen=True):
    """Withdraw the copy, and the job that it stands for, from a worker."""

    cluster: str


class UpdateCopy(Action, frozen=True):
    """Bring the spec of a copy up to date."""

    cluster: str
    spec: Document


class DeactivateCopy(Action, frozen=True):
    """Make a worker stop what the manager evicted."""

    cluster: str
    message: str


class SyncJob(Action, frozen=True):
    """Create the job on the winning worker, or copy its status back."""

    cluster: str
    final: bool = False
    """The job is over: read it from the server, since the watch may lag behind, and create none."""


class Nominate(Action, frozen=True):
    clusters: tuple[str, ...]


class SetCheck(Action, frozen=True):
    """Write the state of the admission check; with `cluster` the workload belongs to it from now on."""

    state: str
    message: str
    cluster: str = ""


class Finish(Action, frozen=True):
    """The remote workload has finished: so has the manager's."""

    reason: str
    message: str


class Step(msgspec.Struct, frozen=True):
    """One reconcile of one workload.

    `chain` is carried out strictly in order and ends at the first failure: a gate may only open after the
    other gate was closed and the ledger was written; a job may only be created after its cluster was
    written down. `each` are independent of one another: a worker that refuses never holds up the others.
    """

    chain: tuple[Action, ...] = ()
    each: tuple[Action, ...] = ()
    requeue_after: float = 0.0
    reasons: tuple[str, ...] = ()

    @property
    def actions(self) -> tuple[Action, ...]:
        return self.chain + self.each
