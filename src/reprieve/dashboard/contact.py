"""Whether the API server still answers: a page that shows an old state must say so."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from reprieve.kube import ApiError, Client, TransportError
from reprieve.objects import format_time

EVERY_SECONDS = 3.0
PATIENCE_SECONDS = 4.0
UNAUTHORIZED, SERVER_ERROR = 401, 500


class Contact:
    """`revision` grows when something about the contact changes."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._problem = ""
        self._since: datetime | None = None
        self._unseen: dict[str, str] = {}
        self.revision = 0

    def lost(self, problem: str) -> None:
        """The first problem is kept: what followed from it is of less interest."""
        if not self._problem:
            self._problem, self._since = problem, self._now()
            self.revision += 1

    def found(self) -> None:
        if self._problem:
            self._problem, self._since = "", None
            self.revision += 1

    def unseen(self, kind: str, why: str) -> None:
        """A kind that cannot be shown; an empty reason when it can."""
        if self._unseen.get(kind, "") != why:
            self._unseen[kind] = why
            self.revision += 1

    def to_dict(self) -> dict[str, Any]:
        return {
            "problem": self._problem,
            "since": format_time(self._since) if self._since else None,
            "unseen": [f"{kind}: {why}" for kind, why in sorted(self._unseen.items()) if why],
        }


async def keep_asking(client: Client, contact: Contact) -> None:
    """For ever: a small question now and then, because a silent watch looks like a quiet cluster."""
    while True:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await client.request("GET", "/version")
        except (TransportError, TimeoutError) as error:
            contact.lost(str(error) or f"no answer within {PATIENCE_SECONDS:g} s")
        except ApiError as error:
            if error.code == UNAUTHORIZED or error.code >= SERVER_ERROR:
                contact.lost(str(error))
            else:
                contact.found()
        else:
            contact.found()
        await asyncio.sleep(EVERY_SECONDS)
