"""Work on large bodies and answers is done beside the loop, which serves everybody else meanwhile.

Only what looks at nothing but its arguments comes here: reading, checking against a schema, rendering. One
thread does it, so that the loop competes with one for the interpreter, whatever a storm of requests brings.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")
LARGE_BYTES = 32 * 1024
"""What is smaller is done before a thread has begun: it takes some milliseconds at most."""
_thread = ThreadPoolExecutor(1, "reprieve-bodies")


async def aside(size: int, work: Callable[[], Result]) -> Result:
    """What `work` returns or raises; `size` is how many bytes it is about."""
    if size < LARGE_BYTES:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_thread, work)
