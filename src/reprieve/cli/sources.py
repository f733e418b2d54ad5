"""What a command reads: manifests, a cluster with manifests on top, or the workers of a fleet."""

from collections.abc import Sequence
from pathlib import Path

import click

from reprieve.objects import Document, ReprieveError, Source, read_documents


def gather(filenames: Sequence[str], kubeconfig: str | None) -> Sequence[Document | Source]:
    """The documents of the files; with a kubeconfig, on top of what the cluster holds. Only reads."""
    if not filenames and not kubeconfig:
        raise click.UsageError("give manifests with -f, or a cluster with --kubeconfig")
    submitted = read_manifests(filenames)
    if not kubeconfig:
        return submitted
    from reprieve.kube import read_cluster
    from reprieve.whatif import overlay

    return overlay(read_cluster(kubeconfig), submitted)


def read_manifests(filenames: Sequence[str]) -> list[Source]:
    """All documents with their places, so that a decoding error can name the place."""
    for filename in filenames:
        if "://" in filename:
            raise ReprieveError(
                f"-f {filename}: not a file; fetch it first: curl -sL {filename} | reprieve … -f -"
            )
    return [source for filename in filenames for source in read_documents(filename)]


def workers_in(folder: Path) -> dict[str, list[Document]]:
    """One worker for each file or sub-folder, in the order of their names."""
    if not folder.is_dir():
        raise ReprieveError(f"--fleet {folder}: not a folder with one file or sub-folder for each worker")
    found = {
        entry.stem if entry.is_file() else entry.name: [source.document for source in read_documents(entry)]
        for entry in sorted(folder.iterdir())
        if entry.is_dir() or entry.suffix in (".yaml", ".yml", ".json")
    }
    if not found:
        raise ReprieveError(f"--fleet {folder}: no workers: expected one YAML file or sub-folder for each")
    return found


def workers_of_manager(kubeconfig: str | None) -> dict[str, list[Document]]:
    """The workers of the manager behind the kubeconfig, as they are now."""
    import asyncio

    from reprieve.controllers.fleet import Limits, survey
    from reprieve.kube import INTERACTIVE_ATTEMPTS, Client
    from reprieve.objects import well_known

    async def read() -> dict[str, list[Document]]:
        async with Client.from_kubeconfig(kubeconfig, attempts=INTERACTIVE_ATTEMPTS) as client:
            return await survey(client, well_known.KUBECONFIG_NAMESPACE, Limits())

    return asyncio.run(read())
