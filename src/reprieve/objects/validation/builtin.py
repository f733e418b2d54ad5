"""Rules of an API server for the kinds that make pods, beyond their fields and what scheduling reads."""

from collections.abc import Callable

from reprieve.objects.kinds import kind_key
from reprieve.objects.meta import Document
from reprieve.objects.structure import Problem
from reprieve.objects.validation import controllers, runnable
from reprieve.objects.validation.checks import At, Problems

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
}


def builtin_problems(new: Document, old: Document | None) -> list[Problem]:
    """Everything wrong with a new object, or with a change of `old`. Other kinds have no such rules."""
    rule = _RULES.get(kind_key(new))
    return [] if rule is None else list(rule(At(new), None if old is None else At(old)))
