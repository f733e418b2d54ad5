"""What a question is asked of: manifests, a cluster as it is, or manifests on top of a cluster."""

from collections.abc import Sequence
from typing import Any

import click


def gather(filenames: Sequence[str], kubeconfig: str | None) -> list[dict[str, Any]]:
    """The documents of the files; with a kubeconfig, laid over what the cluster holds. Only ever reads."""
    if not filenames and not kubeconfig:
        raise click.UsageError("give manifests with -f, or a cluster with --kubeconfig")
    from reprieve.objects.documents import read_documents

    asked = [source.document for filename in filenames for source in read_documents(filename)]
    if not kubeconfig:
        return asked
    from reprieve.kube.dump import read_cluster
    from reprieve.whatif.overlay import overlay

    return overlay(read_cluster(kubeconfig), asked)
