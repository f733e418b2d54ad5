"""The fleet, live: the manager cluster's controller for several clusters (`reprieve run --controllers fleet`).

`run` manages until cancelled. The decisions are `reprieve.fleet.step`; here are the connections, the queue and the
calls. May not decide anything by itself: what is not in a `Step` is not done.
"""

from reprieve.config import Configuration
from reprieve.controllers.fleet.access import connect
from reprieve.controllers.fleet.manager import Manager
from reprieve.controllers.fleet.telling import Telling
from reprieve.controllers.services import Services
from reprieve.fleet import settings_from
from reprieve.kube import Client
from reprieve.objects.meta import Document

__all__ = ["Manager", "run"]

KUBECONFIG_NAMESPACE = "kueue-system"
"""Where the Secrets with the workers' kubeconfigs live, as with Kueue."""


async def run(client: Client, config: Configuration | None = None, services: Services | None = None) -> None:
    """Manage the workers of the cluster behind `client` until cancelled; with `services`, only while it leads."""

    async def to_worker(cluster: Document) -> Client:
        return await connect(client, KUBECONFIG_NAMESPACE, cluster)

    told = Telling(
        services.records if services is not None else None,
        services.registry if services is not None else None,
    )
    manager = Manager(client, to_worker, settings_from(config), decided=told.hear)
    if services is not None:
        await services.leading.wait()
    await manager.run()
