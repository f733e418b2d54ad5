"""What every worker of a manager holds, read once: for plans over the fleet."""

import asyncio

from reprieve.controllers.fleet.access import connect
from reprieve.kube import MULTIKUEUE_CLUSTERS, NAMESPACES, PRIORITY_CLASSES, QUOTA_KINDS, Client
from reprieve.objects import Document


async def survey(manager: Client, namespace: str) -> dict[str, list[Document]]:
    """Each worker's objects that decide about quota; `namespace` is where the kubeconfig Secrets live."""
    clusters = (await manager.listing(MULTIKUEUE_CLUSTERS.raw())).items
    listed = await asyncio.gather(*(_read(manager, namespace, cluster) for cluster in clusters))
    return {
        cluster["metadata"]["name"]: documents for cluster, documents in zip(clusters, listed, strict=True)
    }


async def _read(manager: Client, namespace: str, cluster: Document) -> list[Document]:
    async with await connect(manager, namespace, cluster) as client:
        return await client.list_all((NAMESPACES, PRIORITY_CLASSES, *QUOTA_KINDS))
