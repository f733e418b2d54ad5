"""The log of requests that are not HTTP: what strangers send is neither quoted nor logged without end.

aiohttp logs the bytes it could not read, which may be a header with a token in it, once for each request.
"""

import logging
import time
from collections.abc import Callable

from aiohttp.http_exceptions import HttpProcessingError

EVERY_SECONDS = 10.0


class StrangersFilter(logging.Filter):
    """Of unreadable requests, one line every few seconds that says how many there were and no more."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._next = 0.0
        self._unsaid = 0

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, HttpProcessingError):
            return True
        self._unsaid += 1
        if self._clock() < self._next:
            return False
        record.msg = "unreadable requests, refused: %d since the last such line (%s, the last from %s)"
        remote = record.args[0] if isinstance(record.args, tuple) and record.args else "an unknown address"
        record.args = (self._unsaid, type(error).__name__, remote)
        record.exc_info = record.exc_text = None
        self._next, self._unsaid = self._clock() + EVERY_SECONDS, 0
        return True


def strangers_log() -> logging.Logger:
    """For a server's `logger`."""
    found = logging.getLogger("reprieve.http")
    if not any(isinstance(each, StrangersFilter) for each in found.filters):
        found.addFilter(StrangersFilter())
    return found


__all__ = ["strangers_log"]
