"""An event loop whose clock jumps: `asyncio.sleep` of hours takes no time, and the same draws give the same
run.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 8, 23, 12, 0, tzinfo=UTC)


class _Jumping(selectors.SelectSelector):
    """Instead of waiting, moves the loop's clock."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("deadlock: nothing is scheduled and nothing can happen")
        self.loop.now += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        selector = _Jumping()
        super().__init__(selector)
        selector.loop = self
        self.now = 0.0

    def time(self) -> float:
        return self.now


def utc_now() -> datetime:
    """Wall time of the running virtual loop."""
    return START + timedelta(seconds=asyncio.get_running_loop().time())


def run_virtually(main: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
