"""`kubectl reprieve`: the same commands as a plugin of kubectl, and what completes them there.

kubectl finds both by the names of their programs, `kubectl-reprieve` and `kubectl_complete-reprieve`.
"""

import sys

import click
from click.shell_completion import ShellComplete

from reprieve.cli import main

NAME = "kubectl reprieve"
NO_FILES, FILES = ":4", ":0"
"""What kubectl expects in the last line: whether its shell may offer files as well."""


def run() -> None:
    """The program `kubectl-reprieve`."""
    main(prog_name=NAME)


def complete() -> None:
    """The program `kubectl_complete-reprieve`: one word a line, with its meaning after a tab."""
    *words, incomplete = sys.argv[1:] or [""]
    items = ShellComplete(main, {}, NAME, "").get_completions(words, incomplete)
    for item in items:
        if item.type == "plain":
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(NO_FILES if items and all(item.type == "plain" for item in items) else FILES)
