"""What makes no sense is set aside with its reason, and the rest of the tree keeps working."""

import pytest

import reprieve
from reprieve.quota import sentences
from tests.builders import Document, cluster_queue, flavor, kueue, local_queue
from tests.strategies.quota import workload

NOW = "2026-08-23T12:00:00Z"


def numbered(number: int, name: str) -> Document:
    return local_queue(f"lq{number}", name)


def admit(*objects: Document) -> Document:
    answer: Document = reprieve.admit([flavor(), *objects], now=NOW).to_dict()
    return answer


GOOD = [cluster_queue("good"), numbered(0, "good"), workload("fine", 0, {"cpu": 1}, 1, 0, 10)]


def refused(objects: list[Document], key: str = "default/bad") -> Document:
    answer = admit(*GOOD, *objects)
    assert "default/fine" in answer["admitted"], "the rest keeps working"
    assert key in answer["unadmitted"]
    waiting: Document = answer["waiting"][key]
    return waiting


def test_a_circle_of_cohorts_sets_its_queues_aside() -> None:
    circle = [kueue("Cohort", "a", {"parentName": "b"}), kueue("Cohort", "b", {"parentName": "a"})]
    objects = [
        *circle,
        cluster_queue("round", cohort="a"),
        numbered(1, "round"),
        workload("bad", 1, {"cpu": 1}, 1, 0, 10),
    ]
    waiting = refused(objects)
    assert waiting["reason"] == "HasCycle"
    assert "cycle" in waiting["message"]


def test_a_cohort_that_is_its_own_parent_is_a_circle() -> None:
    objects = [
        kueue("Cohort", "a", {"parentName": "a"}),
        cluster_queue("round", cohort="a"),
        numbered(1, "round"),
    ]
    assert refused([*objects, workload("bad", 1, {"cpu": 1}, 1, 0, 10)])["reason"] == "HasCycle"


def test_quota_for_an_undeclared_flavor_makes_the_queue_inactive() -> None:
    objects = [
        cluster_queue("ghost", flavors=("nowhere",)),
        numbered(1, "ghost"),
        workload("bad", 1, {"cpu": 1}, 1, 0, 10),
    ]
    waiting = refused(objects)
    assert waiting["reason"] == "FlavorNotFound"
    assert "nowhere" in waiting["message"]


def test_a_flavor_in_two_resource_groups_is_named() -> None:
    double = cluster_queue("double")
    resource = {"name": "memory", "nominalQuota": "1"}
    second = {"coveredResources": ["memory"], "flavors": [{"name": "default", "resources": [resource]}]}
    double["spec"]["resourceGroups"].append(second)
    waiting = refused([double, numbered(1, "double"), workload("bad", 1, {"cpu": 1}, 1, 0, 10)])
    assert waiting["reason"] == "Misconfigured"
    problem = sentences.flavor_in_two_groups("spec.resourceGroups[1].flavors[default]", "default", 0)
    assert waiting["message"] == sentences.cannot_admit([problem])


def test_negative_quota_is_named_and_lends_nothing() -> None:
    objects = [
        cluster_queue("minus", nominal="-5", cohort="both"),
        numbered(1, "minus"),
        cluster_queue("plus", cohort="both"),
        numbered(2, "plus"),
    ]
    objects += [workload("bad", 1, {"cpu": 1}, 1, 0, 10), workload("other", 2, {"cpu": 4}, 1, 0, 10)]
    waiting = refused(objects)
    path = "spec.resourceGroups[0].flavors[default].resources[cpu].nominalQuota"
    assert waiting["message"] == sentences.cannot_admit([sentences.negative_amount(path, "-5")])
    assert "default/other" in admit(*GOOD, *objects)["admitted"]


def test_a_negative_quota_of_a_cohort_does_not_count() -> None:
    group = cluster_queue("x", nominal="-3")["spec"]["resourceGroups"]
    objects = [
        kueue("Cohort", "both", {"resourceGroups": group}),
        cluster_queue("plus", cohort="both"),
        numbered(1, "plus"),
    ]
    answer = admit(*objects, workload("other", 1, {"cpu": 4}, 1, 0, 10))
    assert "default/other" in answer["admitted"]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], sentences.no_such_local_queue("lq1")),
        ([numbered(1, "gone")], sentences.no_such_cluster_queue("gone")),
        (
            [kueue("LocalQueue", "lq1", {"clusterQueue": "good", "stopPolicy": "Hold"}, namespace="default")],
            sentences.local_queue_is_inactive("lq1"),
        ),
    ],
)
def test_a_workload_without_a_queue_says_so(objects: list[Document], message: str) -> None:
    assert refused([*objects, workload("bad", 1, {"cpu": 1}, 1, 0, 10)])["message"] == message


def test_a_priority_class_that_is_gone_parks_the_workload() -> None:
    reference = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "gone"}
    bad = workload("bad", 0, {"cpu": 1}, 1, 1000, 10, priorityClassRef=reference)
    waiting = refused([bad])
    assert waiting["message"] == sentences.no_such_priority_class("WorkloadPriorityClass", "gone")
    known = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "gone"},
        "value": 1000,
    }
    assert "default/bad" in admit(*GOOD, known, bad)["admitted"]


def test_a_stopped_queue_keeps_its_workloads_waiting_but_lends_its_quota() -> None:
    objects = [
        cluster_queue("off", cohort="both", stopPolicy="Hold"),
        numbered(1, "off"),
        cluster_queue("on", cohort="both"),
        numbered(2, "on"),
    ]
    objects += [workload("bad", 1, {"cpu": 1}, 1, 0, 10), workload("big", 2, {"cpu": 8}, 1, 0, 10)]
    assert refused(objects)["reason"] == "Stopped"
    assert "default/big" in admit(*GOOD, *objects)["admitted"]


def test_a_request_above_its_own_limit_is_refused() -> None:
    bad = workload("bad", 0, {"cpu": 2}, 1, 0, 10)
    bad["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "1"}
    waiting = refused([bad])
    assert waiting["reason"] == "Misconfigured"
    problem = sentences.requests_above_limits("spec.podSets[0].template.spec.containers[0]", ["cpu"])
    assert waiting["message"] == sentences.limits_exceeded([problem])


def test_numbers_too_large_to_count_do_not_wrap() -> None:
    huge = workload("bad", 0, {"cpu": "9223372036854775807"}, 3, 0, 10)
    assert refused([huge])["reason"] == "ExceedsMaxQuota"


def test_a_question_about_a_workload_that_is_not_there_names_those_that_are() -> None:
    from reprieve.objects.errors import ReprieveError

    with pytest.raises(ReprieveError, match="default/fine"):
        reprieve.plan(GOOD, "Workload/default/nobody", now=NOW)


def test_a_workload_that_names_no_queue_or_no_pods_says_so() -> None:
    lost = workload("bad", 0, {"cpu": 1}, 1, 0, 10, queueName="")
    assert refused([lost])["message"] == sentences.NO_QUEUE_NAMED
    empty = workload("bad", 0, {"cpu": 1}, 1, 0, 10)
    empty["spec"]["podSets"] = []
    assert refused([empty])["message"] == sentences.NO_POD_SETS


def test_an_invalid_quantity_is_named_and_affects_nothing_else() -> None:
    assert "'abc' is not a quantity" in refused([workload("bad", 0, {"cpu": "abc"}, 1, 0, 10)])["message"]
    objects = [
        cluster_queue("odd", nominal="abc"),
        numbered(1, "odd"),
        workload("bad", 1, {"cpu": 1}, 1, 0, 10),
    ]
    assert "'abc' is not a quantity" in refused(objects)["message"]
