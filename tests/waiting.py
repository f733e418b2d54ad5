"""Waiting for something that another task, thread or process does in real time.

Where a test holds the clock it moves the clock. Where it does not (real processes, real connections), it
waits for a condition, here, and never for a time.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

INTERVAL = 0.02


async def eventually(
    question: Callable[[], Any | Awaitable[Any]],
    what: str | Callable[[], str] = "",
    seconds: float = 30.0,
) -> Any:
    """Ask until the answer is true, and return it. `what` names what never happened, or tells the story."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {what() if callable(what) else what or question}")
        await asyncio.sleep(INTERVAL)


def eventually_so(
    question: Callable[[], Any], what: str | Callable[[], str] = "", seconds: float = 30.0
) -> Any:
    """The same for tests without a loop."""
    deadline = time.monotonic() + seconds
    while not (answer := question()):
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {what() if callable(what) else what or question}")
        time.sleep(INTERVAL)
    return answer
