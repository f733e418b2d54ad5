"""`reprieve completion`: the script that makes a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class


@click.command(
    "completion",
    epilog="Put the line into your shell's start-up file to keep it.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Examples:
      eval "$(reprieve completion bash)"
      eval "$(reprieve completion zsh)"
      reprieve completion fish | source
    """
    from reprieve.cli import main

    completion_class = get_completion_class(shell)
    assert completion_class is not None  # click knows all three
    click.echo(completion_class(main, {}, "reprieve", "_REPRIEVE_COMPLETE").source())
