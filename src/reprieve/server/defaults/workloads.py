"""batch/v1 and apps/v1."""

from reprieve.objects import Document, well_known
from reprieve.server.defaults.pods import default_pod_spec
from reprieve.server.documents import at, items, section


def _template(spec: Document) -> None:
    section(spec, "template", "metadata")
    default_pod_spec(section(spec, "template", "spec"))


def default_job_spec(spec: Document) -> None:
    _template(spec)
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = spec["parallelism"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6 if spec.get("backoffLimitPerIndex") is None else 2**31 - 1)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    by_policy = isinstance(spec.get("podFailurePolicy"), dict)
    spec.setdefault("podReplacementPolicy", "Failed" if by_policy else "TerminatingOrFailed")
    for rule in items(spec, "podFailurePolicy", "rules"):
        for pattern in items(rule, "onPodConditions"):
            pattern.setdefault("status", "True")


def default_job(document: Document, timestamp: str) -> None:
    """A job without labels gets those of its pods."""
    del timestamp
    spec = section(document, "spec")
    default_job_spec(spec)
    labels = at(spec, "template", "metadata", "labels")
    if isinstance(labels, dict) and not document["metadata"].get("labels"):
        document["metadata"]["labels"] = dict(labels)


def new_job(document: Document, timestamp: str) -> None:
    """A job finds its pods by its own uid, unless its author insists on another selector."""
    del timestamp
    spec = section(document, "spec")
    document["status"] = {}
    if spec.get("manualSelector"):
        return
    metadata = document["metadata"]
    uid, name = metadata["uid"], metadata.get("name", "")
    section(spec, "selector", "matchLabels")[well_known.JOB_CONTROLLER_UID_LABEL] = uid
    section(spec, "template", "metadata", "labels").update(
        {
            well_known.JOB_CONTROLLER_UID_LABEL: uid,
            well_known.JOB_NAME_LABEL: name,
            "controller-uid": uid,
            "job-name": name,
        }
    )


def default_cron_job(document: Document, timestamp: str) -> None:
    del timestamp
    spec = section(document, "spec")
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    _template(section(spec, "jobTemplate", "spec"))


def default_replicas(document: Document, timestamp: str) -> None:
    del timestamp
    spec = section(document, "spec")
    spec.setdefault("replicas", 1)
    _template(spec)


def default_replication_controller(document: Document, timestamp: str) -> None:
    """Without a selector or labels of its own it has those of its pods."""
    default_replicas(document, timestamp)
    labels = at(document, "spec", "template", "metadata", "labels")
    if isinstance(labels, dict) and labels:
        if not at(document, "spec", "selector"):
            document["spec"]["selector"] = dict(labels)
        if not document["metadata"].get("labels"):
            document["metadata"]["labels"] = dict(labels)


def default_deployment(document: Document, timestamp: str) -> None:
    default_replicas(document, timestamp)
    spec = section(document, "spec")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = section(spec, "strategy")
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = section(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")


def default_stateful_set(document: Document, timestamp: str) -> None:
    default_replicas(document, timestamp)
    spec = section(document, "spec")
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = section(spec, "updateStrategy")
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        section(strategy, "rollingUpdate")
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        section(strategy, "rollingUpdate").setdefault("partition", 0)
    retention = section(spec, "persistentVolumeClaimRetentionPolicy")
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")


def default_daemon_set(document: Document, timestamp: str) -> None:
    del timestamp
    spec = section(document, "spec")
    _template(spec)
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = section(spec, "updateStrategy")
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = section(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
