"""Which jobs this controller looks after: those in a queue, and all others where every job needs one."""

from collections.abc import Mapping

from reprieve.config import Configuration
from reprieve.controllers.quota.owners import OwnerId, Owners
from reprieve.jobs import JobKind, needs_hold, queue_of
from reprieve.kube import ApiError, Client, Resource
from reprieve.objects import Document, controller_of

_DEEPEST = 8
"""Owners above owners that are looked at."""


class Managed:
    def __init__(
        self,
        client: Client,
        owners: Owners,
        config: Configuration,
        namespaces: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.all_jobs = config.quota.manage_jobs_without_queue_name
        """Jobs without a queue are followed as well: they wait until they are given one."""
        self._selector = config.quota.managed_namespaces()
        self._client = client
        self._owners = owners
        self._namespaces = namespaces

    def must_name_queue(self, job: Document) -> bool:
        """Of a job without a queue."""
        if not self.all_jobs:
            return False
        labels = self._namespaces.get(job["metadata"]["namespace"], {})
        return needs_hold(job, self._owners.kinds, True, self._selector, labels)

    async def by_another(self, job: Document) -> bool:
        """Whether a job above it is in a queue: that one asks for its quota."""
        namespace = job["metadata"]["namespace"]
        for _ in range(_DEEPEST):
            reference = controller_of(job)
            if reference is None:
                return False
            kind = self._owners.kinds.of(str(reference.get("apiVersion")), str(reference.get("kind")))
            if kind is None:
                return False
            above = await self._job(kind, namespace, str(reference.get("name")))
            if above is None:
                return False
            if kind.asks != "none" and queue_of(above):
                return True
            job = above
        return False

    async def _job(self, kind: JobKind, namespace: str, name: str) -> Document | None:
        """The watch shows jobs in queues only; others are asked for."""
        known = self._owners.job(OwnerId(kind.resource, namespace, name))
        if known is not None:
            return known
        try:
            resource = Resource(kind.group, kind.versions[0], kind.kind, kind.plural)
            found: Document = await self._client.get(resource, name, namespace)
        except ApiError as error:
            if error.not_found:
                return None
            raise
        return found
