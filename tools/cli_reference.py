"""Writes docs/cli.md from the commands themselves, so that the reference cannot say anything else than
`--help`.

.venv/bin/python tools/cli_reference.py            writes the file
.venv/bin/python tools/cli_reference.py --check    only says whether it is up to date
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from reprieve.cli import COMMANDS, main

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"
REGENERATE = "make docs, or .venv/bin/python tools/cli_reference.py"
HEAD = f"""\
# Commands

<!-- Written by tools/cli_reference.py from the commands themselves. Write it anew with: {REGENERATE} -->

Exit codes of every command: 0 yes, 1 no (it does not fit, it is not admitted, there is no such object), 2 bad
input or usage. Errors are sentences on standard error. `-o json` and `-o yaml` print the documents of
[formats.md](formats.md). Output is plain when it is piped.
"""


def render() -> str:
    """The whole page."""
    assert isinstance(main, click.Group)
    context = click.Context(main, info_name="reprieve")
    names = main.list_commands(context)
    overview = [f"| [`{name}`](#reprieve-{name}) | {COMMANDS[name]} |" for name in names]
    parts = [HEAD, "| Command | |\n|---|---|\n" + "\n".join(overview) + "\n"]
    for name in names:
        command = main.get_command(context, name)
        assert command is not None
        parts += _sections(command, click.Context(command, info_name=name, parent=context))
    return "\n".join(parts)


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """A command, then its sub-commands."""
    usage = " ".join(command.collect_usage_pieces(context))
    text, examples = _prose(command)
    yield f"## {context.command_path}\n\n```text\n{context.command_path} {usage}\n```\n"
    yield text + "\n"
    if examples:
        yield f"```sh\n{examples}\n```\n"
    rows = [row for parameter in command.get_params(context) if (row := _row(parameter, context))]
    if rows:
        yield "| Option | Meaning |\n|---|---|\n" + "\n".join(rows) + "\n"
    if command.epilog:
        yield f"{command.epilog}\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _sections(child, click.Context(child, info_name=name, parent=context))


def _prose(command: click.Command) -> tuple[str, str]:
    """The description, and the lines under `Examples:`."""
    text, _, examples = inspect.cleandoc(command.help or "").partition("\b\nExamples:\n")
    return text.strip(), inspect.cleandoc(examples)


def _row(parameter: click.Parameter, context: click.Context) -> str:
    """One line of the table; arguments are in the usage line already."""
    if not isinstance(parameter, click.Option) or "--help" in parameter.opts:
        return ""
    record = parameter.get_help_record(context)
    if record is None:
        return ""
    names, meaning = (" ".join(part.split()).replace("|", "\\|") for part in record)
    return f"| `{names}` | {meaning} |"


def run(arguments: list[str]) -> int:
    page = render()
    if arguments == ["--check"]:
        fresh = TARGET.exists() and TARGET.read_text(encoding="utf-8") == page
        print(f"{TARGET.name} is up to date" if fresh else f"{TARGET.name} is stale: run {REGENERATE}")
        return 0 if fresh else 1
    TARGET.write_text(page, encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:]))
