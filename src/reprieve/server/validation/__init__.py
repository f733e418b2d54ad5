"""What the server refuses, kind by kind: rules of kube-apiserver for the built-in kinds it stores.

What `reprieve.objects.admission` checks already (everything that scheduling reads) is not repeated here.
Every rule gets the new document and the old one (None on create) and returns what is wrong.
"""

from collections.abc import Callable

from reprieve.objects import Document
from reprieve.server.custom_resources import definitions as crd
from reprieve.server.errors import Cause
from reprieve.server.validation import access, configuration, pods, workloads

Rule = Callable[[Document, Document | None], list[Cause]]


def _definition(new: Document, old: Document | None) -> list[Cause]:
    del old
    return crd.problems(new)


RULES: dict[str, Rule] = {
    "customresourcedefinitions.apiextensions.k8s.io": _definition,
    "pods": pods.validate_pod,
    "configmaps": configuration.validate_config_map,
    "secrets": configuration.validate_secret,
    "leases.coordination.k8s.io": configuration.validate_lease,
    "roles.rbac.authorization.k8s.io": access.validate_role,
    "clusterroles.rbac.authorization.k8s.io": access.validate_role,
    "rolebindings.rbac.authorization.k8s.io": access.validate_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": access.validate_binding,
    "jobs.batch": workloads.validate_job,
    "deployments.apps": workloads.validate_replicated,
    "replicasets.apps": workloads.validate_replicated,
    "statefulsets.apps": workloads.validate_replicated,
    "daemonsets.apps": workloads.validate_replicated,
}


def validate(place: str, new: Document, old: Document | None) -> list[Cause]:
    rule = RULES.get(place)
    return rule(new, old) if rule is not None else []
