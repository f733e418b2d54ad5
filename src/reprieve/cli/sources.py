"""What a question is asked of: manifests, a cluster as it is, or manifests on top of a cluster."""

from collections.abc import Sequence

import click

from reprieve.objects import Document, ReprieveError, Source, read_documents


def gather(filenames: Sequence[str], kubeconfig: str | None) -> Sequence[Document | Source]:
    """The documents of the files; with a kubeconfig, laid over what the cluster holds. Only ever reads."""
    if not filenames and not kubeconfig:
        raise click.UsageError("give manifests with -f, or a cluster with --kubeconfig")
    submitted = read_manifests(filenames)
    if not kubeconfig:
        return submitted
    from reprieve.kube import read_cluster
    from reprieve.whatif import overlay

    return overlay(read_cluster(kubeconfig), submitted)


def read_manifests(filenames: Sequence[str]) -> list[Source]:
    """All documents with their places, so that whoever decodes them can say where something is wrong."""
    for filename in filenames:
        if "://" in filename:
            raise ReprieveError(
                f"-f {filename}: not a file; fetch it first: curl -sL {filename} | reprieve … -f -"
            )
    return [source for filename in filenames for source in read_documents(filename)]
