"""How much work something is, whatever else the machine does.

Seconds here are processor time of this thread: neither a busy machine nor another thread counts, and the
garbage collector (whose work is that of the whole test process) is off. What is left is the speed of the
processor and of its caches, which may differ by a few times, not by ten: so every limit is ten times away
from what is right and from what would be wrong.
"""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
MARGIN = 10


def effort(run: Callable[[], Result]) -> tuple[Result, float]:
    """What it returns, and the processor time it took."""
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        result = run()
        return result, time.thread_time() - start
    finally:
        gc.enable()


def within(seconds: float, run: Callable[[], Result]) -> Result:
    """What it returns, unless that takes more: the limit is at least ten times what it takes."""
    result, spent = effort(run)
    assert spent < seconds
    return result


def in_proportion(work: Callable[[int], Callable[[], object]], size: int) -> None:
    """A hundred times the size is about a hundred times the work; ten thousand times would be quadratic.

    `work(size)` prepares and returns what is measured. The best of three, so that one interruption counts
    for nothing; of the large ones, which take long, no more are run than it takes to find one that is right.
    """
    small, large = work(size), work(100 * size)
    limit = 100 * MARGIN * min(effort(small)[1] for _ in range(3))
    assert any(effort(large)[1] < limit for _ in range(3))
