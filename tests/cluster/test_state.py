"""The cluster in memory: however objects come, the state is the same; what is only supposed leaves no
trace.
"""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import LOST, NOWHERE, Cluster, missing_classes
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.core import Node, Pod
from reprieve.objects.decode import decode
from reprieve.objects.errors import InvalidObject
from reprieve.objects.meta import Object
from reprieve.objects.policy import PodDisruptionBudget
from reprieve.objects.scheduling import PodGroup, PriorityClass
from reprieve.preemption import decide
from tests import builders
from tests.builders import Document, node, priority_class, view, views
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import Scene, scenes

quiet = examples(150)
pod = partial(builders.pod, namespace="a")


def put(cluster: Cluster, *documents: Document) -> None:
    for each in views(*documents):
        cluster.set(each)


def bulk(documents: list[Document]) -> Cluster:
    cluster = Cluster()
    put(cluster, *documents)
    return cluster


def picture(cluster: Cluster) -> dict[str, object]:
    """Everything a decision reads, by name."""
    nodes, pods = cluster.nodes, cluster.pods
    resources = sorted(nodes.resource_index.items())

    def usage(slot: int) -> dict[str, tuple[int, int]]:
        return {
            name: (int(nodes.allocatable[i, slot]), int(nodes.used[i, slot]))
            for name, i in resources
            if nodes.allocatable[i, slot] or nodes.used[i, slot]
        }

    return {
        "order": [nodes.names[slot] for slot in nodes.order],
        "nodes": {name: usage(slot) for name, slot in nodes.slot_of.items()},
        "filled": {name: nodes.filled[:, slot].tolist() for name, slot in nodes.slot_of.items()},
        "pods": {
            key: (
                nodes.names[pods.node[row]] if pods.node[row] >= 0 else int(pods.node[row]),
                int(pods.priority[row]),
                int(pods.start[row]),
                cluster.groups.keys[pods.group[row]] if pods.group[row] >= 0 else "",
                dict(cluster.class_of(row).requests),
            )
            for key, row in pods.row_of.items()
        },
        "order of pods": sorted(pods.row_of, key=lambda key: pods.sequence[pods.row_of[key]]),
        "groups": {
            key: int(cluster.groups.priority[n])
            for key, n in cluster.groups.number_of.items()
            if cluster.groups.exists[n]
        },
        "budgets": [budget.key for budget in cluster.budgets.all],
        "nominated": {
            node: sorted(pods.keys[row] for row in rows) for node, rows in cluster.nominated.items()
        },
    }


@quiet
@given(scenes(), st.data())
def test_one_by_one_with_detours_leads_to_the_same_state_as_in_bulk(
    scene: Scene, data: st.DataObject
) -> None:
    choices = Choices(data.draw)
    documents, target = scene
    cluster = Cluster()
    for document in documents:
        if choices.chance(30):
            _detour(cluster, choices, document)
        cluster.set(decode(document))
    for document in [each for each in documents if choices.chance(33)]:
        cluster.set(decode(_altered(choices, document)))
        cluster.set(decode(document))
    expected = bulk(documents)
    assert picture(cluster) == picture(expected)
    config = Configuration.load(None)
    for_ = Reference.parse(target)
    assert decide(cluster, for_, config, 0) == decide(expected, for_, config, 0)


def _detour(cluster: Cluster, choices: Choices, document: Document) -> None:
    """The object, or a stranger, comes and goes again."""
    stranger = {**document, "metadata": {**document["metadata"], "name": "stranger"}}
    for each in choices.one_of(([document], [stranger], [document, stranger], [stranger, document])):
        view = decode(_altered(choices, each))
        cluster.set(view)
        cluster.remove(type(view), view.key)


