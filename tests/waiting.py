"""Waiting for something that another task, thread or process does in real time.

Where a test holds the clock it moves the clock. Where it does not (real processes, real connections), it
waits for a condition, here, and never for a time.
"""

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

INTERVAL = 0.02
PATIENCE = 100.0
"""Seconds after which a test gives up; what it waits for takes one or two where nobody else works. This
promises no speed: tests of how much work something is count it (`tests.effort`).
"""
Story = str | Callable[[], Any]
"""What never happened, or what tells so."""


async def eventually(question: Callable[[], Any], what: Story = "", seconds: float = PATIENCE) -> Any:
    """Ask until the answer is true, and return it. Question and story may be coroutines."""
    deadline = time.monotonic() + seconds
    while not (answer := await _answer(question())):
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {await _answer(what()) if callable(what) else what}")
        await asyncio.sleep(INTERVAL)
    return answer


async def _answer(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


def eventually_so(question: Callable[[], Any], what: Story = "", seconds: float = PATIENCE) -> Any:
    """The same for tests without a loop."""
    deadline = time.monotonic() + seconds
    while not (answer := question()):
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {what() if callable(what) else what}")
        time.sleep(INTERVAL)
    return answer
