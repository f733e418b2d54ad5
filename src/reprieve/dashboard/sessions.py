"""Who is logged in: random names of sessions, kept here, so that logging out ends one for good.

Only digests are kept: whoever reads this process's memory cannot log in with them.
"""

import secrets
from collections.abc import Callable
from hashlib import sha256

LIFETIME_SECONDS = 12 * 3600
MOST = 1000
"""Sessions at once; one more ends the oldest."""


class Sessions:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends: dict[bytes, float] = {}
        """Digest to the time it ends, oldest first: all live equally long."""

    def begin(self) -> str:
        """A new session's name, for the viewer's cookie."""
        self._expire()
        if len(self._ends) >= MOST:
            del self._ends[next(iter(self._ends))]
        name = secrets.token_urlsafe(32)
        self._ends[_digest(name)] = self._clock() + LIFETIME_SECONDS
        return name

    def knows(self, name: str) -> bool:
        end = self._ends.get(_digest(name))
        return end is not None and end > self._clock()

    def end(self, name: str) -> None:
        self._ends.pop(_digest(name), None)

    def _expire(self) -> None:
        now = self._clock()
        for digest in [digest for digest, end in self._ends.items() if end <= now]:
            del self._ends[digest]


def _digest(name: str) -> bytes:
    return sha256(name.encode("utf-8", "replace")).digest()
