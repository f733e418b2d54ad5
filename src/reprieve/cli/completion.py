"""`reprieve completion`: the script that makes a shell complete commands, options, kinds and names.

A shell waits while names are looked for, so a cluster gets little time, and whatever goes wrong is silent:
there is nobody to read a message.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import click

from reprieve.objects import Reference

PATIENCE_SECONDS = 1.5
MOST = 500


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
    from click.shell_completion import get_completion_class

    from reprieve.cli import main

    completion_class = get_completion_class(shell)
    assert completion_class is not None  # click knows all three
    click.echo(completion_class(main, {}, "reprieve", "_REPRIEVE_COMPLETE").source())


def complete_target(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """KIND/NAMESPACE/NAME: kinds first; then names from the files given, or from the cluster."""
    word, slash, rest = incomplete.partition("/")
    if not slash:
        names = [f"{words[0]}/" for words in _words().values() if words[0].startswith(word.lower())]
        return (
            names if len(names) != 1 else list(_named(names[0][:-1], "", _known(ctx, names[0][:-1]))) or names
        )
    return list(_named(word, rest, _known(ctx, word)))


def _words() -> dict[str, tuple[str, ...]]:
    """By kind, what people type for it; of jobs of other projects, too."""
    from reprieve.jobs import JobKinds

    jobs = {kind.kind: (kind.kind.lower(), kind.plural, *kind.short_names) for kind in JobKinds()}
    return {**jobs, **{kind: tuple(words) for kind, words in Reference.words().items()}}


def _named(word: str, rest: str, known: Iterable[Reference]) -> Iterator[str]:
    """As they were begun: in the word for the kind that was typed."""
    found = sorted({each.key for each in known})
    shown = [key for key in found if key.startswith(rest)]
    # Without a namespace it means `default`.
    shown += [key.removeprefix("default/") for key in found if key.startswith(f"default/{rest}")]
    for key in list(dict.fromkeys(shown))[:MOST]:
        yield f"{word}/{key}"


def _known(ctx: click.Context, word: str) -> list[Reference]:
    """What exists of the kind; nothing where that cannot be found out quickly."""
    kind = next((kind for kind, words in _words().items() if word.lower() in words), "")
    files = [
        str(name) for name in ctx.params.get("files") or ctx.params.get("filenames") or () if name != "-"
    ]
    import asyncio

    with suppress(Exception):
        if files:
            return [each for each in _in_files(files) if each.kind == kind]
        return asyncio.run(_in_cluster(kind, ctx.params.get("kubeconfig"), ctx.params.get("context")))
    return []


def _in_files(files: list[str]) -> Iterator[Reference]:
    from reprieve.cli.sources import read_manifests

    for source in read_manifests(files):
        yield Reference.read(source.document)


async def _in_cluster(kind: str, kubeconfig: str | None, context: str | None) -> list[Reference]:
    import asyncio

    from reprieve.kube import OWNER_KINDS, QUOTA_KINDS, SCHEDULER_KINDS, Client

    wanted = next(each for each in (*SCHEDULER_KINDS, *QUOTA_KINDS, *OWNER_KINDS) if each.kind == kind)
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        Client.from_kubeconfig(kubeconfig, context, attempts=1) as client,
    ):
        resource = await client.served(wanted)
        if resource is None:
            return []
        items = (await client.listing(resource.raw())).items
    return [Reference.read({**item, "kind": kind}) for item in items]
