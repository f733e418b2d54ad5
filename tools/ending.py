"""Tools that start other programs stop them, also when they are told to end themselves."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_until_told(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, in which SIGTERM unwinds everything as Ctrl-C does, and only once: whoever repeats it
    does not interrupt the stopping. The exit code is then that of a program which the signal ended.
    """
    told: list[int] = []

    async def guarded() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def end(number: int) -> None:
            if not told:
                told.append(number)
                task.cancel()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        return await work

    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        if not told:
            raise
        raise SystemExit(128 + told[0]) from None
