"""A gang of pods alike is placed in waves; every pod gets the node it would get if it were placed by
itself.
"""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.objects.decode import decode
from reprieve.placement import DEFAULT, PodFilters, Scoring, place, place_gang
from reprieve.placement.scan import Scan, scan_of
from reprieve.placement.sentences import groups
from reprieve.placement.single import best, feasible_list
from tests import builders
from tests.builders import Document
from tests.scale import examples
from tests.strategies.choices import Choices

pod = partial(builders.pod, namespace="a")
SHAPE = ((0, 0), (30, 80), (100, 20))
SCORINGS = {
    kind: Scoring(kind, DEFAULT.weights, SHAPE if kind == "RequestedToCapacityRatio" else ())
    for kind in ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
}


def _empty_node(number: int, size: int, pool: str = "x") -> Document:
    return builders.node(f"n{number}", size, memory=size, pods=9, labels={"pool": pool})


def _node(choices: Choices, number: int, sizes: list[int]) -> Document:
    cpu, memory = choices.one_of(sizes), choices.one_of(sizes)
    node = _empty_node(number, cpu, choices.one_of("xyz"))
    node["status"]["allocatable"]["memory"] = str(memory)
    if choices.chance(20):
        node["status"]["images"] = [{"names": ["i:latest"], "sizeBytes": 800 * 2**20}]
    if choices.chance(30):
        effects = [
            choices.one_of(("PreferNoSchedule", "PreferNoSchedule", "NoSchedule"))
            for _ in range(choices.number(1, 3))
        ]
        node["spec"] = {"taints": [{"key": f"k{i}", "effect": effect} for i, effect in enumerate(effects)]}
    return node


def _spec(choices: Choices) -> Document:
    requests = {"cpu": choices.one_of(("", "1", "2", "1500m")), "memory": choices.one_of(("", "1", "3"))}
    container = {
        "name": "c",
        "image": "i",
        "resources": {"requests": {k: v for k, v in requests.items() if v}},
    }
    spec: Document = {"containers": [container]}
    if choices.chance(20):
        spec["resources"] = {"requests": {"cpu": "2"}}
    if choices.chance(20):
        about = {"topologyKey": "pool", "labelSelector": {"matchLabels": {"app": "b"}}}
        rules = choices.one_of(
            (
                {"requiredDuringSchedulingIgnoredDuringExecution": [about]},
                {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 50, "podAffinityTerm": about}
                    ]
                },
            )
        )
        spec["affinity"] = {choices.one_of(("podAffinity", "podAntiAffinity")): rules}
    elif choices.chance(30):
        terms = [{"matchExpressions": [{"key": "pool", "operator": "In", "values": [pool]}]} for pool in "xy"]
        preferred = [{"weight": choices.number(1, 100), "preference": term} for term in terms]
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    return spec


def _one_by_one(cluster: Cluster, rows: list[int], scoring: Scoring) -> list[tuple[int, int]]:
    mark = cluster.checkpoint()
    placed = []
    for row in rows:
        slot = place(PodFilters(cluster, row), scoring)
        if slot is not None:
            cluster.attach(row, slot)
            placed.append((row, slot))
    cluster.rollback(mark)
    return placed


@pytest.mark.parametrize("kind", SCORINGS)
def test_pods_alike_go_together_where_they_would_go_one_by_one(kind: str) -> None:
    """Alike: of one class, or of classes that differ in labels only, like the pods of an indexed Job."""

    @examples(250)
    @given(st.data())
    def agree(data: st.DataObject) -> None:
        choices = Choices(data.draw)
        sizes = [choices.number(1, 12) for _ in range(choices.number(1, 3))]
        cluster = Cluster()
        for number in range(choices.number(1, 14)):
            cluster.set(decode(_node(choices, number, sizes)))
        specs = [_spec(choices) for _ in range(choices.one_of((1, 1, 2)))]
        names = [f"p{number}" for number in range(choices.number(1, 40))]
        spec, apps = specs[0], choices.one_of(("a", "ab", "abcd"))
        for name in names:
            spec = choices.one_of(specs) if choices.chance(20) else spec
            cluster.set(decode(pod(name, labels={"app": choices.one_of(apps)}, **spec)))
        rows = [cluster.pods.row_of[f"a/{name}"] for name in names]
        used = cluster.nodes.used.copy()
        expected = _one_by_one(cluster, rows, SCORINGS[kind])
        found = place_gang(cluster, rows, 1, 0, SCORINGS[kind])
        assert [(each.row, each.slot) for each in found.assigned] == expected
        assert sorted([*found.failed, *(row for row, _ in expected)]) == sorted(rows)
        assert np.array_equal(cluster.nodes.used, used)

    agree()


