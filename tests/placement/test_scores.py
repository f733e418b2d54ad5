"""Scores and the choice among nodes: the worked examples of the specification, and the two forms of every
formula.
"""

import heapq
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.config.sections import ScoredResource, ScoringStrategy, ShapePoint
from reprieve.objects.decode import decode
from reprieve.placement import PodFilters, place
from reprieve.placement.preorder import preorder
from reprieve.placement.resources import (
    DEFAULT,
    OneNode,
    Scoring,
    fits,
    resolve_scoring,
    scores,
)
from reprieve.placement.single import _fewest_best, _most_best, best
from reprieve.placement.static import image_scores
from tests import builders
from tests.builders import Document
from tests.scale import examples

node = partial(builders.node, memory="8Gi", pods=100)
pod = partial(builders.pod, cpu=None, namespace="a")
TWO_SIZES = (node("m", "4", memory="10000"), node("n", "6", memory="10000"))


def cluster_of(*documents: Document) -> Cluster:
    cluster = Cluster()
    for each in documents:
        cluster.set(decode(each))
    return cluster


def fit(cluster: Cluster, scoring: Scoring = DEFAULT, name: str = "a/p") -> list[int]:
    cls = cluster.class_of(cluster.pods.row_of[name])
    one_node = OneNode(cluster, cls, scoring)
    return [one_node.fit_score(slot) for slot in cluster.nodes.order.tolist()]


def test_least_allocated_follows_the_worked_examples() -> None:
    empty = cluster_of(
        node("m", "4", memory="10000"), node("n", "6", memory="10000"), pod("p", cpu="3", memory="5000")
    )
    assert fit(empty) == [37, 50]
    used = cluster_of(node("m"), pod("q", on="m", cpu="500m", memory="1Gi"), pod("p"))
    assert fit(used) == [85]


def test_most_allocated_follows_the_worked_examples() -> None:
    cluster = cluster_of(
        node("m", "4", memory="10000"), node("n", "6", memory="10000"), pod("p", cpu="3", memory="5000")
    )
    assert fit(cluster, resolve_scoring(cluster, ScoringStrategy(type="MostAllocated"))) == [62, 50]


def test_requested_to_capacity_ratio_leaves_out_what_scores_nothing() -> None:
    shape = (ShapePoint(utilization=0, score=0), ShapePoint(utilization=100, score=10))
    strategy = ScoringStrategy(type="RequestedToCapacityRatio", shape=shape)
    cluster = cluster_of(node("m", "4", memory="10000"), pod("p", cpu="3", memory="5000"))
    assert fit(cluster, resolve_scoring(cluster, strategy)) == [63]
    idle = cluster_of(node("m", "4", memory="10000"), pod("p", cpu="0", memory="5000"))
    assert fit(idle, resolve_scoring(idle, strategy)) == [50]


@pytest.mark.parametrize(("percent", "score"), [(33, 82), (70, 70), (99, 41)])
def test_the_shape_is_a_broken_line(percent: int, score: int) -> None:
    shape = tuple(ShapePoint(utilization=u, score=s) for u, s in ((0, 0), (40, 10), (100, 4)))
    only_cpu = (ScoredResource(name="cpu"),)
    cluster = cluster_of(node("m", "100"), pod("p", cpu=str(percent)))
    scoring = resolve_scoring(
        cluster, ScoringStrategy(type="RequestedToCapacityRatio", shape=shape, resources=only_cpu)
    )
    assert fit(cluster, scoring) == [score]


def test_balance_rewards_evening_out() -> None:
    cluster = cluster_of(
        node("m", "4", memory="10000"), node("n", "6", memory="10000"), pod("p", cpu="3", memory="5000")
    )
    cls = cluster.class_of(cluster.pods.row_of["a/p"])
    assert [OneNode(cluster, cls, DEFAULT).balance(slot) for slot in (0, 1)] == [68, 75]
    lopsided = cluster_of(node("m", "3", memory="5000"), pod("q", on="m", cpu="3"), pod("p", memory="5000"))
    assert OneNode(lopsided, lopsided.class_of(lopsided.pods.row_of["a/p"]), DEFAULT).balance(0) == 100


amounts = st.integers(0, 20)


