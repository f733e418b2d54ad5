"""The settings for several clusters (`fleet` in the configuration), ready for arithmetic."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec

from reprieve.config import Configuration
from reprieve.fleet.owners import DEFAULT_KINDS, Key, carried_kinds

FIRST_COME: Final = "first-come"
LEAST_COST: Final = "least-cost"
ALL_AT_ONCE: Final = "AllAtOnce"
INCREMENTAL: Final = "Incremental"


class FleetSettings(msgspec.Struct, frozen=True):
    gated: bool = True
    """Copies are created with a preemption gate (feature gate MultiKueueOrchestratedPreemption)."""
    timeout: timedelta = timedelta(minutes=5)
    """How long one cluster alone may preempt (`singleClusterPreemptionTimeout`)."""
    timeouts: Mapping[str, timedelta] = {}
    """The same for workloads of some of the manager's ClusterQueues, by name."""
    close_at_timeout: bool = True
    """Close the earlier gate before the next one opens. Off: as upstream, it stays open."""
    margin: timedelta = timedelta(seconds=10)
    """How much longer than the timeout a worker out of reach is given to close its gate by itself."""
    gate_policy: str = FIRST_COME
    grace: timedelta = timedelta(seconds=10)
    """`least-cost`: how long after the first signal a worker that need not preempt may still win."""
    dispatcher: str = ALL_AT_ONCE
    step_size: int = 3
    round_length: timedelta = timedelta(minutes=5)
    worker_lost_timeout: timedelta = timedelta(minutes=15)
    origin: str = "multikueue"
    kinds: frozenset[Key] = DEFAULT_KINDS
    """Kinds of owners that can be carried to a worker. A workload without an owner is carried by itself."""

    @property
    def lease(self) -> timedelta:
        """After this time an opened gate is closed again, even if its worker is out of reach."""
        return self.timeout + self.margin

    def of_queue(self, name: str) -> "FleetSettings":
        """The settings for workloads of a ClusterQueue of the manager."""
        timeout = self.timeouts.get(name, self.timeout)
        return self if timeout == self.timeout else msgspec.structs.replace(self, timeout=timeout)


def settings_from(config: Mapping[str, Any] | Configuration | None) -> FleetSettings:
    configuration = Configuration.load(config)
    fleet = configuration.fleet
    return FleetSettings(
        gated=configuration.gate("MultiKueueOrchestratedPreemption"),
        timeout=timedelta(seconds=fleet.single_cluster_preemption_timeout),
        timeouts={
            name: timedelta(seconds=seconds)
            for name, seconds in fleet.cluster_queue_preemption_timeouts.items()
        },
        close_at_timeout=fleet.close_gate_at_timeout,
        margin=timedelta(seconds=fleet.close_gate_margin),
        gate_policy=fleet.gate_policy,
        grace=timedelta(seconds=fleet.grace),
        dispatcher=fleet.dispatcher,
        step_size=fleet.step_size,
        round_length=timedelta(seconds=fleet.round_length),
        worker_lost_timeout=timedelta(seconds=fleet.worker_lost_timeout),
        origin=fleet.origin,
        kinds=carried_kinds(configuration.job_kinds()),
    )