def _altered(choices: Choices, document: Document) -> Document:
    meta = {
        **document["metadata"],
        "labels": {**document["metadata"].get("labels", {}), "app": choices.one_of(("one", "two"))},
    }
    changed = {**document, "metadata": meta}
    if document["kind"] == "Pod" and choices.chance(50):
        changed["spec"] = {
            **document["spec"],
            "priority": 5,
            "nodeName": choices.one_of(("", "node-0", "elsewhere")),
        }
    if document["kind"] == "Node":
        changed["status"] = {"allocatable": {"cpu": "1", "pods": "3", "other.test/thing": "2"}}
    if document["kind"] == "PodGroup":
        changed["spec"] = {**document["spec"], "priority": 7}
    return changed


@quiet
@given(scenes(), st.data())
def test_a_rollback_leaves_no_trace(scene: Scene, data: st.DataObject) -> None:
    choices = Choices(data.draw)
    documents, _ = scene
    cluster = bulk(documents)
    before = picture(cluster)
    mark = cluster.checkpoint()
    rows = np.array(list(cluster.pods.row_of.values()), dtype=np.int32)
    placed = rows[cluster.pods.node[rows] >= 0]
    cluster.detach_all(placed[: len(placed) // 2])
    for row in placed[len(placed) // 2 :].tolist():
        cluster.detach(row)
    where = np.array([choices.one_of(cluster.nodes.order.tolist()) for _ in rows], dtype=np.int32)
    half = len(rows) // 2
    cluster.attach_all(rows[:half], where[:half])
    for row, slot in zip(rows[half:].tolist(), where[half:].tolist(), strict=True):
        cluster.attach(row, slot)
    cluster.rollback(mark)
    assert picture(cluster) == before


def test_a_pod_on_an_unknown_node_counts_once_the_node_comes() -> None:
    cluster = Cluster()
    put(cluster, pod("p", on="n"))
    assert cluster.pods.node[0] == LOST
    put(cluster, node("n"))
    assert cluster.nodes.used[0, cluster.pods.node[0]] == 1000
    cluster.remove(Node, "n")
    assert cluster.pods.node[0] == LOST


def test_an_assumed_pod_stays_where_it_was_assumed_until_the_api_shows_it() -> None:
    cluster = Cluster()
    put(cluster, node("n"))
    waiting = view(pod("p"))
    cluster.set(waiting)
    cluster.assume("a/p", "n")
    for _ in range(3):
        cluster.set(waiting)
        assert cluster.nodes.used[0, 0] == 1000
    cluster.forget("a/p")
    assert cluster.nodes.used[0, 0] == 0
    assert cluster.pods.node[0] == NOWHERE


def test_a_finished_pod_is_gone() -> None:
    cluster = Cluster()
    put(cluster, node("n"))
    put(cluster, pod("p", on="n"))
    put(cluster, pod("p", on="n", status={"phase": "Succeeded"}))
    assert len(cluster.pods) == 0
    assert cluster.nodes.used[0, 0] == 0


def test_a_priority_class_that_comes_late_still_counts() -> None:
    cluster = Cluster()
    put(cluster, pod("p", None, "high"))
    assert missing_classes(cluster) == ["high"]
    put(cluster, priority_class("high", 7))
    assert cluster.pods.priority[0] == 7
    assert missing_classes(cluster) == []
    cluster.remove(PriorityClass, "high")
    assert cluster.pods.priority[0] == 0


def test_a_priority_class_that_comes_late_counts_for_a_group_and_its_pods() -> None:
    cluster = Cluster()
    cluster.let_groups_rule(True)
    group = builders.pod_group("g", priority="high", namespace="a")
    put(cluster, group, pod("p", priority=3, group="g"))
    assert cluster.pods.priority[0] == 0
    put(cluster, priority_class("high", 7))
    assert cluster.pods.priority[0] == 7
    cluster.remove(PriorityClass, "high")
    assert cluster.pods.priority[0] == 0


def test_the_default_priority_class_counts_for_a_pod_that_says_nothing() -> None:
    cluster = bulk([priority_class("usual", 7, globalDefault=True), pod("p"), pod("q", priority=3)])
    assert cluster.pods.priority[:2].tolist() == [7, 3]
    cluster.remove(PriorityClass, "usual")
    assert cluster.pods.priority[:2].tolist() == [0, 3]


def test_a_budget_is_as_it_was_last_seen() -> None:
    cluster = bulk([builders.budget("b", 2, namespace="a"), builders.budget("c", 1, namespace="a")])
    assert [each.status.disruptions_allowed for each in cluster.budgets.all] == [2, 1]
    put(cluster, builders.budget("b", 0, namespace="a"))
    assert [each.status.disruptions_allowed for each in cluster.budgets.all] == [0, 1]
    cluster.remove(PodDisruptionBudget, "a/b")
    assert [each.key for each in cluster.budgets.all] == ["a/c"]


def test_an_image_is_known_as_long_as_a_node_holds_it() -> None:
    def holding(name: str, *images: str) -> Document:
        return node(name, status={"images": [{"names": [each], "sizeBytes": 7} for each in images]})

    cluster = bulk([holding("n", "a", "b"), holding("m", "a")])
    assert cluster.nodes.images.holders == {"a": {0: 7, 1: 7}, "b": {0: 7}}
    put(cluster, holding("n", "c"))
    assert cluster.nodes.images.holders == {"a": {1: 7}, "c": {0: 7}}
    cluster.remove(Node, "m")
    assert cluster.nodes.images.holders == {"c": {0: 7}}


@pytest.mark.parametrize(("reason", "cpu"), [("Deferred", 3000), ("Infeasible", 1000)])
def test_a_resize_that_is_known_to_be_impossible_counts_no_longer(reason: str, cpu: int) -> None:
    granted = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"}}]}
    pending = {"type": "PodResizePending", "status": "True", "reason": reason}
    cluster = bulk([node("n"), pod("p", 3, on="n", status=granted)])
    assert cluster.nodes.used[0, 0] == 3000
    put(cluster, pod("p", 3, on="n", status={**granted, "conditions": [pending]}))
    assert cluster.nodes.used[0, 0] == cpu


def test_nodes_are_walked_zone_by_zone_in_turn() -> None:
    cluster = Cluster()
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a"), ("none", "")):
        put(cluster, node(name, zone=zone))
    assert [cluster.nodes.names[slot] for slot in cluster.nodes.order] == ["a1", "b1", "none", "a2", "a3"]


@quiet
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["", "a", "b", "c"])), max_size=25))
def test_the_order_of_nodes_follows_their_coming_and_going(changes: list[tuple[int, str]]) -> None:
    """One by one: zones by their oldest node, then a node of each zone in turn."""
    cluster = Cluster()
    present: dict[str, str] = {}
    for number, zone in changes:
        name = f"n{number}"
        if name in present and not zone:
            del present[name]
            cluster.remove(Node, name)
        else:
            present[name] = zone
            put(cluster, node(name, zone=zone))
        zones: dict[str, list[str]] = {}
        for each, where in present.items():
            zones.setdefault(where, []).append(each)
        rounds = range(max(map(len, zones.values()), default=0))
        expected = [names[turn] for turn in rounds for names in zones.values() if turn < len(names)]
        assert [cluster.nodes.names[slot] for slot in cluster.nodes.order] == expected


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (pod("p", "-1"), "requests[cpu]"),
        (node("n", "-1"), "allocatable[cpu]"),
        (node("n", "lots"), "allocatable[cpu]"),
    ],
)
def test_what_no_amount_can_be_is_refused_with_its_path(document: Document, path: str) -> None:
    with pytest.raises(InvalidObject) as caught:
        put(Cluster(), document)
    assert path in str(caught.value)


