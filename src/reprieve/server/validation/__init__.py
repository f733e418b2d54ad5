"""What the server refuses, kind by kind: rules of kube-apiserver for the built-in kinds it stores.

The rules for pods and for the kinds that make pods are in `reprieve.objects` (`builtin_problems`, and
`admit` for what scheduling reads); the rest is here. Every rule gets the new document and the old one (None
on create).
"""

from collections.abc import Callable

from reprieve.objects import Document, builtin_problems, size_problems
from reprieve.server.custom_resources import definitions as crd
from reprieve.server.documents import at
from reprieve.server.errors import Cause, cause_of, invalid_value
from reprieve.server.validation import (
    access,
    charts,
    configuration,
    events,
    limits,
    network,
    schedules,
    storage,
)

Rule = Callable[[Document, Document | None], list[Cause]]


def _definition(new: Document, old: Document | None) -> list[Cause]:
    causes = crd.problems(new)
    if old is not None and at(new, "spec", "scope") != at(old, "spec", "scope"):
        causes.append(invalid_value("spec.scope", at(new, "spec", "scope"), "field is immutable"))
    return causes


RULES: dict[str, Rule] = {
    **charts.CHART_RULES,
    "customresourcedefinitions.apiextensions.k8s.io": _definition,
    "configmaps": configuration.validate_config_map,
    "secrets": configuration.validate_secret,
    "leases.coordination.k8s.io": configuration.validate_lease,
    "cronjobs.batch": schedules.validate_cron_job,
    "events": events.validate_event,
    "limitranges": limits.validate_limit_range,
    "resourcequotas": limits.validate_resource_quota,
    "services": network.validate_service,
    "endpoints": network.validate_endpoints,
    "networkpolicies.networking.k8s.io": network.validate_network_policy,
    "persistentvolumeclaims": storage.validate_claim,
    "persistentvolumes": storage.validate_volume,
    "roles.rbac.authorization.k8s.io": access.validate_role,
    "clusterroles.rbac.authorization.k8s.io": access.validate_role,
    "rolebindings.rbac.authorization.k8s.io": access.validate_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": access.validate_binding,
}


def validate(storage_key: str, new: Document, old: Document | None) -> list[Cause]:
    rule = RULES.get(storage_key)
    causes = rule(new, old) if rule is not None else []
    return causes + [cause_of(problem) for problem in [*builtin_problems(new, old), *size_problems(new)]]
