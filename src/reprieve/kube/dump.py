"""Everything a decision depends on, read once from a live cluster: for commands that change nothing."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reprieve.kube.client import INTERACTIVE_ATTEMPTS, Client
from reprieve.kube.resources import ADMISSION_KINDS, QUOTA_KINDS, SCHEDULER_KINDS, Resource

_DECIDING = tuple(dict.fromkeys((*SCHEDULER_KINDS, *QUOTA_KINDS, *ADMISSION_KINDS)))


async def dump_cluster(client: Client) -> list[bytes]:
    """Every object that a decision can depend on, as JSON for another process: a List on each line."""
    return await client.dump_all(_DECIDING)


def read_cluster(
    kubeconfig: str | Path | None = None,
    context: str | None = None,
    kinds: Iterable[Resource] = _DECIDING,
) -> list[dict[str, Any]]:
    """The same as raw documents, without those of kinds not served. Connects as kubectl would, only reads."""

    async def run() -> list[dict[str, Any]]:
        async with Client.from_kubeconfig(kubeconfig, context, attempts=INTERACTIVE_ATTEMPTS) as client:
            return await client.list_all(kinds)

    documents = asyncio.run(run())
    for document in documents:
        document.get("metadata", {}).pop("managedFields", None)
    return documents
