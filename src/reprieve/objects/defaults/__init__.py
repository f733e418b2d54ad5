"""Defaults that the API writes into an object when it is created or updated, kind by kind, as kube-apiserver
and Kueue do.

    on_create   a new object of any built-in kind
    on_write    every write of the whole object
    scheduling  the kinds that scheduling decides about, where gates have a say; `admit` applies these
    views       the same for typed views, as far as decisions read it
    resources   what a pod requests by stating limits, for documents and views

Documents are changed in place; their types were checked before.
"""

from collections.abc import Callable

from reprieve.objects import well_known
from reprieve.objects.defaults import core, pods, storage, workloads
from reprieve.objects.kinds import kind_key
from reprieve.objects.meta import Document

Default = Callable[[Document], None]

ON_WRITE: dict[tuple[str, str], Default] = {
    ("", "Pod"): pods.default_pod,
    ("", "PodTemplate"): workloads.default_template,
    ("", "Node"): core.default_node,
    ("", "Namespace"): core.default_namespace,
    ("", "Secret"): core.default_secret,
    ("", "Event"): core.default_event,
    ("", "Service"): core.default_service,
    ("", "Endpoints"): core.default_endpoints,
    ("", "LimitRange"): core.default_limit_range,
    ("", "PersistentVolumeClaim"): storage.default_claim,
    ("", "PersistentVolume"): storage.default_volume,
    ("", "ReplicationController"): workloads.default_replication_controller,
    ("storage.k8s.io", "StorageClass"): storage.default_storage_class,
    ("storage.k8s.io", "CSIDriver"): storage.default_driver,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): core.default_definition,
    ("rbac.authorization.k8s.io", "RoleBinding"): core.default_binding,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): core.default_binding,
    ("batch", "Job"): workloads.default_job,
    ("batch", "CronJob"): workloads.default_cron_job,
    ("apps", "Deployment"): workloads.default_deployment,
    ("apps", "ReplicaSet"): workloads.default_replicas,
    ("apps", "StatefulSet"): workloads.default_stateful_set,
    ("apps", "DaemonSet"): workloads.default_daemon_set,
}


def on_create(document: Document, timestamp: str) -> None:
    key = kind_key(document)
    if key == ("", "Pod"):
        pods.new_pod(document, timestamp)
    elif key == ("", "Namespace"):
        core.new_namespace(document)
    elif key == ("batch", "Job"):
        workloads.new_job(document)
    elif key == ("", "PersistentVolumeClaim"):
        storage.protect(document, well_known.CLAIM_PROTECTION)
    elif key == ("", "PersistentVolume"):
        storage.protect(document, well_known.VOLUME_PROTECTION)


def on_write(document: Document) -> None:
    step = ON_WRITE.get(kind_key(document))
    if step is not None:
        step(document)
