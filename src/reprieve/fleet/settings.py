"""What an operator can choose about several clusters (`fleet` in the configuration)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec

from reprieve.fleet.names import ALL_AT_ONCE

FIRST_COME: Final = "first-come"
LEAST_COST: Final = "least-cost"


class FleetSettings(msgspec.Struct, frozen=True):
    gated: bool = True
    """Copies are born with a preemption gate (gate MultiKueueOrchestratedPreemption)."""
    timeout: timedelta = timedelta(minutes=5)
    """How long one cluster alone may preempt (`singleClusterPreemptionTimeout`)."""
    close_at_timeout: bool = True
    """Close the earlier gate before the next one opens. Off: as upstream, it stays open."""
    margin: timedelta = timedelta(seconds=10)
    """How much longer than the timeout a worker out of reach is given to close its gate by itself."""
    gate_policy: str = FIRST_COME
    grace: timedelta = timedelta(seconds=10)
    """`least-cost`: how long after the first signal a worker without need to preempt may still win."""
    dispatcher: str = ALL_AT_ONCE
    step_size: int = 3
    round_length: timedelta = timedelta(minutes=5)
    worker_lost_timeout: timedelta = timedelta(minutes=15)
    origin: str = "multikueue"

    @property
    def lease(self) -> timedelta:
        """After this time a gate that was told to open is closed, whether its worker can be reached or not."""
        return self.timeout + self.margin


def settings_from(config: Mapping[str, Any] | None) -> FleetSettings:
    gates = (config or {}).get("featureGates") or {}
    return FleetSettings(gated=bool(gates.get("MultiKueueOrchestratedPreemption", False)))
