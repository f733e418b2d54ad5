"""An embedded Kubernetes API server: storage, REST, watch, patch, admission, small controllers, fake nodes.

    async with EmbeddedServer() as server:          # or `with EmbeddedServer() as server:` without asyncio
        server.url, server.token, server.kubeconfig, server.api

It imports no decision of Reprieve, only `reprieve.objects`, `reprieve.jobs` and `reprieve.config`. From the
socket inwards:

    embedded, bootstrap      start and stop; what every server contains
    http/, security/         requests and answers, discovery, watch streams; TLS, tokens, client certificates
    api                      `Api`: every operation for this process, without HTTP
    operations/              read, write, delete, bind, evict, scale; they work on a `backend`
    admission                what happens to a new document; defaults and rules are in `reprieve.objects`
    patch/, apply/           patches, and server-side apply
    storage/                 committed state, one global revision, history, group commit
    watch, selection         streams of changes from a revision on, through selectors
    registry, resources      which resources are served (`ResourceInfo`), and the built-in ones
    custom_resources/        CustomResourceDefinitions
    field_validation         unknown fields and wrong types; the schemas are in `reprieve.objects`
    openapi/                 the description of every kind for clients
    tables/                  the columns of `kubectl get`
    controllers/             what kube-controller-manager would do
    fake_nodes/              what kubelets would do

In-process contract (`Api`, in api.py). A resource is a `ResourceInfo` or its storage key ("pods",
"jobs.batch", "workloads.kueue.x-k8s.io"). Documents in and out are plain dicts; what comes out is yours to
change. Errors are `errors.ApiError`. Every write goes through the same admission and validation as over HTTP.

    api.now() -> datetime                                        the server's clock (UTC)
    api.peek(resource, name, namespace="") -> dict | None        synchronous read of the committed state
    api.select(resource, namespace=None, labels="", fields="") -> list[dict]     synchronous list
    await api.get(resource, name, namespace="") -> dict
    await api.list(resource, namespace=None, labels="", fields="") -> tuple[list[dict], int]
        items and revision
    await api.create(resource, doc, namespace="", *, manager="", dry_run=False) -> dict
    await api.update(resource, doc, *, subresource="", manager="") -> dict
        409 when its resourceVersion is stale
    await api.update_status(resource, doc, *, manager="") -> dict
    await api.patch(resource, name, patch, namespace="", *, content_type=MERGE_PATCH, subresource="",
                    manager="", force=False) -> dict
    await api.delete(resource, name, namespace="", *, grace=None, propagation="", uid="") -> dict
    await api.evict(name, namespace, *, grace=None) -> None      429 when a budget forbids it
    await api.bind(name, namespace, node) -> None
    async for event in api.watch(resource, namespace=None, from_revision=None):
        event.type, event.object, event.revision
        from_revision=None: first one ADDED for each object that exists, then what happens.

An object carries `managedFields` from its first server-side apply on; that apply attributes what it finds to
"before-first-apply", ordinary writes are tracked from then on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reprieve.server.registry import ResourceInfo
from reprieve.server.resources import builtin_resources

if TYPE_CHECKING:
    from reprieve.server.controllers.job_kinds import JobKindControllers, kinds_of
    from reprieve.server.embedded import Background, EmbeddedServer, new_event_loop
    from reprieve.server.fake_nodes import FakeKubelet, Habits

_LAZY = {
    "Background": "embedded",
    "EmbeddedServer": "embedded",
    "FakeKubelet": "fake_nodes",
    "Habits": "fake_nodes",
    "JobKindControllers": "controllers.job_kinds",
    "kinds_of": "controllers.job_kinds",
    "new_event_loop": "embedded",
}
"""Names whose modules load aiohttp, cryptography and SQLite: imported on first use, so that a command that
only needs to know the resources starts fast."""

__all__ = [
    "Background",
    "EmbeddedServer",
    "FakeKubelet",
    "Habits",
    "JobKindControllers",
    "ResourceInfo",
    "builtin_resources",
    "kinds_of",
    "new_event_loop",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
