"""Why a tree of groups waits, from what can be seen."""

from datetime import UTC, datetime

from reprieve.explain import Evidence, explain
from tests import builders

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RACK = "topology.kubernetes.io/rack"


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
    assert "0 of 4 pods in 2 groups below it have a node" in answer.sentence
    assert [line.partition(" waits")[0] for line in answer.details] == [
        "PodGroup default/a",
        "PodGroup default/b",
    ]
    assert any(
        "The rack r0 is next best: it would need 1 more eviction." in each for each in answer.waits_for
    )


def test_a_tree_that_nobody_has_seen_is_said_to_be_missing() -> None:
    answer = explain("CompositePodGroup/default/tree", Evidence(racks(0)), NOW)
    assert "does not exist, or may not be seen" in answer.sentence
