"""Manifests on top of a cluster: what if these were submitted?"""

from reprieve.objects.meta import Document


def overlay(cluster: list[Document], asked: list[Document]) -> list[Document]:
    """The cluster with the manifests on top: an object of the same kind and name is replaced."""
    replaced = {_identity(document) for document in asked}
    return [document for document in cluster if _identity(document) not in replaced] + asked


def _identity(document: Document) -> tuple[str, str, str, str]:
    metadata = document.get("metadata") or {}
    group = str(document.get("apiVersion") or "").rpartition("/")[0]
    namespace = str(metadata.get("namespace") or "default")
    return group, str(document.get("kind")), namespace, str(metadata.get("name"))
