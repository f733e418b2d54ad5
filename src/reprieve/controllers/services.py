"""What a controller may use of the process it runs in. The scheduler's process provides it; tests may leave it out."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from prometheus_client import CollectorRegistry

from reprieve.records import DecisionLog


class Services(Protocol):
    @property
    def records(self) -> DecisionLog: ...

    @property
    def registry(self) -> CollectorRegistry: ...

    @property
    def leading(self) -> asyncio.Event:
        """Set while this replica may write."""

    @property
    def probes(self) -> dict[str, Callable[[], str]]:
        """Name of what must be ready, to a function that says what is missing."""
