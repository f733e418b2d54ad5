"""What a question is asked of: manifests, a cluster as it is, or manifests on top of a cluster."""

from collections.abc import Sequence
from typing import Any

import click

from reprieve.objects import ReprieveError


def gather(filenames: Sequence[str], kubeconfig: str | None) -> list[dict[str, Any]]:
    """The documents of the files; with a kubeconfig, laid over what the cluster holds. Only ever reads."""
    if not filenames and not kubeconfig:
        raise click.UsageError("give manifests with -f, or a cluster with --kubeconfig")
    asked = read_manifests(filenames)
    if not kubeconfig:
        return asked
    from reprieve.kube import read_cluster
    from reprieve.whatif import overlay

    return overlay(read_cluster(kubeconfig), asked)


def read_manifests(filenames: Sequence[str]) -> list[dict[str, Any]]:
    """All documents, each of the shape that its kind has; what is wrong is said with its file."""
    from reprieve.objects import decode_all, read_documents

    for filename in filenames:
        if "://" in filename:
            raise ReprieveError(
                f"-f {filename}: not a file; fetch it first: curl -sL {filename} | reprieve … -f -"
            )
    sources = [source for filename in filenames for source in read_documents(filename)]
    decode_all(sources)
    return [source.document for source in sources]
