"""What every server contains from its start: namespaces, system priority classes, the roles that people bind,
the service `kubernetes`, the custom resources whose definitions it stored before.
"""

from reprieve.admission import DEFAULT_CLASS
from reprieve.objects import Document, well_known
from reprieve.server.backend import Backend, WriteOptions
from reprieve.server.custom_resources.serving import ServedDefinitions
from reprieve.server.operations.writes import create, replace
from reprieve.server.security.roles import ROLES

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


_FAKE_CLASS: Document = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fake", "annotations": {DEFAULT_CLASS: "true"}},
    "provisioner": "reprieve.dev/fake",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""Claims of this class get a volume without data (`controllers.claims`)."""
_WAITING_CLASS: Document = {
    **_FAKE_CLASS,
    "metadata": {"name": "fake-wait"},
    "volumeBindingMode": "WaitForFirstConsumer",
}
"""The same, once a scheduler has chosen a node for a pod with the claim."""


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
    for found in (_FAKE_CLASS, _WAITING_CLASS):
        _ensure(backend, "storageclasses.storage.k8s.io", found)
    for name, rules in ROLES.items():
        _ensure(
            backend,
            f"clusterroles.{well_known.RBAC_API}",
            {
                "apiVersion": f"{well_known.RBAC_API}/v1",
                "kind": "ClusterRole",
                "metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
                "rules": rules,
            },
        )


def publish_address(backend: Backend, port: int) -> None:
    """The service `default/kubernetes`: this server. A restart may change its port."""
    resource = backend.registry.by_storage_key("services")
    assert resource is not None
    document: Document = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {"ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}]},
    }
    current = backend.store.head("services", "default", "kubernetes")
    if current is None:
        create(backend, resource, document, "default", WriteOptions())
    else:
        replace(backend, resource, {**current.object, "spec": document["spec"]}, current, WriteOptions(), "")


def _ensure(backend: Backend, storage_key: str, document: Document) -> None:
    resource = backend.registry.by_storage_key(storage_key)
    assert resource is not None
    if backend.store.head(storage_key, "", document["metadata"]["name"]) is None:
        create(backend, resource, document, "", WriteOptions())
