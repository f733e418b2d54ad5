"""The manager's own memory of who may preempt, kept in an annotation of its workload.

A worker's word is not enough: a worker can be out of reach while its gate is open, and its clock can be wrong. So the
manager writes down whose turn it is *before* it opens a gate, in its own time, on its own object (with the object's
resourceVersion, so that two managers cannot both write). After a restart the ledger is all there is, and enough.
"""

from datetime import datetime, timedelta

import msgspec

from reprieve.fleet.names import LEDGER_ANNOTATION
from reprieve.objects import Document


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
    text = ((workload.get("metadata") or {}).get("annotations") or {}).get(LEDGER_ANNOTATION)
    if not text:
        return Ledger()
    try:
        return msgspec.json.decode(text, type=Ledger)
    except msgspec.MsgspecError:
        return Ledger()


def write_ledger(ledger: Ledger) -> str | None:
    """The annotation's value; None when there is nothing to remember."""
    return None if ledger == Ledger() else msgspec.json.encode(ledger).decode()
