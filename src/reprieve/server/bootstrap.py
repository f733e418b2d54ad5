"""What every server contains from its start: namespaces, system priority classes, the custom resources whose
definitions it stored before.
"""

from reprieve.objects import Document, well_known
from reprieve.server.backend import Backend, WriteOptions
from reprieve.server.custom_resources.serving import ServedDefinitions
from reprieve.server.operations.writes import create

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_SYSTEM_CLASSES = (
    (
        well_known.SYSTEM_NODE_CRITICAL,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        well_known.SYSTEM_CLUSTER_CRITICAL,
        "Used for system critical pods that must run in the cluster, "
        "but can be moved to another node if necessary.",
    ),
)


def bootstrap(backend: Backend) -> None:
    """Idempotent: what exists is left alone."""
    ServedDefinitions(backend)
    for name in _NAMESPACES:
        _ensure(backend, "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for name, description in _SYSTEM_CLASSES:
        _ensure(
            backend,
            "priorityclasses.scheduling.k8s.io",
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": well_known.SYSTEM_CLASSES[name],
                "description": description,
            },
        )


def _ensure(backend: Backend, storage_key: str, document: Document) -> None:
    resource = backend.registry.by_storage_key(storage_key)
    assert resource is not None
    if backend.store.head(storage_key, "", document["metadata"]["name"]) is None:
        create(backend, resource, document, "", WriteOptions())