def test_absurd_amounts_do_not_overflow() -> None:
    cluster = Cluster()
    put(cluster, node("n", cpu="9E"))
    for i in range(20):
        put(cluster, pod(f"p{i}", "9E", on="n"))
    assert cluster.nodes.used[0, 0] == 20 * 2**53


def test_observed_changes_are_refused_while_a_what_if_is_open() -> None:
    cluster = Cluster()
    put(cluster, node("n"))
    put(cluster, pod("p", None))
    cluster.attach(0, 0)
    with pytest.raises(RuntimeError):
        put(cluster, node("m"))


def test_removing_what_is_not_there_is_harmless() -> None:
    cluster = Cluster()
    kinds: list[type[Object]] = [Pod, Node, PodGroup, PodDisruptionBudget, PriorityClass]
    for kind in kinds:
        cluster.remove(kind, "a/nothing")


def test_a_long_life_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods, classes and groups that are gone give up their places; logs are cut."""
    monkeypatch.setattr("reprieve.cluster.classes.MAX_IDLE", 10)
    monkeypatch.setattr("reprieve.cluster.observed.LONGEST_LOG", 50)
    cluster = Cluster()
    put(cluster, node("n"))
    put(cluster, pod("resident", on="n"))
    for i in range(300):
        put(cluster, pod(f"p{i}", group=f"g{i}", labels={"job": str(i)}))
        plan = decide(
            cluster,
            Reference("Pod", "a", f"p{i}"),
            Configuration.load({"featureGates": {"GenericWorkload": True}}),
            0,
        )
        assert plan.outcome == "gated"
        cluster.assume(f"a/p{i}", "n")
        cluster.remove(Pod, f"a/p{i}")
    assert len(cluster.classes.all) < 20
    assert len(cluster.groups.keys) < 5
    assert cluster.pods.rows < 5
    assert len(cluster.touched) <= 55
    assert cluster.nodes.used[0, 0] == 1000


def test_a_class_with_the_number_of_an_older_one_is_under_its_own_budgets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reprieve.cluster.classes.MAX_IDLE", 0)
    cluster = bulk([builders.budget("b", 1, namespace="a"), pod("p", labels={"app": "b"})])
    cluster.remove(Pod, "a/p")
    old = cluster.classes.all[0]
    assert cluster.budgets.covering(old) == (0,)
    put(cluster, pod("q", labels={"app": "other"}))
    new = cluster.class_of(cluster.pods.row_of["a/q"])
    assert new.id == old.id
    assert cluster.budgets.covering(new) == ()


def test_a_node_that_cannot_be_read_leaves_no_trace() -> None:
    """It had its slot by then: decisions, pods on it and its own end failed on what the slot lacked."""
    cluster, odd = bulk([pod("a", 1)]), node("odd", 2)
    odd["status"]["allocatable"] = {"cpu": "none"}
    with pytest.raises(InvalidObject):
        cluster.set(decode(odd))
    plan = decide(cluster, Reference.parse("Pod/a/a"), Configuration.load(None), 0)
    assert not plan.placements
    put(cluster, pod("on-it", 1, on="odd"))
    assert cluster.pods.node[cluster.pods.row_of["a/on-it"]] == LOST
    cluster.remove(Node, "odd")
    put(cluster, node("odd", 2))
    assert cluster.pods.node[cluster.pods.row_of["a/on-it"]] == cluster.nodes.slot_of["odd"]


def test_a_running_pod_that_cannot_be_read_any_more_keeps_what_it_uses() -> None:
    """It was taken off its node by then, and others were placed on what it uses."""
    cluster = bulk([node("n1", 2), pod("runs", 2, on="n1"), pod("waits", 1)])
    odd = pod("runs", 2, on="n1")
    odd["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "none"}}
    for _ in range(2):
        with pytest.raises(InvalidObject):
            cluster.set(decode(odd))
    assert not decide(cluster, Reference.parse("Pod/a/waits"), Configuration.load(None), 0).placements
    cluster.remove(Pod, "a/runs")
    assert decide(cluster, Reference.parse("Pod/a/waits"), Configuration.load(None), 0).placements
    assert not cluster.nodes.used.any()
