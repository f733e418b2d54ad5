"""Whether this replica leads, as a metric: whatever controllers it runs, one replica of a lease says so."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Gauge


class Leadership:
    def __init__(self, lease: str, registry: CollectorRegistry) -> None:
        self._leads = Gauge(
            "leader_election_master_status", "1 while this replica leads.", ["name"], registry=registry
        ).labels(lease)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While inside, this replica leads."""
        self._leads.set(1)
        try:
            yield
        finally:
            self._leads.set(0)
