"""The what-if form: manifests from a viewer, planned on top of the cluster as it is now. Nothing is created."""

import asyncio
from collections.abc import Mapping
from io import StringIO
from typing import Any

from reprieve import plan
from reprieve.kube import Client, fetch_cluster
from reprieve.objects.documents import read_documents
from reprieve.objects.errors import ReprieveError
from reprieve.objects.meta import Document

UNIT_KINDS = ("PodGroup", "Workload", "Pod")


class WhatIf:
    """Answers one form; the plan itself runs in a thread, so that the page stays live meanwhile."""

    def __init__(self, client: Client, config: Mapping[str, Any] | None = None) -> None:
        self._client = client
        self._config = config

    async def __call__(self, manifest: str, for_: str) -> dict[str, Any]:
        asked = [source.document for source in read_documents(StringIO(manifest))]
        target = for_.strip() or only_unit(asked)
        objects = overlay(await fetch_cluster(self._client), asked)
        answer: dict[str, Any] = await asyncio.to_thread(
            lambda: plan(objects, target, config=self._config).to_dict()
        )
        return answer


def only_unit(documents: list[Document]) -> str:
    """The unit to plan for when none is named: the only group, else the only workload, else the only pod."""
    for kind in UNIT_KINDS:
        names = [_identity(d) for d in documents if d.get("kind") == kind]
        if len(names) == 1:
            _, namespace, name = names[0]
            return f"{kind}/{namespace}/{name}"
        if names:
            choices = ", ".join(f"{kind}/{namespace}/{name}" for _, namespace, name in names)
            raise ReprieveError(f"the manifests hold several units; say which one to plan for: {choices}")
    raise ReprieveError("the manifests hold no Pod, PodGroup or Workload to plan for")


def overlay(cluster: list[Document], asked: list[Document]) -> list[Document]:
    """The cluster with the manifests on top: an object of the same kind and name is replaced."""
    replaced = {_identity(document) for document in asked}
    return [document for document in cluster if _identity(document) not in replaced] + asked


def _identity(document: Document) -> tuple[str, str, str]:
    metadata = document.get("metadata") or {}
    return str(document.get("kind")), str(metadata.get("namespace") or "default"), str(metadata.get("name"))
