"""The text of every sentence that `jobs` says: the only place in its tests where our English stands."""

import pytest

from reprieve.jobs import sentences
from tests.catalogues import without_a_row

ROWS = [
    # what is wrong with a job
    (sentences.not_a_job("ConfigMap"), "ConfigMap is not a kind of job"),
    (
        sentences.too_many_pods(100001, 100000),
        "asks for 100,001 pods; more than 100,000 are not expanded",
    ),
    (sentences.expected_object([1]), "expected an object, got [1]"),
    (sentences.expected_list("x"), "expected a list, got 'x'"),
    (sentences.expected_string(1), "expected a string, got 1"),
    (sentences.expected_whole_number("x"), "expected a whole number, got 'x'"),
    (sentences.out_of_range(-1, 9), "must be between 0 and 9, is -1"),
    (sentences.expected_share("x"), "expected a share such as \"0.1\", got 'x'"),
    (sentences.expected_size("x"), "expected a size such as 512m or 4g, got 'x'"),
    (
        sentences.no_such_runtime("TrainingRuntime", "torch"),
        "there is no TrainingRuntime torch among the objects: it has the pods of this job, give it too",
    ),
    (sentences.nothing_at("spec"), "there is nothing at 'spec' in the template"),
    # why it starts no pods
    (
        sentences.is_suspended("spec.suspend"),
        "it is suspended (spec.suspend: true); it starts when that field is set to false",
    ),
    (sentences.ASKS_FOR_NO_PODS, "it asks for no pods; it starts when its number of pods is raised"),
    # what of a job is not read
    (
        sentences.unread_field("spec.x", "volumes that each pod gets"),
        "spec.x, volumes that each pod gets",
    ),
    (
        sentences.unread_field("spec.roles", sentences.REPLICAS_START_TOGETHER),
        "spec.roles, whose replicas start together, each by itself: their pods are planned one by one",
    ),
    (
        sentences.unread_field("spec.tasks[].minAvailable", sentences.TASK_MINIMUM),
        "spec.tasks[].minAvailable, which says how many pods of the task must start together",
    ),
    (
        sentences.unread_field("spec.networkTopology", sentences.NEAR_EACH_OTHER),
        "spec.networkTopology, which keeps its pods near each other",
    ),
    (
        sentences.unread_field("spec.templates[0].steps[0][0]", sentences.NUMBER_UNKNOWN),
        "spec.templates[0].steps[0][0], whose number is known only while it runs: counted as one",
    ),
    (
        sentences.unread_field("spec.x.when", sentences.MAY_NOT_RUN),
        "spec.x.when, which may leave it out: counted as if it runs",
    ),
    (
        sentences.unread_field("spec.x", sentences.PARAMETER),
        "spec.x, which has its value only while it runs",
    ),
    (
        sentences.unread_field("spec.x.templateRef", sentences.OTHER_TEMPLATE),
        "spec.x.templateRef, whose pods are in another object: counted as none",
    ),
    (sentences.not_looked_at("spec.x, which counts"), "Note: not looked at: spec.x, which counts."),
    (sentences.unread_spark_setting("spark.x"), "spec.sparkConf[spark.x], which changes its pods"),
    (
        sentences.unread_component("spec.components[0]", "Thing", "acme.io/v1"),
        "spec.components[0], a Thing of acme.io/v1, which may make pods: its podSets would say which",
    ),
    # what a job says to its queue in vain
    (
        sentences.time_limit_is_no_number("1h"),
        "label kueue.x-k8s.io/max-exec-time-seconds: '1h' is no number of seconds above 0",
    ),
    (
        sentences.not_fewer_pods("4", 4),
        "annotation kueue.x-k8s.io/job-min-parallelism: '4' is not above 0 and below its 4 pods",
    ),
    (
        sentences.no_quota_for_more("spec.enableInTreeAutoscaling"),
        "spec.enableInTreeAutoscaling: quota is given for the pods that are written; more get none",
    ),
    (
        sentences.not_resized(True),
        "annotation kueue.x-k8s.io/elastic-job: it may become smaller while it runs, but it is "
        "not resized in place: it is stopped and asks anew",
    ),
    (
        sentences.not_resized(False),
        "annotation kueue.x-k8s.io/elastic-job: it is not resized in place: it is stopped and asks anew",
    ),
    # what asks for quota
    (sentences.pod_of_job("Deployment/ml/a", 0), "Deployment/ml/a, pod 0"),
    (sentences.replica_of_job("LeaderWorkerSet/ml/a", 1), "LeaderWorkerSet/ml/a, replica 1"),
    (sentences.pod_group_named("ml/crew"), "pod group ml/crew"),
    (
        sentences.pod_group_is_incomplete("ml/crew", 1, 3),
        "Note: pod group ml/crew has 1 of 3 pods: it asks for quota when all are there.",
    ),
    # how a job ended
    (
        sentences.phase_is("status.jobDeploymentStatus", "Failed"),
        "status.jobDeploymentStatus is Failed",
    ),
    (sentences.TEMPLATE_REQUIRED, "a pod template is required here"),
    (sentences.REQUIRED, "is required"),
    (sentences.VOLUMES, "volumes that each pod gets"),
    (sentences.RESIZES, "which changes the number of pods while it runs"),
    (sentences.EXCLUSIVE, "which gives each job or replica a part of the cluster for itself"),
    (sentences.STARTS_TOGETHER, "which makes its pods start together"),
    (sentences.STARTS_IN_TURN, "which makes jobs start one after the other"),
    (
        sentences.ONLY_JOBS_START_SMALLER,
        "annotation kueue.x-k8s.io/job-min-parallelism: only a Job can start with fewer pods",
    ),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
