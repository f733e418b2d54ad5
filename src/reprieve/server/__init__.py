"""An embedded Kubernetes API server: storage, REST, watch, patch, admission, discovery, small controllers, fake nodes.

    async with EmbeddedServer() as server:          # or `with EmbeddedServer() as server:` from synchronous code
        server.url, server.token, server.kubeconfig, server.api

Who does what (nothing here imports the decision core; only `reprieve.objects` and `reprieve.records`):

    resources, registry   which resources exist (`ResourceInfo`), CRDs included
    storage/              committed state, one global revision, history, group commit
    watch                 streams of events from a revision on
    admission, defaults   what happens to a document on its way in
    api                   `Api`: every operation, without HTTP; REST handlers and controllers both call it
    rest, discovery, app  HTTP
    security              TLS, tokens, client certificates, kubeconfig
    patch, apply, openapi, tables, crd, schema, controllers/, fake_nodes   see their docstrings

In-process contract (`Api`, in api.py). A resource is a `ResourceInfo` or its storage name ("pods", "jobs.batch",
"workloads.kueue.x-k8s.io"). Documents in and out are plain dicts; what comes out is yours to change. Errors are
`errors.ApiError`. Every write goes through the same admission and validation as over HTTP.

    api.now() -> datetime                                         the server's clock (UTC)
    api.peek(resource, name, namespace="") -> dict | None         synchronous read of the committed state
    api.select(resource, namespace=None, labels="", fields="") -> list[dict]     synchronous list
    await api.get(resource, name, namespace="") -> dict
    await api.list(resource, namespace=None, labels="", fields="") -> tuple[list[dict], int]     items and revision
    await api.create(resource, doc, namespace="", *, manager="", dry_run=False) -> dict
    await api.update(resource, doc, *, subresource="", manager="") -> dict       409 when its resourceVersion is stale
    await api.update_status(resource, doc, *, manager="") -> dict
    await api.patch(resource, name, patch, namespace="", *, content_type=MERGE_PATCH, subresource="", manager="",
                    force=False) -> dict
    await api.delete(resource, name, namespace="", *, grace=None, propagation="", uid="") -> dict
    await api.evict(name, namespace, *, grace=None) -> None       429 when a budget forbids it
    await api.bind(name, namespace, node) -> None
    async for event in api.watch(resource, namespace=None, from_revision=None): event.type, event.object, event.revision
        from_revision=None: first one ADDED for each object that exists, then what happens. `event.object` is shared
        between watchers: read only.

What the core calls, when present (lazy imports): `patch.apply_patch(content_type, current, patch, resource)`,
`apply.server_side_apply(current, applied, manager, force, resource, now)` (current None: object is new),
`apply.track_update(old, new, manager, subresource, now)` (called only when `old` has managedFields: until the first
apply an object carries none, and the first apply accounts for what it finds as "before-first-apply"),
`tables.to_table(resource, objects, include_object, now)`, `openapi.v2_document(resources)`, `openapi.v2_protobuf(resources)`
(kubectl before 1.27 asks for it), `openapi.v3_index(resources)`, `openapi.v3_document(gv, resources)`,
`crd.compile(crd_doc) -> list[ResourceInfo]`, `schema.unknown_fields(resource, doc) -> list[str]`,
`controllers.run(api)`: a coroutine that runs until cancelled, started by `EmbeddedServer(controllers=True)`.
"""

from reprieve.server.embedded import EmbeddedServer

__all__ = ["EmbeddedServer"]
