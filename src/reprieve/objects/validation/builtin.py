"""Rules of an API server for its own kinds, beyond their fields and what scheduling reads."""

from collections.abc import Callable

from reprieve.objects.kinds import kind_key
from reprieve.objects.meta import Document
from reprieve.objects.structure import Problem
from reprieve.objects.validation import (
    access,
    configuration,
    controllers,
    definitions,
    limits,
    runnable,
    storage,
)
from reprieve.objects.validation.checks import At, Problems
from reprieve.objects.well_known import RBAC_API

_RULES: dict[tuple[str, str], Callable[[At, At | None], Problems]] = {
    ("", "Pod"): runnable.pod,
    ("", "PodTemplate"): runnable.pod_template,
    ("", "ReplicationController"): controllers.replication_controller,
    ("apps", "Deployment"): controllers.deployment,
    ("apps", "ReplicaSet"): controllers.replicated,
    ("apps", "StatefulSet"): controllers.stateful_set,
    ("apps", "DaemonSet"): controllers.replicated,
    ("batch", "Job"): controllers.job,
    ("batch", "CronJob"): controllers.cron_job,
    ("", "ConfigMap"): configuration.config_map,
    ("", "Secret"): configuration.secret,
    ("", "Event"): configuration.event,
    ("events.k8s.io", "Event"): configuration.event,
    ("coordination.k8s.io", "Lease"): configuration.lease,
    ("", "LimitRange"): limits.limit_range,
    ("", "ResourceQuota"): limits.resource_quota,
    ("", "PersistentVolumeClaim"): storage.stored_claim,
    ("", "PersistentVolume"): storage.stored_volume,
    ("storage.k8s.io", "StorageClass"): storage.storage_class,
    ("node.k8s.io", "RuntimeClass"): storage.runtime_class,
    (RBAC_API, "Role"): access.role,
    (RBAC_API, "ClusterRole"): access.role,
    (RBAC_API, "RoleBinding"): access.binding,
    (RBAC_API, "ClusterRoleBinding"): access.binding,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): definitions.definition,
}


def builtin_problems(new: Document, old: Document | None) -> list[Problem]:
    """Everything wrong with a new object, or with a change of `old`. Other kinds have no such rules."""
    rule = _RULES.get(kind_key(new))
    return [] if rule is None else list(rule(At(new), None if old is None else At(old)))
