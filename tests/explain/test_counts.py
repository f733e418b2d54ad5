"""Numbers and their nouns agree, empty lists leave nothing dangling, and one is not many."""

from functools import partial

import pytest

import reprieve
from reprieve.explain import Evidence, explain
from reprieve.explain.wording import in_plain_words
from tests import builders
from tests.builders import Document, cluster_queue, flavor, local_queue, node, reserved, terminating, workload
from tests.strategies.quota import NOW

pod = partial(builders.pod, namespace="ml")
gang = partial(builders.gang, namespace="ml")
NOMINATED = {"nominatedNodeName": "n"}


@pytest.mark.parametrize(
    ("pods", "sentence"),
    [
        ([], "Node n runs no pod."),
        ([pod("a", on="n")], "Node n runs 1 pod."),
        ([terminating(pod("a", on="n"))], "Node n runs 1 pod, 1 of which is leaving."),
        (
            [pod("a", on="n"), pod("b", on="n"), pod("c", status=NOMINATED)],
            "Node n runs 2 pods; 1 more is nominated to it.",
        ),
        (
            [pod("a", status=NOMINATED), pod("b", status=NOMINATED)],
            "Node n runs no pod; 2 more are nominated to it.",
        ),
    ],
)
def test_a_node_counts_its_pods(pods: list[Document], sentence: str) -> None:
    assert explain("node/n", Evidence([node("n"), *pods]), NOW).sentence == sentence


@pytest.mark.parametrize(
    ("workloads", "sentence"),
    [
        ([], "no workload holds quota, no workload waits."),
        ([reserved(workload("a"))], "1 workload holds quota, no workload waits."),
        ([reserved(workload("a")), reserved(workload("b"))], "2 workloads hold quota, no workload waits."),
        ([workload("a")], "no workload holds quota, 1 workload waits."),
        ([workload("a"), workload("b")], "no workload holds quota, 2 workloads wait."),
    ],
)
def test_a_queue_counts_its_workloads(workloads: list[Document], sentence: str) -> None:
    objects = [flavor(), cluster_queue(), local_queue(), *workloads]
    assert explain("cq/cq", Evidence(objects), NOW).sentence == f"ClusterQueue cq is active; {sentence}"


def test_a_group_of_one_has_one_pod() -> None:
    group, member = gang(1, name="g")
    running = {**member, "spec": {**member["spec"], "nodeName": "n"}}
    assert explain("pg/ml/g", Evidence([group, member]), NOW).sentence.startswith(
        "PodGroup ml/g waits with 1 of 1 pod, 1 at once needed."
    )
    assert explain("pg/ml/g", Evidence([group, running]), NOW).sentence.startswith(
        "PodGroup ml/g runs with 1 pod, 1 at once needed."
    )


def test_without_nodes_no_message_counts_them() -> None:
    message = reprieve.plan([pod("p")], "pod/ml/p", now=NOW).to_dict()["message"]
    assert message == "no nodes available to schedule pods"


@pytest.mark.parametrize(
    ("upstream", "plain"),
    [
        (
            "minCount (4) cannot be satisfied: 0 scheduled, 3 remaining",
            "4 pods must run at once (minCount), but no pod found a node before one found none, "
            "and 3 pods were not tried any more",
        ),
        (
            "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining",
            "2 pods must run at once (minCount), but 1 pod found a node before one found none",
        ),
        ("0/3 nodes are available: 3 Insufficient cpu.", "0/3 nodes are available: 3 Insufficient cpu."),
    ],
)
def test_the_schedulers_message_about_a_gang_is_put_into_plain_words(upstream: str, plain: str) -> None:
    """The condition keeps kube-scheduler's words: `3 remaining` leaves out the pod that found no node."""
    assert in_plain_words(upstream) == plain


def test_what_a_gang_lacks_is_counted_in_the_right_number() -> None:
    reasons = reprieve.plan([node("n", 2), *gang(2, 2)], "pg/ml/gang", now=NOW).to_dict()["reasons"]
    assert "1 of 2 pods would find a node; 1 more must, to run 2 at once." in reasons
    assert "Together its pods ask for 4 cpu; at most 2 can be free on 1 node that would take them." in reasons
