"""`reprieve up --workers N`: a manager and N worker clusters on this machine, ready to be watched.

Each cluster is a whole control plane with its own port, data and kubeconfig. The workers run scheduler and
quota, the manager quota and fleet; all of it in this process. Every cluster gets a queue `main` in namespace
`default`, with the fake nodes' capacity as its quota.
"""

import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reprieve.config import Configuration
from reprieve.dashboard import PAGE_ANNOTATION
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    MULTIKUEUE_CONFIGS,
    NAMESPACES,
    RESOURCE_FLAVORS,
    SECRETS,
    ApiError,
    Client,
    Resource,
)
from reprieve.local.cluster import controllers_of, local_cluster
from reprieve.objects import Document, NodeTemplate, amount, format_amount, well_known
from reprieve.server import EmbeddedServer, Habits

CHECK: Final = "fleet"
FEATURES: Final = {"featureGates": {"MultiKueueOrchestratedPreemption": True}}


@dataclass(frozen=True, slots=True)
class LocalFleet:
    manager: EmbeddedServer
    workers: dict[str, EmbeddedServer]
    page: str
    """The manager's dashboard."""
    pages: dict[str, str]
    """The workers'."""

    def kubeconfigs(self) -> dict[str, Path]:
        """Each cluster's name with the file to give to kubectl."""
        found = {"manager": self.manager.kubeconfig}
        return found | {name: server.kubeconfig for name, server in self.workers.items()}


@asynccontextmanager
async def local_fleet(
    workers: int,
    nodes: Sequence[NodeTemplate],
    habits: Habits | None = None,
    *,
    data_dir: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    dashboard_port: int = 0,
    config: Configuration | None = None,
) -> AsyncIterator[LocalFleet]:
    """Everything started and connected. The ports are the manager's; workers pick free ones."""
    configuration = config or Configuration.load(FEATURES)
    async with AsyncExitStack() as stack:

        async def start(name: str, at: int, with_nodes: Sequence[NodeTemplate]) -> EmbeddedServer:
            folder = data_dir / name if data_dir is not None else None
            server = local_cluster(
                nodes=with_nodes,
                habits=habits,
                data_dir=folder,
                host=host,
                port=at,
                config=configuration,
                quota=True,
            )
            return await stack.enter_async_context(server)

        manager = await start("manager", port, ())
        servers = {name: await start(name, 0, nodes) for name in _names(workers)}
        pages = {}
        for name, server in servers.items():
            controlled = await stack.enter_async_context(
                controllers_of(server, ("scheduler", "quota"), configuration)
            )
            await _furnish(controlled.client, _quotas(nodes, 1))
            pages[name] = f"{controlled.page}/"
        async with Client.from_kubeconfig(manager.kubeconfig) as client:
            await _furnish(client, _quotas(nodes, workers), CHECK)
            await _connect(client, servers, pages)
        controlled = await stack.enter_async_context(
            controllers_of(manager, ("quota", "fleet"), configuration, dashboard_port)
        )
        yield LocalFleet(manager, servers, controlled.page, pages)


def _names(workers: int) -> list[str]:
    return [f"worker{number}" for number in range(1, workers + 1)]


def _quotas(nodes: Sequence[NodeTemplate], clusters: int) -> dict[str, str]:
    """What all fake nodes have together, pods aside."""
    totals: dict[str, int] = {}
    for template in nodes:
        for resource, quantity in template.resources.items():
            if resource != "pods":
                number = amount(resource, quantity) * template.count * clusters
                totals[resource] = totals.get(resource, 0) + number
    return {resource: format_amount(resource, number) for resource, number in totals.items()}


async def _furnish(client: Client, quotas: dict[str, str], check: str = "") -> None:
    resources = [{"name": name, "nominalQuota": quantity} for name, quantity in quotas.items()]
    spec: Document = {
        "namespaceSelector": {},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [
            {"coveredResources": list(quotas), "flavors": [{"name": "default", "resources": resources}]}
        ],
    }
    if check:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": check}]}
    await _ensure(client, RESOURCE_FLAVORS, {"metadata": {"name": "default"}})
    await _ensure(client, CLUSTER_QUEUES, {"metadata": {"name": "main"}, "spec": spec})
    local = {"metadata": {"name": "main", "namespace": "default"}, "spec": {"clusterQueue": "main"}}
    await _ensure(client, LOCAL_QUEUES, local)


async def _connect(client: Client, workers: dict[str, EmbeddedServer], pages: dict[str, str]) -> None:
    """Tell the manager of its workers: kubeconfigs in Secrets, as on any cluster."""
    await _ensure(client, NAMESPACES, {"metadata": {"name": well_known.KUBECONFIG_NAMESPACE}})
    for name, server in workers.items():
        data = {"kubeconfig": base64.b64encode(server.kubeconfig.read_bytes()).decode()}
        metadata = {"name": name, "namespace": well_known.KUBECONFIG_NAMESPACE}
        await client.apply(SECRETS, {"metadata": metadata, "data": data})
        source = {"kubeConfig": {"location": name, "locationType": "Secret"}}
        named: Document = {"name": name, "annotations": {PAGE_ANNOTATION: pages[name]}}
        await client.apply(MULTIKUEUE_CLUSTERS, {"metadata": named, "spec": {"clusterSource": source}})
    config = {"metadata": {"name": CHECK}, "spec": {"clusters": list(workers)}}
    await _ensure(client, MULTIKUEUE_CONFIGS, config)
    parameters = {"apiGroup": well_known.KUEUE_API, "kind": "MultiKueueConfig", "name": CHECK}
    spec = {"controllerName": well_known.MULTIKUEUE_CONTROLLER, "parameters": parameters}
    await _ensure(client, ADMISSION_CHECKS, {"metadata": {"name": CHECK}, "spec": spec})


async def _ensure(client: Client, resource: Resource, document: Document) -> None:
    """Create it; what is there from an earlier run (`--data-dir`) stays as it is."""
    try:
        await client.create(resource, document)
    except ApiError as error:
        if not error.already_exists:
            raise
