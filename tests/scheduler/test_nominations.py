"""What-ifs about nominations leave the cluster as it was, bit by bit, however they end."""

from typing import Any

import numpy as np
import pytest

from reprieve.cluster import Cluster
from reprieve.objects import Reference, decode
from reprieve.scheduler.nominations import Nominations
from tests.builders import node
from tests.scheduler.world import pod

FIRST, SECOND = Reference("Pod", "ns", "first"), Reference("Pod", "ns", "second")


def columns(cluster: Cluster) -> dict[str, Any]:
    """Every column and table that a supposed change touches, in its order, as bytes."""
    pods, nodes = cluster.pods, cluster.nodes
    return {
        "priority": pods.priority.tobytes(),
        "node": pods.node.tobytes(),
        "used": nodes.used.tobytes(),
        "filled": nodes.filled.tobytes(),
        "info": list(pods.info),
        "nominated": [(name, list(rows)) for name, rows in cluster.nominated.items()],
        "later": [(name, list(rows)) for name, rows in cluster.nominated_later.items()],
        "undo": cluster.checkpoint(),
    }


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    for document in (
        node("n1"),
        node("n2"),
        pod("runs", 1, 1, on="n1"),
        *(pod(name, 1, 50) for name in ("first", "second", "third")),
        pod("small", 1, 2),
    ):
        cluster.set(decode(document))
    return cluster


@pytest.fixture
def nominations(cluster: Cluster) -> Nominations:
    found = Nominations(cluster)
    for name, where in (("first", "n1"), ("second", "n1"), ("third", "n2"), ("small", "n1")):
        view = decode(pod(name, 1, 50 if name != "small" else 2))
        found.make(view, where)  # type: ignore[arg-type]
    return found


def names(cluster: Cluster, on: str) -> list[str]:
    return [cluster.pods.keys[row] for row in cluster.nominated.get(on, ())]


def test_later_equals_stand_aside_and_come_back_to_their_places(
    cluster: Cluster, nominations: Nominations
) -> None:
    before = columns(cluster)
    with nominations.in_order(FIRST, ["ns/first"], 50):
        assert names(cluster, "n1") == ["ns/first", "ns/small"]
        assert names(cluster, "n2") == ["ns/third"]
    assert columns(cluster) == before
    with nominations.in_order(SECOND, ["ns/second"], 50):
        assert names(cluster, "n1") == ["ns/first", "ns/second", "ns/small"], "the first was there before"
    assert columns(cluster) == before


def test_the_less_important_count_like_equals_for_a_while(cluster: Cluster, nominations: Nominations) -> None:
    before, row = columns(cluster), cluster.pods.row_of["ns/small"]
    with nominations.all_kept(50):
        assert cluster.pods.priority[row] == 50
    assert cluster.pods.priority[row] == 2
    assert columns(cluster) == before


def test_an_error_inside_rolls_back_what_it_left_open(cluster: Cluster, nominations: Nominations) -> None:
    before, row = columns(cluster), cluster.pods.row_of["ns/runs"]

    def fail() -> None:
        with nominations.in_order(FIRST, ["ns/first"], 50), nominations.all_kept(50):
            cluster.detach(row)
            cluster.detach_all(np.array([row], np.int32))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert columns(cluster) == before


def test_the_real_cluster_does_not_change_inside_a_what_if(
    cluster: Cluster, nominations: Nominations
) -> None:
    before = columns(cluster)
    with nominations.in_order(FIRST, ["ns/first"], 50):
        for change in (
            lambda: cluster.nominate("ns/third", "n1"),
            lambda: cluster.assume("ns/third", "n2"),
            lambda: cluster.forget("ns/third"),
        ):
            with pytest.raises(RuntimeError, match="what-if is open"):
                change()
    assert columns(cluster) == before
