"""What the tour prints: scenes, commands to type, what happened, why. Plain text when piped."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reprieve.objects import ReprieveError

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
PATIENCE_SECONDS = 30.0
POLL_SECONDS = 0.1
MANIFESTS = Path(__file__).parent / "manifests"


class TourFailed(ReprieveError):
    """Something that the tour shows did not happen in time."""


class Tour:
    """Prints to a console; `pause` is called between scenes."""

    def __init__(self, console: "Console", kubeconfig: Path, pause: Callable[[], Awaitable[None]]) -> None:
        self._console = console
        self._kubeconfig = kubeconfig
        self._pause = pause
        self._scenes = 0

    async def scene(self, title: str, text: str) -> None:
        if self._scenes:
            await self._pause()
        self._scenes += 1
        self._console.print(f"\n[bold blue]{self._scenes}. {title}[/]")
        self._console.print(text, markup=False)

    def command(self, text: str) -> None:
        """What a viewer would type to do the same, after the `export` at the top."""
        self._console.print(f"\n  [green]$[/] [bold]{self._short(text)}[/]")

    def _short(self, text: str) -> str:
        return text.replace(f"{Path.cwd()}/", "").replace(str(self._kubeconfig), "$KUBECONFIG")

    def say(self, text: str) -> None:
        for line in text.splitlines():
            self._console.print(f"    {line}", markup=False)

    def because(self, sentence: str) -> None:
        self._console.print(f"  [yellow]Why:[/] {sentence}")

    async def reprieve(self, *arguments: str) -> None:
        """Run one of our own commands for real, and show what it prints."""
        self.command("reprieve " + " ".join(arguments))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "reprieve",
            *arguments,
            env={**os.environ, "KUBECONFIG": str(self._kubeconfig), "COLUMNS": "110"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        self.say(output.decode().rstrip())
        if process.returncode not in (0, 1):
            raise TourFailed(f"`reprieve {' '.join(arguments)}` ended with exit code {process.returncode}")

    @asynccontextmanager
    async def timed(self, what: str) -> AsyncIterator[None]:
        begun = time.monotonic()
        yield
        self.say(f"{what} after {time.monotonic() - begun:.1f} s")

    async def until(self, what: str, happened: Callable[[], Awaitable[T]]) -> T:
        """Wait for the cluster to get there, and return the answer that says so: what is shown of it must be
        from that moment and not from a later one. Past a deadline the tour fails and says what is missing.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (answer := await happened()):
            if time.monotonic() > deadline:
                raise TourFailed(
                    f"the tour waited {PATIENCE_SECONDS:.0f} s for this, and it did not happen: {what}"
                )
            await asyncio.sleep(POLL_SECONDS)
        return answer
