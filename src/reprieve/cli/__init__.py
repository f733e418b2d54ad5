"""The command line: `reprieve COMMAND`.

Commands hold no logic. Each lives in the module of its name, which is imported when the command is used.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from reprieve import __version__
from reprieve.cli.output import BAD_INPUT, fail
from reprieve.objects import ReprieveError, nearest

COMMANDS = {
    "plan": "Would it fit, and if not: who makes way, and why?",
    "admit": "Which workloads may run within their quota?",
    "when": "When will it run?",
    "validate": "Check manifests and name every problem.",
    "simulate": "What would happen to these jobs on that cluster?",
    "explain": "Why was this decision made?",
    "up": "Start a whole control plane with fake nodes on this machine.",
    "run": "Run the controllers against a cluster.",
    "manifests": "Print what a cluster needs: custom resources, deployment, monitoring.",
    "demo": "A tour on this machine.",
    "schema": "Print the JSON Schema of an answer.",
    "mcp": "Answer the questions of an assistant (Model Context Protocol).",
    "completion": "Print the shell completion script.",
}
"""Module name under `reprieve.cli` to the line that `--help` shows, so that help imports none of them."""

_MAY_BE_EMPTY = ("--listen",)
"""Options whose empty value means something."""


class LazyGroup(click.Group):
    """Imports a command's module only when that command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"reprieve.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _refuse_empty(ctx, args)
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(error.message.rstrip(".") + nearest(args[0], COMMANDS), ctx) from error

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _helpful_usage():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Errors that are the user's to fix become a message and exit code 2, never a traceback."""
        try:
            with _helpful_usage():
                return super().invoke(ctx)
        except ReprieveError as error:
            fail(f"{error}{_where_examples_are(str(error))}")
        except Exception as error:
            if sentence := _api_server_problem(error):
                fail(sentence)
            raise


def _refuse_empty(ctx: click.Context, args: list[str]) -> None:
    """`-f $FILE` with FILE unset must not mean the current folder, nor `--kubeconfig` no cluster."""
    for option, value in pairwise([*args, "."]):
        name, assigned, given = option.partition("=")
        empty = value == "" or (assigned and not given)
        if empty and name.startswith("-") and name not in _MAY_BE_EMPTY:
            raise click.UsageError(f"{name} is empty; was a variable not set?", ctx)


@contextmanager
def _helpful_usage() -> Iterator[None]:
    """The nearest option for a misspelt one, where click lists everything similar; and a hint for stray
    arguments, which are most often files."""
    try:
        yield
    except click.NoSuchOption as error:
        known = error.ctx.command.get_params(error.ctx) if error.ctx else []
        hint = nearest(error.option_name, [name for option in known for name in option.opts])
        raise click.UsageError(f"No such option {error.option_name!r}{hint}", error.ctx) from error
    except click.UsageError as error:
        known = error.ctx.command.get_params(error.ctx) if error.ctx else []
        if error.message.startswith("Got unexpected extra") and any("-f" in each.opts for each in known):
            hint = "; files are given with -f, and names in one word: KIND/NAMESPACE/NAME"
            raise click.UsageError(error.message + hint, error.ctx) from error
        raise


def _where_examples_are(said: str) -> str:
    """Every help names some; who installed the wheel has none."""
    if not said.startswith("examples/") or "No such file" not in said:
        return ""
    return f"; the examples are in the source archive, reprieve-{__version__}.tar.gz"


def _api_server_problem(error: Exception) -> str:
    """The message for a refusal or the silence of an API server; empty for any other error."""
    if "reprieve.kube" not in sys.modules:
        return ""  # no client, no server; and `--help`, which ends with an exception, need not load one
    from reprieve.kube import ApiError, TransportError

    if isinstance(error, TransportError):
        return (
            f"the API server does not answer ({error}); "
            "does the kubeconfig name the right address, and is it running?"
        )
    if isinstance(error, ApiError):
        hints = {
            401: "; it does not know the credentials in the kubeconfig",
            403: "; ask for that right, or choose another --context",
        }
        return f"the API server refuses: {error}{hints.get(error.code, '')}"
    return ""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 yes, 1 no (it does not fit, it is not admitted), 2 bad input or usage.",
)
@click.version_option(__version__, prog_name="reprieve")
def main() -> None:
    """Decides which running workloads make way for more important ones, and says why.

    \b
    Examples:
      reprieve plan -f examples/01-first-plan --for PodGroup/ml/train
      reprieve validate -f examples/01-first-plan
      reprieve COMMAND --help
    """


__all__ = ["BAD_INPUT", "COMMANDS", "main"]
