"""What an API server refuses of Deployments, StatefulSets, Jobs and the other kinds that make pods."""

import copy
from typing import Any

import pytest

from reprieve.objects import builtin_problems

Doc = dict[str, Any]
LABELS = {"app": "a"}
POD: Doc = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always"}
BATCH_POD: Doc = {**POD, "restartPolicy": "Never"}

PLACED: Doc = {
    **BATCH_POD,
    "nodeSelector": {"a": "b"},
    "tolerations": [{"operator": "Exists"}],
    "containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}],
}


def made(kind: str, **spec: Any) -> Doc:
    batch = kind in ("Job", "CronJob")
    document: Doc = {
        "apiVersion": "v1" if kind == "ReplicationController" else "batch/v1" if batch else "apps/v1",
        "kind": kind,
        "metadata": {"name": "x", "namespace": "default", "uid": "u"},
        "spec": {
            "template": {"metadata": {"labels": LABELS}, "spec": copy.deepcopy(BATCH_POD if batch else POD)}
        },
    }
    if kind == "CronJob":
        document["spec"] = {"schedule": "@daily", "jobTemplate": {"spec": document["spec"]}}
    elif kind == "ReplicationController":
        document["spec"]["selector"] = LABELS
    elif not batch:
        document["spec"]["selector"] = {"matchLabels": LABELS}
    document["spec"] |= spec
    return document


def found(new: Doc, old: Doc | None = None) -> list[tuple[str, str]]:
    problems = builtin_problems(new, old)
    return sorted((problem.path, problem.reason.removeprefix("FieldValue")) for problem in problems)


ROLLING = {"type": "RollingUpdate"}


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        (made("Deployment"), []),
        (
            made("Deployment", selector=None),
            [("spec.selector", "Required"), ("spec.template.metadata.labels", "Invalid")],
        ),
        (made("ReplicaSet", selector={}), [("spec.selector", "Invalid")]),
        (
            made("DaemonSet", selector={"matchLabels": {"b": "c"}}),
            [("spec.template.metadata.labels", "Invalid")],
        ),
        (made("ReplicationController", selector={"b": "c"}), [("spec.template.metadata.labels", "Invalid")]),
        (made("Deployment", strategy={"type": "Hope"}), [("spec.strategy", "NotSupported")]),
        (
            made("Deployment", strategy={"type": "Recreate", "rollingUpdate": {}}),
            [("spec.strategy.rollingUpdate", "Forbidden")],
        ),
        (
            made(
                "Deployment", strategy={**ROLLING, "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}
            ),
            [("spec.strategy.rollingUpdate.maxUnavailable", "Invalid")],
        ),
        (made("Deployment", strategy={**ROLLING, "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}), []),
        (made("StatefulSet", podManagementPolicy="Chaos"), [("spec.podManagementPolicy", "Invalid")]),
        (made("StatefulSet", updateStrategy={"type": "Hope"}), [("spec.updateStrategy", "Invalid")]),
        (made("Job", backoffLimitPerIndex=1), [("spec.backoffLimitPerIndex", "Invalid")]),
        (made("Job", backoffLimitPerIndex=1, completionMode="Indexed"), []),
        (made("Job", completionMode="Sometimes"), [("spec.completionMode", "NotSupported")]),
        (
            made("Job", backoffLimit=-1, ttlSecondsAfterFinished=-1),
            [("spec.backoffLimit", "Invalid"), ("spec.ttlSecondsAfterFinished", "Invalid")],
        ),
        (
            made("Job", selector={"matchLabels": {"a": "b"}}),
            [("spec.selector", "Invalid"), ("spec.template.metadata.labels", "Invalid")],
        ),
        (made("Job", selector={"matchLabels": LABELS}, manualSelector=True), []),
        (
            made(
                "Job",
                podFailurePolicy={"rules": []},
                template={"spec": {**POD, "restartPolicy": "OnFailure"}},
            ),
            [("spec.template.spec.restartPolicy", "Invalid")],
        ),
        (made("CronJob", concurrencyPolicy="Perhaps"), [("spec.concurrencyPolicy", "NotSupported")]),
        (made("CronJob", failedJobsHistoryLimit=-1), [("spec.failedJobsHistoryLimit", "Invalid")]),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_created(document: Doc, problems: list[Any]) -> None:
    assert found(document) == problems


def test_the_jobs_of_a_cron_job_need_space_for_their_names() -> None:
    long = made("CronJob")
    long["metadata"]["name"] = "a" * 53
    assert found(long) == [("metadata.name", "Invalid")]


@pytest.mark.parametrize(
    ("before", "after", "problems"),
    [
        (
            made("StatefulSet", serviceName="a"),
            made("StatefulSet", serviceName="b"),
            [("spec.serviceName", "Invalid")],
        ),
        (made("StatefulSet", replicas=1), made("StatefulSet", replicas=2, minReadySeconds=3), []),
        (made("StatefulSet"), made("StatefulSet", volumeClaimTemplates=[]), []),
        (
            made("Job", suspend=False),
            made("Job", suspend=False, template={"spec": POD}),
            [("spec.template.metadata", "Invalid"), ("spec.template.spec", "Invalid")],
        ),
        (
            made("Job", suspend=True),
            made("Job", suspend=False, template={"spec": {**BATCH_POD, "containers": []}}),
            [("spec.template.spec", "Invalid")],
        ),
        (made("Job", suspend=True), made("Job", suspend=False, template={"spec": PLACED}), []),
        (made("Job", completions=1), made("Job", completions=2), [("spec.completions", "Invalid")]),
        (
            made("Deployment"),
            made("Deployment", selector={"matchLabels": {"b": "c"}}),
            [("spec.selector", "Invalid"), ("spec.template.metadata.labels", "Invalid")],
        ),
    ],
)
def test_what_may_not_change_stays(before: Doc, after: Doc, problems: list[Any]) -> None:
    assert found(after, before) == problems


def test_what_is_mounted_must_be_there_and_in_a_place_of_its_own() -> None:
    pod: Doc = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": copy.deepcopy(POD)}
    pod["spec"]["volumes"] = [{"name": "v"}]
    mounts = [
        {"name": "v", "mountPath": "/a"},
        {"name": "w", "mountPath": "/b"},
        {"name": "v", "mountPath": "/a"},
    ]
    pod["spec"]["containers"][0]["volumeMounts"] = mounts
    where = "spec.containers[0].volumeMounts"
    assert found(pod) == [(f"{where}[1].name", "NotFound"), (f"{where}[2].mountPath", "Duplicate")]
