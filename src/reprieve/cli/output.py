"""How commands speak: tables for people, JSON and YAML for programs, one line for an error."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from reprieve.cli.layout import Screen
    from reprieve.objects import Progress

YES, NO, BAD_INPUT = 0, 1, 2
"""Exit codes."""

T = TypeVar("T")
Output = Literal["table", "json", "yaml"]

output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "yaml"]),
    default="table",
    show_default=True,
    help="Table for people, JSON or YAML for programs.",
)


def console(*, stderr: bool = False) -> "Console":
    """A rich console: colours and full width at a terminal, plain text of a fixed width in a pipe."""
    from reprieve.cli.safe_console import SafeConsole

    stream = sys.stderr if stderr else sys.stdout
    at_terminal = stream.isatty()
    return SafeConsole(
        file=stream, width=None if at_terminal else 160, highlight=False, soft_wrap=not at_terminal
    )


all_option = click.option(
    "--all", "everything", is_flag=True, help="Tables show every row, and every pod of an owner by itself."
)


def print_answer(data: dict[str, Any], output: Output, render: Callable[["Screen"], None]) -> None:
    """As `print_result`, for what `render` lays out by itself."""
    if output != "table":
        print_result(data, output, lambda _: None)
        return
    from reprieve.cli.layout import screen

    render(screen())


def print_result(data: dict[str, Any], output: Output, render: Callable[["Console"], None]) -> None:
    """Prints `data` as JSON or YAML, or lets `render` draw it."""
    if output == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    elif output == "yaml":
        from reprieve.objects import format_yaml

        click.echo(format_yaml([data]).rstrip())
    else:
        render(console())


def progress(items: Iterable[T], noun: str) -> Iterator[T]:
    """Passes the items through; at a terminal a line counts them while it lasts."""
    if not sys.stderr.isatty():
        yield from items
        return
    with console(stderr=True).status(f"0 {noun}") as status:
        for number, item in enumerate(items, 1):
            if number % 200 == 0:
                status.update(f"{number:,} {noun}")
            yield item


LARGE = 4_000_000
"""Characters; a file that is read in the blink of an eye needs no progress bar."""


@contextmanager
def reading() -> Iterator["Progress | None"]:
    """Shows at a terminal how far a large file is read, while it lasts."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as shown:
        bars: dict[str, Callable[[int], None]] = {}

        def heard(file: str, read: int, total: int) -> None:
            if total >= LARGE:
                if file not in bars:
                    bars[file] = _bar(shown, file, total)
                bars[file](read)

        yield heard


def _bar(shown: ExitStack, file: str, total: int) -> Callable[[int], None]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading {task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = shown.enter_context(Progress(*columns, console=console(stderr=True), transient=True))
    task = bar.add_task(file, total=total)
    return lambda read: bar.update(task, completed=read)


def fail(message: str) -> NoReturn:
    """Says what is wrong on standard error and ends with exit code 2."""
    from reprieve.objects import harmless

    for line in message.splitlines() or ["failed"]:
        click.echo(f"error: {harmless(line)}", err=True)
    raise SystemExit(BAD_INPUT)
