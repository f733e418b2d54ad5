"""A loop that stands still is counted and, when it is long, said."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from reprieve.runtime.stalls import EVERY_SECONDS, StallWatch


async def watched(times: Iterator[float], wakes: int) -> CollectorRegistry:
    """A watch whose clock shows these times, two for each time it is woken."""
    registry = CollectorRegistry()
    watch = asyncio.create_task(StallWatch(registry, lambda: next(times)).run())
    while (registry.get_sample_value("reprieve_loop_stall_seconds_count") or 0) < wakes:
        await asyncio.sleep(0)
    watch.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watch
    return registry


async def test_stalls_are_counted_by_their_length(caplog: pytest.LogCaptureFixture) -> None:
    late = [0.0, 0.003, 0.2, 3.0]
    times = (time for each in late for time in (10.0, 10.0 + EVERY_SECONDS + each))
    with caplog.at_level(logging.WARNING):
        registry = await watched((*times, *[0.0] * 100).__iter__(), len(late))

    def at_most(bound: str) -> float | None:
        return registry.get_sample_value("reprieve_loop_stall_seconds_bucket", {"le": bound})

    assert [at_most(bound) for bound in ("0.005", "0.1", "0.25", "2.5", "5.0")] == [2, 2, 3, 3, 4]
    assert [record.getMessage()[:34] for record in caplog.records] == ["the process did nothing for 3.0 s:"]
