"""One workload and its copies, as the manager sees them at one moment, and the ledger of its turns.

The ledger is the manager's own memory of which cluster may preempt, kept in an annotation of its workload.
What a worker reports is not enough: it can be out of reach while its gate is open, and its clock can be
wrong. So the manager writes down whose turn it is *before* it opens a gate, by its own clock, on its own
object (with the object's resourceVersion, so that two managers cannot both write). After a restart the
ledger is all there is, and it is enough.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec

from reprieve.fleet.reading import status_of
from reprieve.objects import Document, has_condition, well_known


class Turn(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One cluster's permission to preempt."""

    cluster: str
    since: datetime
    """When the turn began: the next cluster may have it `singleClusterPreemptionTimeout` later."""
    opened: datetime
    """When the gate was last opened: the worker's own lease ends at most the timeout after this."""


class Ledger(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    turn: Turn | None = None
    past: dict[str, datetime] = {}
    """When each cluster last began a turn. The longest wait goes first, so no cluster can starve another."""
    round_started: datetime | None = None
    """When the incremental dispatcher last nominated."""

    def begin(self, cluster: str, now: datetime) -> "Ledger":
        """Give `cluster` the turn. A cluster that has it already does not get a longer one."""
        since = self.turn.since if self.turn is not None and self.turn.cluster == cluster else now
        return msgspec.structs.replace(
            self, turn=Turn(cluster, since, now), past={**self.past, cluster: since}
        )

    def adopt(self, cluster: str, now: datetime) -> "Ledger":
        """Record a gate that was not opened by this manager."""
        return msgspec.structs.replace(self, turn=Turn(cluster, now, now))

    def start_round(self, now: datetime) -> "Ledger":
        return msgspec.structs.replace(self, round_started=now)

    def forget(self, unreachable: frozenset[str], lease: timedelta, now: datetime) -> "Ledger":
        """What must survive the end of a dispatch: the turn of a cluster that is out of reach."""
        turn = self.turn
        if turn is not None and turn.cluster in unreachable and now < turn.opened + lease:
            return Ledger(turn)
        return Ledger()


def read_ledger(workload: Document) -> Ledger:
    """The ledger of a manager's workload. One that cannot be decoded is not ours and counts as empty."""
    text = ((workload.get("metadata") or {}).get("annotations") or {}).get(well_known.LEDGER_ANNOTATION)
    if not text:
        return Ledger()
    try:
        return msgspec.json.decode(text, type=Ledger)
    except (msgspec.MsgspecError, RecursionError):
        return Ledger()


def write_ledger(ledger: Ledger) -> str | None:
    """The annotation's value; None when there is nothing to remember."""
    return None if ledger == Ledger() else msgspec.json.encode(ledger).decode()


UNREAD: Final = "it is not known yet what is served there"
"""What a worker lacks until it was asked: it gets nothing new meanwhile, and nothing is said about it."""


class Remote(msgspec.Struct, frozen=True):
    """A configured worker. What an unconnected one holds is unknown, whatever was seen before."""

    cluster: str
    connected: bool = True
    copy: Document | None = None
    disconnected_since: datetime | None = None
    lacks: str = ""
    """Why the job could not run there although its copy could: `eu does not serve RayJob`."""


class Group(msgspec.Struct, frozen=True):
    """The manager's workload with its remotes, in the order of the MultiKueueConfig."""

    local: Document
    check: str
    remotes: tuple[Remote, ...]
    owner: Document | None = None
    """The job or group that the workload stands for, where it is known."""

    @property
    def ledger(self) -> Ledger:
        return read_ledger(self.local)

    @property
    def connected(self) -> tuple[Remote, ...]:
        return tuple(remote for remote in self.remotes if remote.connected)

    @property
    def suitable(self) -> tuple[Remote, ...]:
        """Connected workers on which the job can be made."""
        return tuple(remote for remote in self.connected if not remote.lacks)

    @property
    def copies(self) -> dict[str, Document]:
        return {remote.cluster: remote.copy for remote in self.connected if remote.copy is not None}

    @property
    def unavailable(self) -> frozenset[str]:
        return frozenset(remote.cluster for remote in self.remotes if not remote.connected)

    def remote(self, cluster: str) -> Remote | None:
        return next((remote for remote in self.remotes if remote.cluster == cluster), None)

    @property
    def check_state(self) -> str:
        return self._own_check.get("state", "Pending") if self._own_check else ""

    @property
    def check_message(self) -> str:
        return self._own_check.get("message", "")

    @property
    def _own_check(self) -> Mapping[str, str]:
        return next((entry for entry in self._checks if entry.get("name") == self.check), {})

    @property
    def other_checks_ready(self) -> bool:
        return all(
            entry.get("state") == well_known.READY
            for entry in self._checks
            if entry.get("name") != self.check
        )

    @property
    def _checks(self) -> tuple[Mapping[str, str], ...]:
        return tuple(status_of(self.local).get("admissionChecks") or ())

    @property
    def cluster_name(self) -> str:
        return status_of(self.local).get("clusterName") or ""

    @property
    def nominated(self) -> tuple[str, ...]:
        return tuple(status_of(self.local).get("nominatedClusterNames") or ())

    def local_is(self, condition: str) -> bool:
        return has_condition(self.local, condition)
