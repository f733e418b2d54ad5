"""Why a tree of groups waits, from what can be seen."""

from datetime import UTC, datetime
from typing import Any

import pytest

import reprieve
from reprieve.explain import Evidence, carried_out, explain
from reprieve.explain.sentences import advice, answers, changes
from tests import builders

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RACK = "topology.kubernetes.io/rack"
TREE = ("CompositePodGroup", "default/tree")


def tree(priority: int = 100) -> list[builders.Document]:
    leaves = [
        each
        for name in ("a", "b")
        for each in builders.gang(2, 2, priority, name=name, group=builders.below("tree"))
    ]
    return [builders.composite("tree", 2, priority, key=RACK), *leaves]


def racks(crowd: int) -> list[builders.Document]:
    nodes = [builders.node(f"n{number}", 4, labels={RACK: f"r{number // 2}"}) for number in range(4)]
    return [*nodes, *(builders.pod(f"old-{number}", 4, 1, on=f"n{number}") for number in range(crowd))]


def test_a_waiting_tree_tells_of_its_groups_and_of_the_racks() -> None:
    answer = explain("cpg/default/tree", Evidence([*racks(3), *tree()]), NOW)
    assert answer.state == "waiting"
    assert answer.sentence == answers.tree_has_nodes_for("CompositePodGroup/default/tree", 0, 4, 2)
    assert answer.details == [answers.group_waits(f"default/{name}", 2, 2, 2, 0) for name in ("a", "b")]
    assert any(
        "The rack r0 is next best: it would need 1 more eviction." in each for each in answer.waits_for
    )


def advised(*documents: builders.Document, target: str = "cpg/default/tree") -> list[str]:
    """What would help; every piece of it does, and then nothing more is needed."""
    answer = explain(target, Evidence(list(documents)), NOW)
    assert [each.sentence for each in answer.remedies] == answer.would_help
    for remedy in answer.remedies:
        after = carried_out(documents, remedy.changes)
        planned = reprieve.plan(after, target, now=NOW)
        assert planned.outcome in ("scheduled", "preempts"), remedy.sentence
        assert not explain(target, Evidence(after), NOW).remedies, remedy.sentence
    return answer.would_help


def leaf(name: str, pods: int, minimum: int | None = None, **more: Any) -> list[builders.Document]:
    return builders.gang(pods, 2, 100, name=name, minimum=minimum, group=builders.below("tree"), **more)


def test_a_tree_that_no_rack_holds_is_told_each_way_out() -> None:
    """Two racks of 4 cpu; the tree needs 2 groups of 4 cpu in one of them."""
    nodes = [builders.node(f"n{number}", 4, labels={RACK: f"r{number}"}) for number in range(2)]
    less, spread = changes.lower_min_group_count("default/tree", 1), changes.drop_topology(*TREE, RACK)
    assert advised(*nodes, *tree()) == [
        advice.remedy([less], advice.its_pods_fit(["n0"], [])),
        advice.remedy([spread], advice.its_pods_fit(["n0", "n1"], [])),
        advice.remedy([changes.add_nodes(2, {"cpu": "2"}, {RACK: "r0"})], advice.its_pods_fit([], [])),
    ]


def test_a_tree_without_enough_pods_is_told_which_to_create() -> None:
    documents = [*racks(0), builders.composite("tree", 2, 100), *leaf("a", 1, 2), *leaf("b", 2)]
    fit = advice.its_pods_fit([f"n{number}" for number in range(4)], [])
    expected = [advice.remedy([changes.create_pods("default/a", 1)], fit)]
    assert advised(*documents) == expected
    assert advised(*documents, target="podgroup/default/b") == expected, "it waits for the tree"


def test_a_tree_without_enough_groups_is_told_how_many_there_are() -> None:
    less, fit = changes.lower_min_group_count("default/tree", 1), advice.its_pods_fit(["n0", "n1"], [])
    assert advised(*racks(0), builders.composite("tree", 2, 100), *leaf("a", 2)) == [
        advice.remedy([less], fit)
    ]


def test_the_priority_that_a_tree_would_need_is_said() -> None:
    important = [builders.pod(f"old-{number}", 4, 500, on=f"n{number}") for number in range(4)]
    first, *_ = advised(*racks(0), *important, *tree())
    fit = advice.its_pods_fit(["n0", "n1"], ["Pod/default/old-0", "Pod/default/old-1"])
    assert first == advice.remedy([changes.set_priority(501)], fit)


def test_a_group_of_a_tree_is_explained_with_the_tree() -> None:
    answer = explain("podgroup/default/a", Evidence([*racks(3), *tree()]), NOW)
    assert answers.placed_with_tree("tree") in answer.details
    assert answer.would_help[0] == advice.preemption_would_help(["default/old-2"])
    assert any("is next best" in each for each in answer.would_help)


def test_a_tree_that_nobody_has_seen_is_said_to_be_missing() -> None:
    answer = explain("CompositePodGroup/default/tree", Evidence(racks(0)), NOW)
    assert answer.sentence == answers.no_such_tree("CompositePodGroup/default/tree")


@pytest.mark.parametrize("levels", [2, 1500])
@pytest.mark.parametrize("closed", [False, True])
def test_chains_and_circles_of_any_length_are_explained(levels: int, closed: bool) -> None:
    """1,500 levels were a RecursionError, or took minutes."""
    above = [f"c{number + 1}" for number in range(levels - 1)] + ["c0" if closed else ""]
    composites = [builders.composite(f"c{number}", 1, parent=name) for number, name in enumerate(above)]
    group = builders.pod_group("g", 1)
    group["spec"] |= builders.below("c0")
    objects = [builders.node("n", 4), *composites, group, builders.pod("p", 9, group="g")]
    for unit in (f"compositepodgroup/default/c{levels - 1}", "pod/default/p"):
        told = explain(unit, Evidence(objects, [], [], []), datetime(2026, 8, 23, tzinfo=UTC), None)
        seen = [answers.tree_has_nodes_for(told.for_, 0, number, number) for number in (0, 1)]
        assert told.sentence in seen or told.for_ == "Pod/default/p", "there is one group"
