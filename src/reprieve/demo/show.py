"""The order of the scenes."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from reprieve.demo.scenes import flavors, fleet, gang
from reprieve.demo.stage import stage
from reprieve.demo.tour import Tour

if TYPE_CHECKING:
    from rich.console import Console


async def show(console: "Console", pause: Callable[[], Awaitable[None]], keep: bool, port: int) -> None:
    """The whole tour; with `keep` it stays until it is cancelled."""
    async with AsyncExitStack() as stack:
        clusters, controller = await stack.enter_async_context(stage(port))
        console.print(
            "[bold]Reprieve[/]: an API server, fake nodes, a scheduler and a quota controller run on this machine.\n"
            "Every command below is what you would type; with --keep you can, in a second terminal, after this:"
        )
        programs = Path(sys.executable).parent
        console.print(f"  export KUBECONFIG={clusters.server.kubeconfig} PATH={programs}:$PATH", markup=False)
        tour = Tour(console, clusters.server.kubeconfig, pause)
        await gang.plan_it(tour, clusters)
        await gang.submit_it(tour, clusters)
        await gang.explain_it(tour, clusters, controller)
        await flavors.choose(tour, clusters)
        await fleet.one_preempts(tour, stack)
        if keep:
            console.print(f"\nEverything goes on until Ctrl-C. Dashboard: {controller}/", markup=False)
            await _told_to_stop()


async def _told_to_stop() -> None:
    """Ctrl-C or SIGTERM; also when the shell that started us had them ignored, as it does for background jobs."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
