"""Many objects at once: the cluster is the same as if they had come one by one."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster, state
from reprieve.cluster.usage import Usage
from reprieve.objects.core import Node, Pod
from reprieve.objects.errors import InvalidObject
from reprieve.objects.meta import Object
from tests import builders
from tests.builders import node, views
from tests.cluster.tables import CLASSES, dressed_up, everything
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import ZONE, Scene, scenes


def both_ways(
    objects: list[Object], gone: list[str], again: list[Object], block: int
) -> tuple[Cluster, Cluster]:
    one_by_one, together = Cluster(), Cluster()
    for cluster in (one_by_one, together):
        cluster.let_groups_rule(True)
        cluster.nodes.topology(ZONE)
    with patch.multiple(state, FEW=1, BLOCK=block):
        for batch in (objects, again):
            for each in batch:
                one_by_one.set(each)
            together.set_all(batch)
            for key in gone:
                kind = Pod if "/" in key else Node
                one_by_one.remove(kind, key)
                together.remove(kind, key)
    return one_by_one, together


@examples(150)
@given(scenes(), st.data())
def test_objects_that_come_together_are_counted_as_if_they_came_one_by_one(
    scene: Scene, data: st.DataObject
) -> None:
    choices = Choices(data.draw)
    objects = views(*CLASSES, *(dressed_up(choices, each) for each in scene[0]))
    gone = [each.key for each in objects if isinstance(each, Pod) and choices.chance(20)]
    again = [each for each in objects if choices.chance(50)]
    if choices.chance(30):  # pods before their nodes and groups
        objects = [*(each for each in objects if isinstance(each, Pod)), *objects]
    if choices.chance(30):  # with a free slot among those of the nodes
        objects = [*views(node("a", 1), node("b", 1)), *objects]
        gone = ["a", *gone]
    one_by_one, together = both_ways(objects, gone, again, choices.one_of((8192, 1, 2, 5)))
    assert everything(together) == everything(one_by_one)
    pods = together.pods
    assert set(pods.noted) == {row for row in pods.row_of.values() if pods.info[row].annotations}


def test_a_list_of_nodes_takes_the_slots_that_others_have_left() -> None:
    first, later = views(node("a"), node("b")), views(node("c"), node("d"))
    one_by_one, together = both_ways(first, ["a"], later, 8192)
    assert together.nodes.names == ["c", "b", "d"]
    assert everything(together) == everything(one_by_one)


def test_parts_of_a_second_count_for_pods_that_come_together() -> None:
    starts = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.25Z", "2026-01-01T00:00:00.5Z")
    pods = views(node("n"), *(builders.pod(f"p{at[17:]}", on="n", start=at) for at in starts))
    one_by_one, together = both_ways(pods, [], [], 8192)
    assert everything(together) == everything(one_by_one)
    assert np.diff(together.pods.start[:3]).tolist() == [250_000, 250_000]


def test_what_stands_between_new_pods_does_not_make_a_list_slow() -> None:
    """A block costs something for every node: pods that come in small groups are taken in one by one."""
    cluster = Cluster()
    counted = 0

    def count_many(*_: object) -> None:
        nonlocal counted
        counted += 1

    pods = [builders.pod(f"p{i}", on="n") for i in range(10)]
    ended = [builders.pod(f"e{i}", on="n", status={"phase": "Succeeded"}) for i in range(10)]
    with patch.object(Usage, "count_many", count_many):
        cluster.set_all(
            views(node("n", 8), *(each for pair in zip(pods, ended, strict=True) for each in pair))
        )
    assert not counted
    assert len(cluster.pods) == 10


def test_a_node_that_cannot_be_read_is_named_and_those_before_it_count() -> None:
    wrong = node("wrong", 8)
    wrong["status"]["allocatable"]["cpu"] = "many"
    cluster = Cluster()
    with pytest.raises(InvalidObject, match="wrong"):
        cluster.set_all(views(node("fine", 8), wrong, node("late", 8)))
    assert "fine" in cluster.nodes.slot_of
    assert "late" not in cluster.nodes.slot_of


def test_a_pod_that_cannot_be_counted_is_named_and_those_before_it_count() -> None:
    fine, wrong = builders.pod("fine", on="n"), builders.pod("wrong", on="n")
    wrong["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "-1"}}
    cluster = Cluster()
    with pytest.raises(InvalidObject, match="wrong"):
        cluster.set_all(views(node("n", 8), fine, wrong, builders.pod("late", on="n")))
    assert "default/fine" in cluster.pods.row_of
    assert "default/late" not in cluster.pods.row_of
    assert np.count_nonzero(cluster.nodes.used[:, 0])
