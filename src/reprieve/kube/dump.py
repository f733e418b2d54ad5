"""Everything a decision depends on, read once from a live cluster: for commands that change nothing."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reprieve.kube.client import INTERACTIVE_ATTEMPTS, Client
from reprieve.kube.resources import QUOTA_KINDS, SCHEDULER_KINDS, Resource


async def fetch_cluster(
    client: Client, kinds: Iterable[Resource] = SCHEDULER_KINDS + QUOTA_KINDS
) -> list[dict[str, Any]]:
    """Every object that a decision can depend on, as raw documents; kinds not served are left out."""
    documents = await client.list_all(kinds)
    for document in documents:
        document.get("metadata", {}).pop("managedFields", None)
    return documents


def read_cluster(
    kubeconfig: str | Path | None = None,
    context: str | None = None,
    kinds: Iterable[Resource] = SCHEDULER_KINDS + QUOTA_KINDS,
) -> list[dict[str, Any]]:
    """`fetch_cluster` for callers without an event loop: connects as kubectl would, only ever reads."""

    async def run() -> list[dict[str, Any]]:
        async with Client.from_kubeconfig(kubeconfig, context, attempts=INTERACTIVE_ATTEMPTS) as client:
            return await fetch_cluster(client, kinds)

    return asyncio.run(run())
