"""Waiting pods count on the node that they are nominated for, as on a live cluster."""

from typing import Any

import reprieve
from tests.builders import Document, composite, gang, node, pod


def nominated(name: str, cpu: int, priority: int, **more: Any) -> Document:
    return pod(name, cpu, priority, status={"nominatedNodeName": "n", "phase": "Pending"}, **more)


def test_a_node_that_is_kept_for_a_more_important_pod_is_not_free() -> None:
    waits = pod("p", 3, 5)
    assert reprieve.plan([node("n", 4), nominated("first", 2, 9), waits], "pod/default/p").outcome == (
        "unschedulable"
    )
    for priority, outcome in ((5, "unschedulable"), (4, "scheduled")):
        plan = reprieve.plan([node("n", 4), nominated("first", 2, priority), waits], "pod/default/p")
        assert plan.outcome == outcome


def test_what_a_pod_or_gang_was_nominated_for_itself_does_not_stand_in_its_way() -> None:
    assert reprieve.plan([node("n", 4), nominated("p", 3, 5)], "pod/default/p").outcome == "scheduled"
    group, *members = gang(3, cpu=1)
    for each in members:
        each["status"] = {"nominatedNodeName": "n", "phase": "Pending"}
    plan = reprieve.plan([node("n", 3), group, *members], "podgroup/default/gang")
    assert plan.outcome == "scheduled"


def test_groups_that_name_each_other_as_parents_are_no_endless_search() -> None:
    circle = [composite("a", 1, parent="b"), composite("b", 1, parent="a")]
    plan = reprieve.plan([node("n", 4), nominated("first", 2, 9), *circle], "cpg/default/a")
    assert plan.outcome != "scheduled"
