"""The what-if form: a viewer's manifests, planned on top of the live cluster. Nothing is created."""

import asyncio
from collections.abc import Mapping
from io import StringIO
from typing import Any

from reprieve import plan
from reprieve.kube import Client, fetch_cluster
from reprieve.objects import Document, ReprieveError, read_documents
from reprieve.whatif import overlay

UNIT_KINDS = ("PodGroup", "Workload", "Pod")


class WhatIf:
    """Answers one form; the plan itself runs in a thread, so that the page stays live meanwhile."""

    def __init__(self, client: Client, config: Mapping[str, Any] | None = None) -> None:
        self._client = client
        self._config = config

    async def __call__(self, manifest: str, for_: str) -> dict[str, Any]:
        submitted = [source.document for source in read_documents(StringIO(manifest))]
        target = for_.strip() or only_unit(submitted)
        objects = overlay(await fetch_cluster(self._client), submitted)
        answer: dict[str, Any] = await asyncio.to_thread(
            lambda: plan(objects, target, config=self._config).to_dict()
        )
        return answer


def only_unit(documents: list[Document]) -> str:
    """The unit to plan for when none is named: the only group, else the only workload, else the only pod."""
    for kind in UNIT_KINDS:
        units = [_target(document) for document in documents if document.get("kind") == kind]
        if len(units) == 1:
            return units[0]
        if units:
            raise ReprieveError(
                f"the manifests hold several units; say which one to plan for: {', '.join(units)}"
            )
    raise ReprieveError("the manifests hold no Pod, PodGroup or Workload to plan for")


def _target(document: Document) -> str:
    metadata = document.get("metadata") or {}
    return f"{document['kind']}/{metadata.get('namespace') or 'default'}/{metadata.get('name')}"