@examples(300)
@given(st.data())
def test_the_best_node_is_the_same_however_many_were_put_in_order_before(data: st.DataObject) -> None:
    """As pods of two kinds come and go, each kind's best node is the one that a fresh list says."""
    choices = Choices(data.draw)
    cluster = Cluster()
    for number in range(choices.number(1, 30)):
        cluster.set(decode(_empty_node(number, choices.one_of((2, 2, 3, 12)))))
    for number in range(24):
        cluster.set(decode(pod(f"p{number}", cpu=("1", "1500m")[number % 2])))
    placed: list[int] = []
    for number in range(24):
        row = cluster.pods.row_of[f"a/p{number}"]
        if placed and choices.chance(25):
            cluster.detach(placed.pop(choices.number(0, len(placed) - 1)))
        scan = scan_of(cluster, cluster.class_of(row), DEFAULT)
        fresh = Scan(cluster, cluster.class_of(row), DEFAULT)
        slots = feasible_list(cluster, fresh.fits)
        expected = best(slots, fresh.scores[slots]) if len(slots) else None
        assert scan.first() == expected
        if expected is not None:
            cluster.attach(row, expected)
            placed.append(row)


def test_a_gang_is_given_up_at_the_first_pod_it_cannot_do_without() -> None:
    cluster = Cluster()
    cluster.set(decode(_empty_node(0, 2)))
    rows = []
    for number in range(9):
        cluster.set(decode(pod(f"p{number}")))
        rows.append(number)
    found = place_gang(cluster, rows, min_count=7, running=1)
    assert [each.row for each in found.assigned] == [0, 1]
    assert found.failed == [2, 3, 4, 5]
    assert found.status == groups.cannot_reach_minimum(7, scheduled=3, remaining=3)


def test_a_mate_of_another_kind_that_keeps_others_away_is_heeded_by_the_rest_of_the_gang() -> None:
    """The first pods of a class met nobody's anti-affinity; the ones after such a pod must."""
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "pool", "labelSelector": {"matchLabels": {"app": "worker"}}}
            ]
        }
    }
    cluster = Cluster()
    for number, pool in enumerate("xy"):
        cluster.set(decode(_empty_node(number, 9, pool)))
    lord, worker = {"app": "lord"}, {"app": "worker"}
    for each in (
        pod("p0", 3, labels=worker),
        pod("p1", 3, labels=lord, affinity=apart),
        pod("p2", 3, labels=worker),
        pod("p3", 3, labels=worker),
    ):
        cluster.set(decode(each))
    rows = [0, 1, 2, 3]
    found = place_gang(cluster, rows, 4, 0)
    slots = [each.slot for each in found.assigned]
    assert len(slots) == 4
    assert slots[1] not in (slots[0], slots[2], slots[3])


def test_a_node_that_is_full_changes_how_the_preferences_for_the_others_are_scaled() -> None:
    """`first` and `second` score alike at first; once `first` is full `third` is the better one."""
    cluster = Cluster()
    for name, cpu, pool in (("first", "1", "x"), ("second", "4", "y"), ("third", "2", "z")):
        cluster.set(decode(builders.node(name, cpu, memory="1000Gi", pods=1, labels={"pool": pool})))
    preferred = [
        {
            "weight": weight,
            "preference": {"matchExpressions": [{"key": "pool", "operator": "In", "values": [pool]}]},
        }
        for pool, weight in (("x", 100), ("y", 72), ("z", 80))
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    for number in range(3):
        cluster.set(decode(pod(f"p{number}", affinity=affinity)))
    found = place_gang(cluster, [0, 1, 2], 3, 0)
    assert [cluster.nodes.names[each.slot] for each in found.assigned] == ["first", "third", "second"]
