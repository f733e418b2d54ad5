"""Objects of a file or a listing into a fresh state, in an order in which each finds what it refers to."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from reprieve.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LimitRange,
    LocalQueue,
    Namespace,
    Object,
    PriorityClass,
    ResourceFlavor,
    Workload,
    WorkloadPriorityClass,
)
from reprieve.quota.rules import Rules
from reprieve.quota.state import Quota

NAME_LABEL = "kubernetes.io/metadata.name"


def load(objects: Iterable[Object], rules: Rules, now: datetime) -> Quota:
    """A state with all of them. A namespace nobody declares is taken to exist with only its name as a label."""
    quota = Quota(rules)
    everything = list(objects)
    for each in everything:
        if isinstance(each, ResourceFlavor):
            quota.ledger.flavors[each.name] = each
        elif isinstance(each, AdmissionCheck):
            quota.ledger.checks[each.name] = each
        elif isinstance(each, Cohort):
            quota.ledger.put_cohort(each)
        elif isinstance(each, WorkloadPriorityClass | PriorityClass):
            quota.priority_classes[type(each).__name__, each.name] = each.value
        elif isinstance(each, LimitRange):
            quota.put_limit_range(each)
        elif isinstance(each, Namespace):
            quota.put_namespace(each.name, {NAME_LABEL: each.name, **each.metadata.labels})
    for each in everything:
        if isinstance(each, ClusterQueue):
            quota.put_cluster_queue(each, now)
    for each in everything:
        if isinstance(each, LocalQueue):
            quota.put_local_queue(each, now)
    for each in everything:
        if isinstance(each, Workload):
            if each.namespace not in quota.namespaces:
                quota.put_namespace(each.namespace, {NAME_LABEL: each.namespace})
            quota.put_workload(each, now)
    quota.ledger.refresh()
    return quota
