"""The fleet, live: the manager cluster's controller for several clusters (`reprieve run --controllers
fleet`).

`run` manages until cancelled. The decisions are `reprieve.fleet.step`; here are the connections, the queue
and the calls. May not decide anything by itself: what is not in a `Step` is not done.
"""

import logging

from reprieve.config import Configuration
from reprieve.controllers.fleet.access import Limits, connect, survey
from reprieve.controllers.fleet.manager import Manager
from reprieve.controllers.fleet.reporting import Reporter
from reprieve.fleet import settings_from
from reprieve.kube import Client
from reprieve.objects import Document, well_known
from reprieve.runtime import Services

__all__ = ["Limits", "Manager", "run", "survey"]

log = logging.getLogger(__name__)


async def run(client: Client, config: Configuration | None = None, services: Services | None = None) -> None:
    """Manage the workers of the cluster behind `client` until cancelled; with `services`, while leading."""

    settings = Configuration.load(config)
    limits = Limits(
        anywhere=not settings.gate("MultiKueueKubeConfigPathValidation"),
        plain_http=settings.fleet.allow_plain_http,
    )

    async def to_worker(cluster: Document) -> Client:
        return await connect(client, well_known.KUBECONFIG_NAMESPACE, cluster, limits)

    reporter = Reporter(
        services.records if services is not None else None,
        services.registry if services is not None else None,
    )
    manager = Manager(
        client, to_worker, settings_from(settings), kinds=settings.job_kinds(), decided=reporter.report
    )
    if services is not None:
        await services.leading.wait()
    log.info("sending workloads to the clusters of this fleet")
    await manager.run()
