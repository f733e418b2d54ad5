"""Writes the status of queues: who waits and runs in them, and what was consumed."""

from copy import deepcopy
from datetime import datetime

from reprieve.controllers.quota.observed import Observed
from reprieve.controllers.quota.status import changed_fields, cluster_queue_status, local_queue_status
from reprieve.kube import CLUSTER_QUEUES, LOCAL_QUEUES, Client
from reprieve.objects import format_time, split_key


class QueueStatuses:
    def __init__(self, client: Client, seen: Observed) -> None:
        self._client = client
        self._seen = seen

    async def cluster_queue(self, name: str, now: datetime) -> None:
        known = self._seen.queue_documents.get(name)
        if known is None:
            return
        document = deepcopy(known)
        if cluster_queue_status(self._seen.quota, name, document, now):
            body = {"status": changed_fields(known, document)}
            await self._client.patch(CLUSTER_QUEUES, name, body, subresource="status")

    async def local_queue(self, key: str, now: datetime) -> None:
        known = self._seen.local_queue_documents.get(key)
        if known is None:
            return
        document = deepcopy(known)
        if local_queue_status(self._seen.quota, document, now):
            namespace, name = split_key(key)
            body = {"status": changed_fields(known, document)}
            await self._client.patch(LOCAL_QUEUES, name, body, namespace, subresource="status")

    async def consumed(self, key: str, amounts: dict[str, str], now: datetime) -> None:
        """What a LocalQueue has used lately, where that decides who is next."""
        namespace, name = split_key(key)
        status = {"consumedResources": amounts, "lastUpdate": format_time(now)}
        body = {"status": {"fairSharing": {"admissionFairSharingStatus": status}}}
        await self._client.patch(LOCAL_QUEUES, name, body, namespace, subresource="status")
