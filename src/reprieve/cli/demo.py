"""`reprieve demo`: the guided tour."""

import asyncio
import logging
import sys
import time

import click

from reprieve.cli.output import console, fail


@click.command("demo")
@click.option("--step", is_flag=True, help="Wait for Enter between the scenes.")
@click.option(
    "--keep", is_flag=True, help="Leave everything running at the end, dashboard included, until Ctrl-C."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port of the dashboard; 0 picks a free one."
)
def command(step: bool, keep: bool, port: int) -> None:
    """A tour on this machine: who makes way, and why. Nothing is left behind.

    \b
    Examples:
      reprieve demo
      reprieve demo --step
      reprieve demo --keep --port 8088
    """
    from reprieve.demo import show

    # What controllers try again by themselves would only frighten whoever takes the tour.
    logging.basicConfig(level=logging.ERROR)
    begun = time.monotonic()
    try:
        asyncio.run(show(console(), _pause if step else _no_pause, keep, port))
    except KeyboardInterrupt:
        fail("stopped")
    click.echo(f"\nThe tour took {time.monotonic() - begun:.0f} s.")


async def _no_pause() -> None:
    pass


async def _pause() -> None:
    click.echo("\n  [Enter] goes on", nl=False)
    await asyncio.to_thread(sys.stdin.readline)
