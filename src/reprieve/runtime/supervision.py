"""Long-lived tasks that fail are started again, ever later, and say so: nothing dies in silence.

What a failed task held in memory is given up with it; all state that matters is in the API.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from reprieve.kube import Backoff
from reprieve.objects import InvalidObject, ReprieveError

log = logging.getLogger(__name__)

STARTING = 60.0
"""What the user has to fix ends a task that was started less than so many seconds ago."""

Report = Callable[[str], None]
"""Called with what is wrong while a task is down; with nothing when it is started again."""


def _silent(_: str) -> None: ...


async def keep_running(
    name: str, run: Callable[[], Awaitable[None]], report: Report = _silent, backoff: Backoff | None = None
) -> None:
    """Run until cancelled. An error that is the user's to fix is raised if it comes at once."""
    pauses = backoff or Backoff(base=1.0, cap=60.0, reset=600.0)
    begun = asyncio.get_running_loop().time()
    while True:
        try:
            await run()
            problem = "it ended, which it should not"
            log.error("%s: %s", name, problem)
        except Exception as error:
            if asyncio.get_running_loop().time() - begun < STARTING and is_for_the_user(error):
                raise
            problem = reason_of(error)
            log.exception("%s failed", name)
        pause = pauses.next()
        report(f"failed and is started again in {pause:.0f} s: {problem}")
        log.warning("%s is started again in %.1f s", name, pause)
        await asyncio.sleep(pause)
        report("")


def is_for_the_user(error: BaseException) -> bool:
    """A wrong configuration or a missing right, not an object that cannot be read."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_for_the_user(each) for each in error.exceptions)
    return isinstance(error, ReprieveError) and not isinstance(error, InvalidObject)


def reason_of(error: BaseException) -> str:
    """The first reason in a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


class Registries(Collector):
    """The metrics of all controllers, each in a registry of its own that is replaced when it starts again."""

    def __init__(self) -> None:
        self._by_name: dict[str, CollectorRegistry] = {}

    def fresh(self, name: str) -> CollectorRegistry:
        registry = self._by_name[name] = CollectorRegistry()
        return registry

    def collect(self) -> Iterable[Metric]:
        for registry in list(self._by_name.values()):
            yield from registry.collect()
