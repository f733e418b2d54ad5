"""The four roles that manifests bind by name in every cluster: cluster-admin, admin, edit, view."""

from reprieve.objects import Document, resource_name, well_known

_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_HARMLESS = {
    "": ["Binding", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Namespace/status",
         "PersistentVolumeClaim", "PersistentVolumeClaim/status", "Pod", "Pod/log", "Pod/status",
         "ReplicationController", "ReplicationController/scale", "ReplicationController/status",
         "ResourceQuota", "ResourceQuota/status", "ServiceAccount", "Service", "Service/status"],
    "apps": ["ControllerRevision", "DaemonSet", "DaemonSet/status", "Deployment", "Deployment/scale",
             "Deployment/status", "ReplicaSet", "ReplicaSet/scale", "ReplicaSet/status", "StatefulSet",
             "StatefulSet/scale", "StatefulSet/status"],
    "autoscaling": ["HorizontalPodAutoscaler", "HorizontalPodAutoscaler/status"],
    "batch": ["CronJob", "CronJob/status", "Job", "Job/status"],
    "discovery.k8s.io": ["EndpointSlice"],
    "networking.k8s.io": ["Ingress", "Ingress/status", "NetworkPolicy"],
    "policy": ["PodDisruptionBudget", "PodDisruptionBudget/status"],
}  # fmt: skip
"""What the role `view` shows: what a namespace holds, without what opens further doors."""
_EDITABLE = {
    "": ["ConfigMap", "Endpoints", "Event", "PersistentVolumeClaim", "Pod", "Pod/attach",
         "Pod/eviction", "Pod/exec", "Pod/portforward", "Pod/proxy", "ReplicationController",
         "ReplicationController/scale", "Secret", "ServiceAccount", "ServiceAccount/token", "Service",
         "Service/proxy"],
    "apps": ["DaemonSet", "Deployment", "Deployment/rollback", "Deployment/scale", "ReplicaSet",
             "ReplicaSet/scale", "StatefulSet", "StatefulSet/scale"],
    "autoscaling": ["HorizontalPodAutoscaler"],
    "batch": ["CronJob", "Job"],
    "networking.k8s.io": ["Ingress", "NetworkPolicy"],
    "policy": ["PodDisruptionBudget"],
}  # fmt: skip


def _rules(verbs: list[str], kinds: dict[str, list[str]]) -> list[Document]:
    """`kinds` as `Pod` or `Pod/status`, by group."""
    return [
        {"apiGroups": [group], "resources": [resource_name(group, name) for name in names], "verbs": verbs}
        for group, names in kinds.items()
    ]


_VIEW = _rules(_READ, _HARMLESS)
_EDIT = [*_VIEW, *_rules(_READ, {"": ["Secret"]}), *_rules(_WRITE, _EDITABLE)]
_ADMIN = [*_EDIT, *_rules([*_READ, *_WRITE], {well_known.RBAC_API: ["RoleBinding", "Role"]})]
ROLES: dict[str, list[Document]] = {
    "cluster-admin": [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ],
    "admin": _ADMIN,
    "edit": _EDIT,
    "view": _VIEW,
}
"""Those that manifests bind by name in every cluster. They give rights in `security.rights`."""
