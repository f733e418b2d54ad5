"""Advice that was false once: what people were told, and what they are told now."""

from functools import partial

from reprieve.explain import Evidence, explain
from reprieve.explain.advice.pod_changes import Tolerate
from tests import builders
from tests.builders import node
from tests.strategies.quota import NOW

pod = partial(builders.pod, namespace="ml")
TAINT = {"key": "dedicated", "value": "team", "effect": "NoSchedule"}


def test_a_node_selector_that_no_node_meets_is_not_a_lack_of_cpu() -> None:
    """It used to hear that it needs 1 cpu free."""
    answer = explain("pod/ml/p", Evidence([node("n"), pod("p", nodeSelector={"gpu": "a100"})]), NOW)
    assert answer.details == ["No node has the label gpu=a100, for which spec.nodeSelector asks."]
    assert answer.would_help == [
        "Label node n with gpu=a100: then it fits on n.",
        "Do without gpu in spec.nodeSelector of the pod: then it fits on n.",
        "Add a node with 1 cpu free, labelled gpu=a100: then it fits.",
    ]


def test_a_missing_toleration_is_named() -> None:
    answer = explain("pod/ml/p", Evidence([node("n", taints=[TAINT]), pod("p")]), NOW)
    assert (
        answer.would_help[0]
        == "Add a toleration for dedicated=team:NoSchedule to the pod: then it fits on n."
    )
    (change, *_) = answer.remedies[0].changes
    assert isinstance(change, Tolerate)
    assert change.tolerations == [
        {"key": "dedicated", "operator": "Equal", "value": "team", "effect": "NoSchedule"}
    ]


def test_a_pod_of_another_scheduler_is_not_told_that_it_fits_now() -> None:
    answer = explain("pod/ml/p", Evidence([node("n"), pod("p", schedulerName="volcano")]), NOW)
    assert answer.waits_for == [
        "the scheduler volcano, which is not Reprieve's: whether it will place the pod cannot be said here"
    ]
    assert answer.would_help == ["Set schedulerName: reprieve in the pod: then it fits on n."]


def test_the_name_of_a_scheduler_in_the_configuration_is_known() -> None:
    objects = [node("n"), pod("p", schedulerName="volcano")]
    config = {"scheduler": {"otherSchedulerNames": ["volcano"]}}
    answer = explain("pod/ml/p", Evidence(objects), NOW, config)
    assert answer.would_help[0] == "It fits now (on n); the next cycle places it."


def test_two_obstacles_are_both_named() -> None:
    objects = [node("n", 4, taints=[TAINT]), pod("full", 4, 9, on="n"), pod("p", 2, schedulerName="volcano")]
    assert explain("pod/ml/p", Evidence(objects), NOW).would_help[0] == (
        "All of this together: set schedulerName: reprieve in the pod; "
        "add a toleration for dedicated=team:NoSchedule to the pod; free 2 more cpu on node n. "
        "Then it fits on n."
    )


def test_a_label_that_says_where_a_node_is_is_never_advised() -> None:
    zone = {"topology.kubernetes.io/zone": "elsewhere"}
    lines = explain(
        "pod/ml/p", Evidence([node("n", zone="here"), pod("p", nodeSelector=zone)]), NOW
    ).would_help
    assert not any(line.startswith("Label node") for line in lines)
    assert lines[0].startswith("Do without topology.kubernetes.io/zone in spec.nodeSelector")


def test_nobody_is_told_to_tolerate_a_node_in_trouble() -> None:
    broken = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
    for objects in ([node("n", taints=[broken])], [node("n", unschedulable=True)]):
        lines = explain("pod/ml/p", Evidence([*objects, pod("p")]), NOW).would_help
        assert not any("toleration" in line for line in lines)
