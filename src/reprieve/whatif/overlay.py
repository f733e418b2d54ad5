"""Manifests on top of a cluster: what if these were submitted?"""

from reprieve.objects import Document, kind_key


def overlay(cluster: list[Document], asked: list[Document]) -> list[Document]:
    """The cluster with the manifests on top: an object of the same kind and name is replaced."""
    replaced = {_identity(document) for document in asked}
    return [document for document in cluster if _identity(document) not in replaced] + asked


def _identity(document: Document) -> tuple[str, str, str, str]:
    metadata = document.get("metadata") or {}
    namespace = str(metadata.get("namespace") or "default")
    return *kind_key(document), namespace, str(metadata.get("name"))
