"""Client for any Kubernetes API server: configuration, REST, informers, leader election, events.

    from reprieve.kube import Client, Informer, PODS, read_cluster

    documents = read_cluster("~/.kube/config")       # no loop needed; every kind we decide on, raw

    async with Client.from_kubeconfig(path, context) as client:  # or KUBECONFIG, ~/.kube/config, in cluster
        pod = await client.get(PODS, "web-0", "shop")                # typed view (reprieve.objects.Pod)
        raw = await client.get(PODS.raw(), "web-0", "shop")          # the document itself
        pods = (await client.listing(PODS, labels="app=web")).items  # in pages; .revision
        kueue = await client.served(KUEUE_WORKLOADS)                 # None where the kind is not served
        await client.patch(KUEUE_WORKLOADS, name, {"status": …}, ns, subresource="status")  # merge patch
        await client.update_with_retries(resource, name, ns, change, subresource="status")  # reads again
        await client.delete(PODS, name, ns, uid=uid)                 # conflict if it is another pod by now
        await client.bind(ns, name, uid, node)

        async with Informer(client, PODS, handler) as pods:          # list and watch; synced when entered
            pods.get("web-0", "shop"); list(pods)

A handler is a plain function of one `Change(type, old, new)`; it runs in the informer's task, in order, and
must not block. `LeaderElector(client, Election(name, namespace, identity)).run(lead)` runs `lead` while the
Lease is held. `EventRecorder(client, "reprieve-scheduler")` records events without blocking; run its `run()`
as a task.

Errors: `ApiError` (`.not_found`, `.conflict`, `.already_exists`, `.expired`, `.transient`, `.retry_after`),
`TransportError` (no answer; a write may have happened), `ConfigError` (the user's to fix). For tests:
`Client(MemoryTransport(handler))`, no socket.

May import only `objects`: it knows nothing of decisions.
"""

from reprieve.kube.client import (
    APPLY_PATCH,
    INTERACTIVE_ATTEMPTS,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Client,
    Listing,
)
from reprieve.kube.dump import dump_cluster, read_cluster
from reprieve.kube.election import Election, LeaderElector
from reprieve.kube.errors import ApiError, ConfigError, Fenced, NoKubeConfig, TransportError
from reprieve.kube.events import EventRecorder, ObjectReference
from reprieve.kube.informer import Change, Informer
from reprieve.kube.kubeconfig import merge, resolve
from reprieve.kube.kubeconfig_shape import parse as parse_kubeconfig
from reprieve.kube.pacing import Backoff, Clock, RateLimit, Sleep
from reprieve.kube.reflector import Reflector
from reprieve.kube.resources import (
    ADMISSION_CHECKS,
    ADMISSION_KINDS,
    BUDGETS,
    CLAIM_TEMPLATES,
    CLAIMS,
    CLUSTER_QUEUES,
    COHORTS,
    COMPOSITE_POD_GROUPS,
    DEVICE_CLASSES,
    DEVICE_KINDS,
    EVENTS,
    JOBS,
    KUEUE_WORKLOADS,
    LEASES,
    LIMIT_RANGES,
    LOCAL_QUEUES,
    MULTIKUEUE_CLUSTERS,
    MULTIKUEUE_CONFIGS,
    NAMESPACES,
    NODES,
    OWNER_KINDS,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    QUOTA_KINDS,
    RESOURCE_CLAIMS,
    RESOURCE_FLAVORS,
    RESOURCE_SLICES,
    RUNTIME_CLASSES,
    SCHEDULER_KINDS,
    SECRETS,
    SELECTING_KINDS,
    STORAGE_KINDS,
    TOPOLOGIES,
    VOLUMES,
    WEBHOOKS,
    WORKLOAD_PRIORITY_CLASSES,
    WORKLOADS,
    Resource,
    job_resources,
)
from reprieve.kube.transport import MemoryTransport, Request, Response, Stream, Transport

__all__ = [
    "ADMISSION_CHECKS",
    "ADMISSION_KINDS",
    "APPLY_PATCH",
    "BUDGETS",
    "CLAIMS",
    "CLAIM_TEMPLATES",
    "CLUSTER_QUEUES",
    "COHORTS",
    "COMPOSITE_POD_GROUPS",
    "DEVICE_CLASSES",
    "DEVICE_KINDS",
    "EVENTS",
    "INTERACTIVE_ATTEMPTS",
    "JOBS",
    "KUEUE_WORKLOADS",
    "LEASES",
    "LIMIT_RANGES",
    "LOCAL_QUEUES",
    "MERGE_PATCH",
    "MULTIKUEUE_CLUSTERS",
    "MULTIKUEUE_CONFIGS",
    "NAMESPACES",
    "NODES",
    "OWNER_KINDS",
    "PODS",
    "POD_GROUPS",
    "PRIORITY_CLASSES",
    "QUOTA_KINDS",
    "RESOURCE_CLAIMS",
    "RESOURCE_FLAVORS",
    "RESOURCE_SLICES",
    "RUNTIME_CLASSES",
    "SCHEDULER_KINDS",
    "SECRETS",
    "SELECTING_KINDS",
    "STORAGE_KINDS",
    "STRATEGIC_PATCH",
    "TOPOLOGIES",
    "VOLUMES",
    "WEBHOOKS",
    "WORKLOADS",
    "WORKLOAD_PRIORITY_CLASSES",
    "ApiError",
    "Backoff",
    "Change",
    "Client",
    "Clock",
    "ConfigError",
    "Election",
    "EventRecorder",
    "Fenced",
    "Informer",
    "LeaderElector",
    "Listing",
    "MemoryTransport",
    "NoKubeConfig",
    "ObjectReference",
    "RateLimit",
    "Reflector",
    "Request",
    "Resource",
    "Response",
    "Sleep",
    "Stream",
    "Transport",
    "TransportError",
    "dump_cluster",
    "job_resources",
    "merge",
    "parse_kubeconfig",
    "read_cluster",
    "resolve",
]
