"""The four roles that manifests bind by name in every cluster: cluster-admin, admin, edit, view."""

from reprieve.objects import Document
from reprieve.server.registry import RBAC

_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_HARMLESS = {
    "": ["bindings", "configmaps", "endpoints", "events", "limitranges", "namespaces", "namespaces/status",
         "persistentvolumeclaims", "persistentvolumeclaims/status", "pods", "pods/log", "pods/status",
         "replicationcontrollers", "replicationcontrollers/scale", "replicationcontrollers/status",
         "resourcequotas", "resourcequotas/status", "serviceaccounts", "services", "services/status"],
    "apps": ["controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale",
             "deployments/status", "replicasets", "replicasets/scale", "replicasets/status", "statefulsets",
             "statefulsets/scale", "statefulsets/status"],
    "autoscaling": ["horizontalpodautoscalers", "horizontalpodautoscalers/status"],
    "batch": ["cronjobs", "cronjobs/status", "jobs", "jobs/status"],
    "discovery.k8s.io": ["endpointslices"],
    "networking.k8s.io": ["ingresses", "ingresses/status", "networkpolicies"],
    "policy": ["poddisruptionbudgets", "poddisruptionbudgets/status"],
}  # fmt: skip
"""What the role `view` shows: what a namespace holds, without what opens further doors."""
_EDITABLE = {
    "": ["configmaps", "endpoints", "events", "persistentvolumeclaims", "pods", "pods/attach",
         "pods/eviction", "pods/exec", "pods/portforward", "pods/proxy", "replicationcontrollers",
         "replicationcontrollers/scale", "secrets", "serviceaccounts", "serviceaccounts/token", "services",
         "services/proxy"],
    "apps": ["daemonsets", "deployments", "deployments/rollback", "deployments/scale", "replicasets",
             "replicasets/scale", "statefulsets", "statefulsets/scale"],
    "autoscaling": ["horizontalpodautoscalers"],
    "batch": ["cronjobs", "jobs"],
    "networking.k8s.io": ["ingresses", "networkpolicies"],
    "policy": ["poddisruptionbudgets"],
}  # fmt: skip


def _rules(verbs: list[str], resources: dict[str, list[str]]) -> list[Document]:
    return [{"apiGroups": [group], "resources": names, "verbs": verbs} for group, names in resources.items()]


_VIEW = _rules(_READ, _HARMLESS)
_EDIT = [*_VIEW, *_rules(_READ, {"": ["secrets"]}), *_rules(_WRITE, _EDITABLE)]
_ADMIN = [*_EDIT, *_rules([*_READ, *_WRITE], {RBAC: ["rolebindings", "roles"]})]
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
