"""What the server writes into a document that its author left out, kind by kind, as kube-apiserver does.

`on_create` runs once, for a new object; `on_write` runs for every write of the whole object. Both change the
document in place, after its types were checked by `admission`.
"""

from collections.abc import Callable

from reprieve.objects import Document
from reprieve.server.defaults import charts, core, pods, policies, workloads

Default = Callable[[Document, str], None]
"""document, timestamp"""

ON_CREATE: dict[str, Default] = {
    "pods": pods.new_pod,
    "namespaces": core.new_namespace,
    "jobs.batch": workloads.new_job,
}

ON_WRITE: dict[str, Default] = {
    "pods": pods.default_pod,
    "nodes": core.default_node,
    "namespaces": core.default_namespace,
    "secrets": core.default_secret,
    "events": core.default_event,
    "services": core.default_service,
    "limitranges": core.default_limit_range,
    "networkpolicies.networking.k8s.io": policies.default_network_policy,
    "ingressclasses.networking.k8s.io": charts.default_ingress_class,
    "horizontalpodautoscalers.autoscaling": charts.default_autoscaler,
    "storageclasses.storage.k8s.io": charts.default_storage_class,
    "csidrivers.storage.k8s.io": charts.default_driver,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": charts.default_webhooks,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": charts.default_webhooks,
    "endpointslices.discovery.k8s.io": charts.default_endpoint_slice,
    "rolebindings.rbac.authorization.k8s.io": policies.default_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": policies.default_binding,
    "jobs.batch": workloads.default_job,
    "cronjobs.batch": workloads.default_cron_job,
    "deployments.apps": workloads.default_deployment,
    "replicasets.apps": workloads.default_replicas,
    "statefulsets.apps": workloads.default_stateful_set,
    "daemonsets.apps": workloads.default_daemon_set,
    "replicationcontrollers": workloads.default_replication_controller,
}


def on_create(storage_key: str, document: Document, timestamp: str) -> None:
    step = ON_CREATE.get(storage_key)
    if step is not None:
        step(document, timestamp)


def on_write(storage_key: str, document: Document, timestamp: str) -> None:
    step = ON_WRITE.get(storage_key)
    if step is not None:
        step(document, timestamp)
