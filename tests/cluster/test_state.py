"""The cluster in memory: however objects come, the state is the same; what is only supposed leaves no
trace.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import LOST, NOWHERE, Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.core import Node, Pod
from reprieve.objects.decode import decode
from reprieve.objects.errors import InvalidObject
from reprieve.objects.meta import Object
from reprieve.objects.policy import PodDisruptionBudget
from reprieve.objects.scheduling import PodGroup, PriorityClass
from reprieve.preemption import decide
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import Document, Scene, scenes

quiet = examples(150)


def bulk(documents: list[Document]) -> Cluster:
    cluster = Cluster()
    for each in documents:
        cluster.set(decode(each))
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


def pod(name: str, **spec: object) -> Pod:
    view = decode(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "a"}, "spec": spec}
    )
    assert isinstance(view, Pod)
    return view


def node(name: str, **allocatable: str) -> Node:
    status = {"allocatable": {"cpu": "4", "pods": "10", **allocatable}}
    view = decode({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
    assert isinstance(view, Node)
    return view


def containers(**requests: str) -> list[Document]:
    return [{"name": "c", "resources": {"requests": requests}}]


def test_a_pod_on_an_unknown_node_counts_once_the_node_comes() -> None:
    cluster = Cluster()
    cluster.set(pod("p", nodeName="n", containers=containers(cpu="1")))
    assert cluster.pods.node[0] == LOST
    cluster.set(node("n"))
    assert cluster.nodes.used[0, cluster.pods.node[0]] == 1000
    cluster.remove(Node, "n")
    assert cluster.pods.node[0] == LOST


def test_an_assumed_pod_stays_where_it_was_assumed_until_the_api_shows_it() -> None:
    cluster = Cluster()
    cluster.set(node("n"))
    waiting = pod("p", containers=containers(cpu="1"))
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
    cluster.set(node("n"))
    cluster.set(pod("p", nodeName="n", containers=containers(cpu="1")))
    done = decode(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "a"},
            "spec": {"nodeName": "n"},
            "status": {"phase": "Succeeded"},
        }
    )
    cluster.set(done)
    assert len(cluster.pods) == 0
    assert cluster.nodes.used[0, 0] == 0


def test_a_priority_class_that_comes_late_still_counts() -> None:
    cluster = Cluster()
    cluster.set(pod("p", priorityClassName="high", containers=[]))
    assert cluster.missing_classes() == ["high"]
    cluster.set(
        PriorityClass(
            metadata=decode({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "high"}}).metadata,
            value=7,
        )
    )
    assert cluster.pods.priority[0] == 7
    assert cluster.missing_classes() == []
    cluster.remove(PriorityClass, "high")
    assert cluster.pods.priority[0] == 0


def test_nodes_are_walked_zone_by_zone_in_turn() -> None:
    cluster = Cluster()
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a"), ("none", "")):
        labels = {"topology.kubernetes.io/zone": zone} if zone else {}
        cluster.set(
            decode({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
        )
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
            labels = {"topology.kubernetes.io/zone": zone} if zone else {}
            document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
            cluster.set(decode(document))
        zones: dict[str, list[str]] = {}
        for each, where in present.items():
            zones.setdefault(where, []).append(each)
        rounds = range(max(map(len, zones.values()), default=0))
        expected = [names[turn] for turn in rounds for names in zones.values() if turn < len(names)]
        assert [cluster.nodes.names[slot] for slot in cluster.nodes.order] == expected


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        (lambda: pod("p", containers=containers(cpu="-1")), "requests[cpu]"),
        (lambda: node("n", cpu="-1"), "allocatable[cpu]"),
        (lambda: node("n", cpu="lots"), "allocatable[cpu]"),
    ],
)
def test_what_no_amount_can_be_is_refused_with_its_path(obj: object, path: str) -> None:
    with pytest.raises(InvalidObject) as caught:
        Cluster().set(obj())  # type: ignore[operator]
    assert path in str(caught.value)


def test_absurd_amounts_do_not_overflow() -> None:
    cluster = Cluster()
    cluster.set(node("n", cpu="9E"))
    for i in range(20):
        cluster.set(pod(f"p{i}", nodeName="n", containers=containers(cpu="9E")))
    assert cluster.nodes.used[0, 0] == 20 * 2**53


def test_observed_changes_are_refused_while_a_what_if_is_open() -> None:
    cluster = Cluster()
    cluster.set(node("n"))
    cluster.set(pod("p", containers=[]))
    cluster.attach(0, 0)
    with pytest.raises(RuntimeError):
        cluster.set(node("m"))


def test_removing_what_is_not_there_is_harmless() -> None:
    cluster = Cluster()
    kinds: list[type[Object]] = [Pod, Node, PodGroup, PodDisruptionBudget, PriorityClass]
    for kind in kinds:
        cluster.remove(kind, "a/nothing")


def test_a_long_life_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods, classes and groups that are gone give up their places; logs are cut."""
    monkeypatch.setattr("reprieve.cluster.classes.MAX_IDLE", 10)
    monkeypatch.setattr("reprieve.cluster.state.LONGEST_LOG", 50)
    cluster = Cluster()
    cluster.set(node("n"))
    cluster.set(pod("resident", nodeName="n", containers=containers(cpu="1")))
    for i in range(300):
        spec = {"schedulingGroup": {"podGroupName": f"g{i}"}, "containers": containers(cpu="1")}
        fresh = decode(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"p{i}", "namespace": "a", "labels": {"job": str(i)}},
                "spec": spec,
            }
        )
        cluster.set(fresh)
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
