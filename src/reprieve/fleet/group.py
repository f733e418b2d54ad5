"""One workload and its copies, as the manager sees them at one moment."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from reprieve.fleet.ledger import Ledger, read_ledger
from reprieve.fleet.reading import is_true, status_of
from reprieve.objects import Document


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
        return all(entry.get("state") == "Ready" for entry in self._checks if entry.get("name") != self.check)

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
