"""The text of every sentence that `jobs` says: the only place in its tests where our English stands."""

from functools import partial
from types import ModuleType

import pytest

from reprieve.jobs import sentences
from tests.catalogues import Constant, Said, without_text

SAID: list[Said] = [
    # what is wrong with a job
    (partial(sentences.not_a_job, "ConfigMap"), "ConfigMap is not a kind of job"),
    (
        partial(sentences.too_many_pods, 100001, 100000),
        "asks for 100,001 pods; more than 100,000 are not expanded",
    ),
    (partial(sentences.expected_object, [1]), "expected an object, got [1]"),
    (partial(sentences.expected_list, "x"), "expected a list, got 'x'"),
    (partial(sentences.expected_string, 1), "expected a string, got 1"),
    (partial(sentences.expected_whole_number, "x"), "expected a whole number, got 'x'"),
    (partial(sentences.out_of_range, -1, 9), "must be between 0 and 9, is -1"),
    (partial(sentences.expected_share, "x"), "expected a share such as \"0.1\", got 'x'"),
    (partial(sentences.expected_size, "x"), "expected a size such as 512m or 4g, got 'x'"),
    (
        partial(sentences.no_such_runtime, "TrainingRuntime", "torch"),
        "there is no TrainingRuntime torch among the objects: it has the pods of this job, give it too",
    ),
    (partial(sentences.nothing_at, "spec"), "there is nothing at 'spec' in the template"),
    # what of a job is not read
    (
        partial(sentences.unread_field, "spec.x", "volumes that each pod gets"),
        "spec.x, volumes that each pod gets",
    ),
    (partial(sentences.unread_spark_setting, "spark.x"), "spec.sparkConf[spark.x], which changes its pods"),
    (
        partial(sentences.unread_component, "spec.components[0]", "Thing", "acme.io/v1"),
        "spec.components[0], a Thing of acme.io/v1, which may make pods: its podSets would say which",
    ),
    # what a job says to its queue in vain
    (
        partial(sentences.time_limit_is_no_number, "1h"),
        "label kueue.x-k8s.io/max-exec-time-seconds: '1h' is no number of seconds above 0",
    ),
    (
        partial(sentences.not_fewer_pods, "4", 4),
        "annotation kueue.x-k8s.io/job-min-parallelism: '4' is not above 0 and below its 4 pods",
    ),
    (
        partial(sentences.no_quota_for_more, "spec.enableInTreeAutoscaling"),
        "spec.enableInTreeAutoscaling: quota is given for the pods that are written; more get none",
    ),
    (
        partial(sentences.not_resized, True),
        "annotation kueue.x-k8s.io/elastic-job: it may become smaller while it runs, but it is "
        "not resized in place: it is stopped and asks anew",
    ),
    (
        partial(sentences.not_resized, False),
        "annotation kueue.x-k8s.io/elastic-job: it is not resized in place: it is stopped and asks anew",
    ),
    # what asks for quota
    (partial(sentences.pod_of_job, "Deployment/ml/a", 0), "Deployment/ml/a, pod 0"),
    (partial(sentences.replica_of_job, "LeaderWorkerSet/ml/a", 1), "LeaderWorkerSet/ml/a, replica 1"),
    (partial(sentences.pod_group_named, "ml/crew"), "pod group ml/crew"),
    (
        partial(sentences.pod_group_is_incomplete, "ml/crew", 1, 3),
        "Note: pod group ml/crew has 1 of 3 pods: it asks for quota when all are there.",
    ),
    # how a job ended
    (
        partial(sentences.phase_is, "status.jobDeploymentStatus", "Failed"),
        "status.jobDeploymentStatus is Failed",
    ),
]
CONSTANTS: list[Constant] = [
    (sentences, "TEMPLATE_REQUIRED", "a pod template is required here"),
    (sentences, "REQUIRED", "is required"),
    (sentences, "RESIZES", "which changes the number of pods while it runs"),
    (sentences, "EXCLUSIVE", "which gives each job or replica a part of the cluster for itself"),
    (sentences, "STARTS_TOGETHER", "which makes its pods start together"),
    (sentences, "STARTS_IN_TURN", "which makes jobs start one after the other"),
    (sentences, "VOLUMES", "volumes that each pod gets"),
    (
        sentences,
        "ONLY_JOBS_START_SMALLER",
        "annotation kueue.x-k8s.io/job-min-parallelism: only a Job can start with fewer pods",
    ),
]


@pytest.mark.parametrize(("said", "text"), SAID, ids=[each.func.__name__ for each, _ in SAID])
def test_a_sentence_with_values_has_its_text(said: "partial[str]", text: str) -> None:
    assert said() == text


@pytest.mark.parametrize(("catalogue", "name", "text"), CONSTANTS, ids=[name for _, name, _ in CONSTANTS])
def test_a_sentence_without_values_has_its_text(catalogue: ModuleType, name: str, text: str) -> None:
    assert getattr(catalogue, name) == text


def test_every_sentence_has_a_text_here() -> None:
    assert without_text((sentences,), SAID, CONSTANTS) == []
