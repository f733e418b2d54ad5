"""Manifests on top of a cluster: what if these were submitted?"""

from collections.abc import Sequence

from reprieve.objects import Document, Source, document_of, kind_key


def overlay(cluster: Sequence[Document], submitted: Sequence[Document | Source]) -> list[Document | Source]:
    """The cluster with the manifests on top: an object of the same kind and name is replaced."""
    replaced = {_identity(document_of(each)) for each in submitted}
    return [*(document for document in cluster if _identity(document) not in replaced), *submitted]


def _identity(document: Document) -> tuple[str, str, str, str]:
    metadata = document.get("metadata") or {}
    namespace = str(metadata.get("namespace") or "default")
    return *kind_key(document), namespace, str(metadata.get("name"))