@examples(200)
@given(
    st.lists(st.tuples(amounts, amounts, amounts, amounts), min_size=1, max_size=6),
    amounts,
    amounts,
    st.sampled_from(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]),
)
def test_both_forms_of_every_formula_agree(
    sizes: list[tuple[int, int, int, int]], cpu: int, memory: int, kind: str
) -> None:
    documents = []
    for i, (all_cpu, all_memory, used_cpu, used_memory) in enumerate(sizes):
        documents += [
            node(f"n{i}", str(all_cpu), memory=str(all_memory)),
            pod(f"q{i}", on=f"n{i}", cpu=str(used_cpu), memory=str(used_memory)),
        ]
    cluster = cluster_of(*documents, pod("p", cpu=str(cpu), memory=str(memory)))
    shape = ((0, 0), (30, 80), (100, 20)) if kind == "RequestedToCapacityRatio" else ()
    scoring = Scoring(kind, DEFAULT.weights, shape)
    cls = cluster.class_of(cluster.pods.row_of["a/p"])
    slots = np.arange(len(sizes), dtype=np.int32)
    one_node = OneNode(cluster, cls, scoring)
    for guests in range(3):
        together = scores(cluster, cls, scoring, slots, guests)
        assert [one_node.score(slot, guests) for slot in slots.tolist()] == together.tolist()
        room = fits(cluster, cls, slots, guests)
        assert [one_node.fits(slot, guests) for slot in slots.tolist()] == room.tolist()


def test_scaling_follows_the_worked_examples() -> None:
    assert _fewest_best(np.array([0, 1, 2])).tolist() == [100, 50, 0]
    assert _fewest_best(np.array([1, 3])).tolist() == [67, 0]
    assert _fewest_best(np.array([0, 0])).tolist() == [100, 100]
    assert _most_best(np.array([0, 7, 4])).tolist() == [0, 100, 57]
    assert _most_best(np.array([0, 0])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("size", "order"), [(3, [0, 1, 2]), (5, [0, 1, 3, 4, 2]), (10, [0, 1, 3, 7, 8, 4, 9, 2, 5, 6])]
)
def test_equal_nodes_are_taken_in_pre_order_of_the_heap(size: int, order: list[int]) -> None:
    assert np.argsort(preorder(size)).tolist() == order


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_the_best_node_is_the_root_of_the_heap_that_go_builds(totals: list[int]) -> None:
    heap = list(enumerate(totals))
    for start in range(len(heap) // 2 - 1, -1, -1):
        root = start
        while (child := 2 * root + 1) < len(heap):
            if child + 1 < len(heap) and heap[child + 1][1] > heap[child][1]:
                child += 1
            if heap[child][1] <= heap[root][1]:
                break
            heap[root], heap[child] = heap[child], heap[root]
            root = child
    assert best(np.arange(len(totals), dtype=np.int32), np.array(totals)) == heap[0][0]
    assert heapq.nlargest(1, totals)[0] == totals[heap[0][0]]


def test_images_follow_the_worked_examples() -> None:
    image = {"names": ["big:latest"], "sizeBytes": 250 * 1024 * 1024}
    cluster = cluster_of(node("m", status={"images": [image]}), node("n"), pod("p", image="big"))
    assert image_scores(cluster, cluster.class_of(0)).tolist() == [10, 0]


@pytest.mark.parametrize(("size", "score"), [(23, 0), (33, 1), (999, 99), (1000, 100), (2000, 100)])
def test_an_image_counts_from_23_to_1000_mebibytes(size: int, score: int) -> None:
    image = {"names": ["big:latest"], "sizeBytes": size * 1024 * 1024}
    cluster = cluster_of(node("m", status={"images": [image]}), pod("p", image="big"))
    assert image_scores(cluster, cluster.class_of(0)).tolist() == [score]


def test_system_default_spreading_counts_what_a_service_selects() -> None:
    zone = "topology.kubernetes.io/zone"
    cluster = cluster_of(
        node("a1", labels={zone: "a"}),
        node("a2", labels={zone: "a"}),
        node("b1", labels={zone: "b"}),
        pod("x", on="a1", labels={"app": "s"}),
        pod("y", on="b1", labels={"app": "s"}),
        pod("z", on="b1", labels={"app": "s"}),
        pod("p", labels={"app": "s"}),
    )
    from reprieve.placement.spread import spread_scores

    slots = np.arange(3, dtype=np.int32)
    cls = cluster.class_of(cluster.pods.row_of["a/p"])
    assert spread_scores(cluster, cls, slots) is None
    cluster.set(decode(builders.document("Service", "s", "a", spec={"selector": {"app": "s"}})))
    found = spread_scores(cluster, cls, slots)
    assert found is not None
    assert found.tolist() == [83, 100, 58]


def test_the_end_to_end_example_of_the_specification() -> None:
    zone = {"topology.kubernetes.io/zone": "z"}
    cluster = cluster_of(
        node("a", labels=zone),
        node("b", labels=zone),
        pod("one", on="a", cpu="500m", memory="1Gi", labels={"app": "r"}),
        pod("other", on="b", cpu="2", memory="1Gi"),
    )
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": True}
    owned = pod("p", cpu="500m", memory="1Gi", labels={"app": "r"}, metadata={"ownerReferences": [owner]})
    cluster.set(decode(owned))
    selector = {"matchLabels": {"app": "r"}}
    cluster.set(decode(builders.document("ReplicaSet", "r", "a", spec={"selector": selector})))
    slot = place(PodFilters(cluster, cluster.pods.row_of["a/p"]))
    assert slot is not None
    assert cluster.nodes.names[slot] == "b"
