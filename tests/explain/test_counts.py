"""What is counted is counted right, none and one among it."""

from functools import partial

import pytest

import reprieve
from reprieve.explain import Evidence, explain
from reprieve.explain.reading import in_plain_words
from reprieve.explain.sentences import answers
from tests import builders
from tests.builders import Document, cluster_queue, flavor, local_queue, node, reserved, terminating, workload
from tests.strategies.quota import NOW

pod = partial(builders.pod, namespace="ml")
gang = partial(builders.gang, namespace="ml")
NOMINATED = {"nominatedNodeName": "n"}


@pytest.mark.parametrize(
    ("pods", "counts"),
    [
        ([], (0, 0, 0)),
        ([pod("a", on="n")], (1, 0, 0)),
        ([terminating(pod("a", on="n"))], (1, 1, 0)),
        ([pod("a", on="n"), pod("b", on="n"), pod("c", status=NOMINATED)], (2, 0, 1)),
        ([pod("a", status=NOMINATED), pod("b", status=NOMINATED)], (0, 0, 2)),
    ],
)
def test_a_node_counts_its_pods(pods: list[Document], counts: tuple[int, int, int]) -> None:
    answer = explain("node/n", Evidence([node("n"), *pods]), NOW)
    assert answer.sentence == answers.node_runs("n", *counts)


@pytest.mark.parametrize(
    ("workloads", "counts"),
    [
        ([], (0, 0)),
        ([reserved(workload("a"))], (1, 0)),
        ([reserved(workload("a")), reserved(workload("b"))], (2, 0)),
        ([workload("a")], (0, 1)),
        ([workload("a"), workload("b")], (0, 2)),
    ],
)
def test_a_queue_counts_its_workloads(workloads: list[Document], counts: tuple[int, int]) -> None:
    objects = [flavor(), cluster_queue(), local_queue(), *workloads]
    answer = explain("cq/cq", Evidence(objects), NOW)
    assert answer.sentence == answers.queue_is_active("ClusterQueue", "cq", *counts)


def test_a_group_of_one_has_one_pod() -> None:
    group, member = gang(1, name="g")
    running = {**member, "spec": {**member["spec"], "nodeName": "n"}}
    waits = explain("pg/ml/g", Evidence([group, member]), NOW)
    assert waits.sentence == answers.group_waits("ml/g", 1, 1, 1, 0)
    runs = explain("pg/ml/g", Evidence([group, running]), NOW)
    assert runs.sentence == answers.group_runs("ml/g", 1, 1, 0)


def test_without_nodes_no_message_counts_them() -> None:
    message = reprieve.plan([pod("p")], "pod/ml/p", now=NOW).to_dict()["message"]
    assert message == "no nodes available to schedule pods"


@pytest.mark.parametrize(
    ("upstream", "plain"),
    [
        (
            "minCount (4) cannot be satisfied: 0 scheduled, 3 remaining",
            answers.too_few_at_once(4, 0, 3),
        ),
        (
            "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining",
            answers.too_few_at_once(2, 1, 0),
        ),
        ("0/3 nodes are available: 3 Insufficient cpu.", "0/3 nodes are available: 3 Insufficient cpu."),
        (
            "minCount (many) cannot be satisfied: 1 scheduled, 0 remaining",
            "minCount (many) cannot be satisfied: 1 scheduled, 0 remaining",
        ),
    ],
)
def test_the_schedulers_message_about_a_gang_is_put_into_plain_words(upstream: str, plain: str) -> None:
    """The condition keeps kube-scheduler's words: `3 remaining` leaves out the pod that found no node."""
    assert in_plain_words(upstream) == plain


def test_what_a_gang_lacks_is_counted_in_the_right_number() -> None:
    reasons = reprieve.plan([node("n", 2), *gang(2, 2)], "pg/ml/gang", now=NOW).to_dict()["reasons"]
    assert "1 of 2 pods would find a node; 1 more must, to run 2 at once." in reasons
    assert "Together its pods ask for 4 cpu; at most 2 can be free on 1 node that would take them." in reasons
