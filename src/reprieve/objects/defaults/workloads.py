"""batch/v1 and apps/v1."""

from reprieve.objects import well_known
from reprieve.objects.defaults.pods import default_pod_spec
from reprieve.objects.defaults.storage import default_claim
from reprieve.objects.meta import Document
from reprieve.objects.raw import at, fill, items, section


def _template(spec: Document) -> None:
    section(spec, "template", "metadata")
    default_pod_spec(section(spec, "template", "spec"))


def default_template(document: Document) -> None:
    _template(document)


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


def default_job(document: Document) -> None:
    """A job without labels gets those of its pods, also those by which it will find them (`new_job`)."""
    spec = section(document, "spec")
    default_job_spec(spec)
    if spec["manualSelector"] or spec.get("selector"):
        _take_labels(document)


def _take_labels(document: Document) -> None:
    labels = at(document, "spec", "template", "metadata", "labels")
    if isinstance(labels, dict) and labels and not document["metadata"].get("labels"):
        document["metadata"]["labels"] = dict(labels)


def new_job(document: Document) -> None:
    """A job finds its pods by its own uid, unless its author insists on another selector."""
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
    _take_labels(document)


def default_cron_job(document: Document) -> None:
    spec = section(document, "spec")
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    section(spec, "jobTemplate", "metadata")
    _template(section(spec, "jobTemplate", "spec"))


def default_replicas(document: Document) -> None:
    spec = section(document, "spec")
    spec.setdefault("replicas", 1)
    _template(spec)


def default_replication_controller(document: Document) -> None:
    """Without a selector or labels of its own it has those of its pods."""
    default_replicas(document)
    labels = at(document, "spec", "template", "metadata", "labels")
    if isinstance(labels, dict) and labels:
        if not at(document, "spec", "selector"):
            document["spec"]["selector"] = dict(labels)
        if not document["metadata"].get("labels"):
            document["metadata"]["labels"] = dict(labels)


def default_deployment(document: Document) -> None:
    default_replicas(document)
    spec = section(document, "spec")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = section(spec, "strategy")
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = section(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")


def default_stateful_set(document: Document) -> None:
    default_replicas(document)
    spec = section(document, "spec")
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = section(spec, "updateStrategy")
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        section(strategy, "rollingUpdate")
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        fill(strategy["rollingUpdate"], partition=0, maxUnavailable=1)
    for claim in items(spec, "volumeClaimTemplates"):
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        default_claim(claim)
    retention = section(spec, "persistentVolumeClaimRetentionPolicy")
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")


def default_daemon_set(document: Document) -> None:
    spec = section(document, "spec")
    _template(spec)
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = section(spec, "updateStrategy")
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = section(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
