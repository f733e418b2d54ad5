"""How calls are repeated."""

from collections.abc import Awaitable, Callable
from itertools import count

from reprieve.kube import ApiError, Backoff, ConfigError, Sleep, TransportError
from reprieve.scheduler import ActionError

ATTEMPTS = 6


class Retries:
    def __init__(self, sleep: Sleep, jitter: Callable[[], float]) -> None:
        self._sleep = sleep
        self._jitter = jitter

    async def persist(self, attempt: Callable[[], Awaitable[None]], insist: bool = False) -> None:
        """Retry transient errors: `ATTEMPTS` times, or without limit if we insist."""
        backoff = Backoff(base=0.05, cap=3.0, factor=3.0, random=self._jitter)
        for number in count(1):
            last = number == ATTEMPTS and not insist
            try:
                await attempt()
                return
            except (TransportError, ConfigError) as error:  # ConfigError: a credential could not be renewed
                if last:
                    raise ActionError(str(error)) from error
                pause = backoff.next()
            except ApiError as error:
                if not error.transient or last:
                    gone = error.not_found or error.conflict
                    raise ActionError(str(error), gone=gone) from error
                pause = max(backoff.next(), error.retry_after or 0.0)
            await self._sleep(pause)
