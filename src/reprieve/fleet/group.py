"""One workload and its copies, as the manager sees them at one moment."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from reprieve.fleet.reading import is_true, status_of
from reprieve.objects import Document, well_known


class Turn(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One cluster's permission to preempt."""

    cluster: str
    since: datetime
    """When the turn began: the next cluster may have it `singleClusterPreemptionTimeout` later."""
    opened: datetime
    """When the gate was last told to open: the worker's own lease cannot end later than this plus the timeout."""


class Ledger(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    turn: Turn | None = None
    past: dict[str, datetime] = {}
    """When each cluster last began a turn: who waited longest goes first, so that nobody is starved by a liar."""
    round_started: datetime | None = None
    """When the incremental dispatcher last nominated."""

    def begin(self, cluster: str, now: datetime) -> "Ledger":
        """Give `cluster` the turn. Opening the gate of the cluster that has it anyway does not make it longer."""
        since = self.turn.since if self.turn is not None and self.turn.cluster == cluster else now
        return msgspec.structs.replace(
            self, turn=Turn(cluster, since, now), past={**self.past, cluster: since}
        )

    def adopt(self, cluster: str, now: datetime) -> "Ledger":
        """Take note of a gate that somebody else opened."""
        return msgspec.structs.replace(self, turn=Turn(cluster, now, now))

    def start_round(self, now: datetime) -> "Ledger":
        return msgspec.structs.replace(self, round_started=now)

    def forget(self, unreachable: frozenset[str], lease: timedelta, now: datetime) -> "Ledger":
        """What must survive the end of a dispatch: a turn whose cluster cannot be told that it is over."""
        turn = self.turn
        if turn is not None and turn.cluster in unreachable and now < turn.opened + lease:
            return Ledger(turn)
        return Ledger()


def read_ledger(workload: Document) -> Ledger:
    """The ledger of a manager's workload. One that cannot be read was not written by us and counts as none."""
    text = ((workload.get("metadata") or {}).get("annotations") or {}).get(well_known.LEDGER_ANNOTATION)
    if not text:
        return Ledger()
    try:
        return msgspec.json.decode(text, type=Ledger)
    except msgspec.MsgspecError:
        return Ledger()


def write_ledger(ledger: Ledger) -> str | None:
    """The annotation's value; None when there is nothing to remember."""
    return None if ledger == Ledger() else msgspec.json.encode(ledger).decode()


class Remote(msgspec.Struct, frozen=True):
    """A configured worker. What an unconnected one holds is not known, whatever was seen before."""

    cluster: str
    connected: bool = True
    copy: Document | None = None
    disconnected_since: datetime | None = None


class Group(msgspec.Struct, frozen=True):
    """The manager's workload with its remotes, in the order of the MultiKueueConfig."""

    local: Document
    check: str
    remotes: tuple[Remote, ...]

    @property
    def ledger(self) -> Ledger:
        return read_ledger(self.local)

    @property
    def connected(self) -> tuple[Remote, ...]:
        return tuple(remote for remote in self.remotes if remote.connected)

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
        return next(
            (entry.get("state", "Pending") for entry in self._checks if entry.get("name") == self.check), ""
        )

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
        return is_true(self.local, condition)
