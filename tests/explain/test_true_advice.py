"""Advice that was false once: what people were told, and what they are told now."""

from functools import partial

from reprieve.explain import Evidence, explain
from reprieve.explain.advice.node_changes import LabelNode
from reprieve.explain.advice.pod_changes import Tolerate
from reprieve.explain.sentences import advice, answers, changes
from tests import builders
from tests.builders import node
from tests.strategies.quota import NOW

pod = partial(builders.pod, namespace="ml")
TAINT = {"key": "dedicated", "value": "team", "effect": "NoSchedule"}
FITS_ON_N = advice.it_fits(["n"], [])


def test_a_node_selector_that_no_node_meets_is_not_a_lack_of_cpu() -> None:
    """It used to hear that it needs 1 cpu free."""
    answer = explain("pod/ml/p", Evidence([node("n"), pod("p", nodeSelector={"gpu": "a100"})]), NOW)
    assert answer.details == [advice.no_node_has_label("gpu", "a100")]
    assert answer.would_help == [
        advice.remedy([changes.label_node("n", {"gpu": "a100"}, [])], FITS_ON_N),
        advice.remedy([changes.drop_keys("Pod", "nodeSelector", ["gpu"])], FITS_ON_N),
        advice.remedy([changes.add_nodes(1, {"cpu": "1"}, {"gpu": "a100"})], advice.it_fits([], [])),
    ]


def test_a_missing_toleration_is_named() -> None:
    answer = explain("pod/ml/p", Evidence([node("n", taints=[TAINT]), pod("p")]), NOW)
    assert answer.would_help[0] == advice.remedy([changes.tolerate("Pod", [TAINT])], FITS_ON_N)
    (change, *_) = answer.remedies[0].changes
    assert isinstance(change, Tolerate)
    assert change.tolerations == [
        {"key": "dedicated", "operator": "Equal", "value": "team", "effect": "NoSchedule"}
    ]


def test_a_pod_of_another_scheduler_is_not_told_that_it_fits_now() -> None:
    answer = explain("pod/ml/p", Evidence([node("n"), pod("p", schedulerName="volcano")]), NOW)
    assert answer.waits_for == [answers.waits_for_other_scheduler("volcano")]
    assert answer.would_help == [advice.remedy([changes.use_scheduler("Pod", "reprieve")], FITS_ON_N)]


def test_the_name_of_a_scheduler_in_the_configuration_is_known() -> None:
    objects = [node("n"), pod("p", schedulerName="volcano")]
    config = {"scheduler": {"otherSchedulerNames": ["volcano"]}}
    answer = explain("pod/ml/p", Evidence(objects), NOW, config)
    assert answer.would_help[0] == advice.fits_now(["n"])


def test_two_obstacles_are_both_named() -> None:
    objects = [node("n", 4, taints=[TAINT]), pod("full", 4, 9, on="n"), pod("p", 2, schedulerName="volcano")]
    needed = [
        changes.use_scheduler("Pod", "reprieve"),
        changes.tolerate("Pod", [TAINT]),
        changes.free_on_node("n", {"cpu": "2"}),
    ]
    assert explain("pod/ml/p", Evidence(objects), NOW).would_help[0] == advice.remedy(needed, FITS_ON_N)


def test_a_label_that_says_where_a_node_is_is_never_advised() -> None:
    zone = {"topology.kubernetes.io/zone": "elsewhere"}
    found = explain("pod/ml/p", Evidence([node("n", zone="here"), pod("p", nodeSelector=zone)]), NOW)
    assert not any(isinstance(each, LabelNode) for remedy in found.remedies for each in remedy.changes)
    assert found.would_help[0] == advice.remedy(
        [changes.drop_keys("Pod", "nodeSelector", [*zone])], FITS_ON_N
    )


def test_nobody_is_told_to_tolerate_a_node_in_trouble() -> None:
    broken = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
    for objects in ([node("n", taints=[broken])], [node("n", unschedulable=True)]):
        found = explain("pod/ml/p", Evidence([*objects, pod("p")]), NOW).remedies
        assert not any(isinstance(each, Tolerate) for remedy in found for each in remedy.changes)
