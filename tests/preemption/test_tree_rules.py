"""Rules about trees of groups, one each."""

from typing import Any

import pytest

from reprieve import plan
from reprieve.preemption import Plan, sentences
from tests import builders
from tests.builders import Document, below, in_one

RACK = "topology.kubernetes.io/rack"
TREE = "CompositePodGroup/default/tree"
OWN = pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost"])


def planned(documents: list[Document], algorithm: str, target: str = TREE) -> Plan:
    found = plan(documents, target, {"preemption": {"algorithm": algorithm}})
    assert isinstance(found, Plan)
    return found


def leaf(name: str, size: int, cpu: int = 1, minimum: int | None = None, **group: Any) -> list[Document]:
    return builders.gang(size, cpu, 100, name=name, minimum=minimum, group={**below("tree"), **group})


STEALING = [
    builders.node("n", 4),
    builders.composite("tree", 2, 100),
    *leaf("a", 4, minimum=1),
    *leaf("b", 1),
]
"""Group a may take all of the node, and b needs one cpu of it."""


def test_kube_scheduler_lets_an_early_group_take_what_a_later_one_needs() -> None:
    assert planned(STEALING, "kubernetes").outcome == "unschedulable"


@OWN
def test_every_group_gets_its_minimum_before_any_gets_more(algorithm: str) -> None:
    found = planned(STEALING, algorithm)
    assert found.outcome == "scheduled"
    assert "default/b-0" in found.placements
    assert len(found.placements) == 4


@OWN
def test_a_child_in_two_racks_does_not_stop_a_tree_that_does_not_need_it(algorithm: str) -> None:
    nodes = [builders.node(f"n{number}", 4, labels={RACK: f"r{number}"}) for number in range(2)]
    torn = [
        builders.pod_group("torn", 2, 100, **below("tree"), **in_one(RACK)),
        *(builders.pod(f"torn-{number}", 1, 100, group="torn", on=f"n{number}") for number in range(2)),
        builders.pod("torn-2", 1, 100, group="torn"),
    ]
    documents = [*nodes, builders.composite("tree", 1, 100), *leaf("a", 2), *torn]
    assert planned(documents, "kubernetes").outcome == "unschedulable"
    found = planned(documents, algorithm)
    assert found.outcome == "scheduled"
    assert sorted(found.placements) == ["default/a-0", "default/a-1"]


def test_nobody_makes_way_for_a_group_that_fails() -> None:
    crowd = [builders.pod(f"old-{number}", 1, 1, on="n") for number in range(4)]
    documents = [
        builders.node("n", 4),
        *crowd,
        builders.composite("tree", 1, 100),
        *leaf("a", 5),
        *leaf("b", 1),
    ]
    assert len(planned(documents, "kubernetes").victims) == 4
    assert len(planned(documents, "kep-5710").victims) == 1
    cheapest = planned(documents, "minimal-cost")
    assert len(cheapest.victims) == 1
    assert list(cheapest.placements) == ["default/b-0"]
    assert sentences.least_cost_search(sentences.CHEAPEST) in cheapest.reasons


@OWN
def test_the_root_protects_everything_below_it(algorithm: str) -> None:
    old = [
        builders.composite("old", 1, 1000),
        builders.pod_group("old-a", 1, 1, **below("old")),
        builders.pod("old-0", 4, 1, group="old-a", on="n"),
    ]
    high = builders.pod("high", 4, 100)
    found = planned([builders.node("n", 4), *old, high], algorithm, "Pod/default/high")
    assert found.outcome == "unschedulable"


def test_a_tree_whose_parent_is_missing_waits_and_says_for_what() -> None:
    documents = [builders.node("n", 4), *leaf("a", 1)]
    found = planned(documents, "kep-5710", "PodGroup/default/a")
    assert found.outcome == "gated"
    missing = sentences.tree_is_incomplete("PodGroup/default/a", "CompositePodGroup/default/tree")
    assert missing in found.reasons


def test_a_tree_below_its_quorum_says_which_groups_lack_pods() -> None:
    few = builders.pod_group("b", 2, 100, **below("tree"))
    documents = [builders.node("n", 4), builders.composite("tree", 2, 100), *leaf("a", 1), few]
    found = planned(documents, "kep-5710")
    assert found.message == sentences.below_quorum("tree")
    assert sentences.has_too_few_pods("PodGroup/default/b", 0, 2) in found.reasons


@pytest.mark.parametrize("levels", [3, 4, 1500])
def test_a_tree_ends_where_its_root_is_out_of_sight(levels: int) -> None:
    """Chains of any length are answered: 1,500 levels were a RecursionError."""
    groups = [builders.composite(f"c{number}", 1, parent=f"c{number + 1}") for number in range(levels)]
    groups[-1] = builders.composite(f"c{levels - 1}", 1)
    leaf = builders.pod_group("g", 1)
    leaf["spec"] |= below("c0")
    objects = [builders.node("n", 4), *groups, leaf, builders.pod("p", 1, group="g")]
    top = plan(objects, f"CompositePodGroup/default/c{levels - 1}").to_dict()
    bottom = plan(objects, "PodGroup/default/g").to_dict()
    assert top["outcome"] == ("scheduled" if levels == 3 else "unschedulable")
    assert bottom["outcome"] == ("scheduled" if levels == 3 else "gated")
