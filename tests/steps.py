"""The steps of an event loop, each with the processor time that its thread spent in it.

What one step takes is what everybody else on that loop waits for at least: leases, watches, other requests.
Processor time, so that a machine which is busy elsewhere does not count; each step for itself, so that many
small ones, which others come between, are not added up; without the garbage collector, whose work here is
that of the whole test process.
"""

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

LONGEST_SECONDS = 0.1
"""The promise. What tests send takes a tenth of that at most, so that a slow processor does not fail them."""


class Steps:
    def __init__(self) -> None:
        self.longest = 0.0
        self.what = ""
        self.count = 0

    def took(self, seconds: float, what: Any) -> None:
        self.count += 1
        if seconds > self.longest:
            self.longest, self.what = seconds, repr(what)


@contextmanager
def counted_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    """Every step of loops of this process (those written in Python: not uvloop's)."""
    steps, run = Steps(), asyncio.Handle._run

    def measured(handle: asyncio.Handle) -> None:
        start = time.thread_time()
        try:
            run(handle)
        finally:
            steps.took(time.thread_time() - start, handle)

    gc.disable()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(asyncio.Handle, "_run", measured)
            yield steps
    finally:
        gc.enable()
