"""How long the process's one loop stood still: everything waits meanwhile, the lease included."""

import asyncio
import logging
import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Histogram

log = logging.getLogger(__name__)

EVERY_SECONDS = 0.05
LOGGED_SECONDS = 1.0
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class StallWatch:
    """Asks to be woken at regular times and counts how late that happens."""

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stalls = Histogram(
            "reprieve_loop_stall_seconds",
            "How much later than asked for the event loop took up work",
            registry=registry,
            buckets=_BUCKETS,
        )

    async def run(self) -> None:
        while True:
            due = self._clock() + EVERY_SECONDS
            await asyncio.sleep(EVERY_SECONDS)
            late = max(0.0, self._clock() - due)
            self._stalls.observe(late)
            if late >= LOGGED_SECONDS:
                log.warning(
                    "the process did nothing for %.1f s: something held it up, or its CPU is taken", late
                )
