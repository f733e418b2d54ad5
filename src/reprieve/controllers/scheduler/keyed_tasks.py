"""Tasks about one object run in the order in which they were submitted; others run at once, up to a limit.

Otherwise a late "not scheduled" could overwrite the condition of a pod that has been bound in the meantime.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable


class KeyedTasks:
    def __init__(self, limit: int) -> None:
        self.slots = asyncio.Semaphore(limit)
        self._last: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(
        self, keys: Iterable[str], work: Callable[[], Awaitable[None]], *, limited: bool = True
    ) -> asyncio.Task[None]:
        """Run after everything submitted before for any of these keys."""
        keys = list(keys)
        before = {self._last[key] for key in keys if key in self._last}
        task = asyncio.create_task(self._run(before, work, limited))
        for key in keys:
            self._last[key] = task
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, keys))
        return task

    async def idle(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(
        self, before: set[asyncio.Task[None]], work: Callable[[], Awaitable[None]], limited: bool
    ) -> None:
        if before:
            await asyncio.wait(before)
        if not limited:
            await work()
            return
        async with self.slots:
            await work()

    def _ended(self, task: asyncio.Task[None], keys: list[str]) -> None:
        self._tasks.discard(task)
        for key in keys:
            if self._last.get(key) is task:
                del self._last[key]
