"""What a controller has kept, for whoever asks later: its file of records, or the process itself over HTTP.

    kept = RecordFile("/var/lib/reprieve/decisions.jsonl")  # or RunningController("http://127.0.0.1:8088")
    await kept.decisions(), await kept.runs()

Only reads. Errors name the option of the commands, `--records` or `--controller`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from reprieve.objects import ReprieveError
from reprieve.records.decision import Decision, decisions_in
from reprieve.records.log import kept_lines
from reprieve.records.run import Run, runs_in

if TYPE_CHECKING:
    import aiohttp

TIMEOUT_SECONDS = 30.0
"""For one answer."""
MOST_DECISIONS = 1000
UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 401, 403, 404
T = TypeVar("T")


class Kept(Protocol):
    async def decisions(self) -> list[dict[str, Any]]:
        """Those with victims at least, newest first, with all their details."""

    async def runs(self) -> list[Run]:
        """What has ended, oldest first."""


class NothingKept:
    async def decisions(self) -> list[dict[str, Any]]:
        return []

    async def runs(self) -> list[Run]:
        return []


class RecordFile:
    """The file that `records.path` names.

    A line cut short by a crash is skipped, as the controller itself does; a file without one whole line is
    not a file of records.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    async def decisions(self) -> list[dict[str, Any]]:
        lines = self._lines()
        found = [each.to_dict() for each in decisions_in(reversed(lines))]
        self._check(lines, found or runs_in(lines))
        return found

    async def runs(self) -> list[Run]:
        lines = self._lines()
        found = runs_in(lines)
        self._check(lines, found or next(decisions_in(lines), None))
        return found

    def _lines(self) -> list[bytes]:
        try:
            self._path.stat()
            return [*kept_lines(self._path)]
        except OSError as error:
            raise ReprieveError(f"--records {self._path}: cannot be read: {error.strerror}") from error

    def _check(self, lines: list[bytes], records: object) -> None:
        if lines and not records:
            raise ReprieveError(
                f"--records {self._path}: no line of it is a decision record; "
                "give the file that the controller's configuration names as records.path"
            )


class RunningController:
    """A process that serves its records (`reprieve run`, `reprieve up`)."""

    def __init__(self, address: str, token: str = "") -> None:
        if not address.startswith(("http://", "https://")):
            raise ReprieveError(
                f"--controller {address}: not an address; write for instance http://127.0.0.1:8080"
            )
        self._address = address
        self._token = token

    async def decisions(self) -> list[dict[str, Any]]:
        async with self._session() as session:
            listed = await self._get(session, f"decisions?limit={MOST_DECISIONS}", _Decisions)
            evicting = [each.id for each in listed.items if each.victims] if listed else []
            found = [await self._get(session, f"decisions/{id}", Decision) for id in evicting]
        return [each.to_dict() for each in found if each is not None]

    async def runs(self) -> list[Run]:
        async with self._session() as session:
            listed = await self._get(session, "runs", _Runs)
        return listed.items if listed else []

    @asynccontextmanager
    async def _session(self) -> "AsyncIterator[aiohttp.ClientSession]":
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        try:
            async with aiohttp.ClientSession(timeout=timeout, headers=headers) as session:
                yield session
        except (aiohttp.ClientError, TimeoutError, msgspec.MsgspecError) as error:
            raise ReprieveError(
                f"no decision records from {self._address}: {error or type(error).__name__}; "
                "is the controller running there? Leave --controller out to answer without them"
            ) from error

    async def _get(self, session: "aiohttp.ClientSession", what: str, type: type[T]) -> T | None:
        """None for what is not kept any more."""
        async with session.get(f"{self._address.rstrip('/')}/api/{what}") as response:
            body = await response.read()
            if response.status in (UNAUTHORIZED, FORBIDDEN):
                raise ReprieveError(
                    f"no decision records from {self._address}: {_message(body) or response.reason}"
                )
            if response.status == NOT_FOUND and _message(body):
                return None
            response.raise_for_status()
            return msgspec.json.decode(body, type=type)


class _Summary(msgspec.Struct):
    id: str
    victims: int


class _Decisions(msgspec.Struct):
    items: list[_Summary]


class _Runs(msgspec.Struct):
    items: list[Run]


def _message(body: bytes) -> str:
    """What a controller says; empty if something else answers there."""
    with suppress(msgspec.MsgspecError):
        return str(msgspec.json.decode(body, type=dict[str, str]).get("message", ""))
    return ""
