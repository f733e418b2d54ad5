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
"""Seconds without any news after which a test gives up; what it waits for takes one or two where nobody else
works. This promises no speed: tests of how much work something is count it (`tests.effort`).
"""
Story = str | Callable[[], Any]
"""What never happened, or what tells so. Whoever tells another story than before is still at work."""


class _Patience:
    def __init__(self, what: Story, seconds: float) -> None:
        self._seconds = seconds
        self._told: Any = what
        """A text never changes."""
        self._renew()

    def _renew(self) -> None:
        self._deadline = time.monotonic() + self._seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self._deadline

    def hear(self, story: Any) -> None:
        """Go on if it is another story than the last time."""
        if story == self._told:
            raise AssertionError(f"never happened: {story}")
        self._told = story
        self._renew()


async def eventually(question: Callable[[], Any], what: Story = "", seconds: float = PATIENCE) -> Any:
    """Ask until the answer is true, and return it. Question and story may be coroutines."""
    patience = _Patience(what, seconds)
    while not (answer := await _answer(question())):
        if patience.is_over:
            patience.hear(await _answer(what()) if callable(what) else what)
        await asyncio.sleep(INTERVAL)
    return answer


async def _answer(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


def eventually_so(question: Callable[[], Any], what: Story = "", seconds: float = PATIENCE) -> Any:
    """The same for tests without a loop."""
    patience = _Patience(what, seconds)
    while not (answer := question()):
        if patience.is_over:
            patience.hear(what() if callable(what) else what)
        time.sleep(INTERVAL)
    return answer
