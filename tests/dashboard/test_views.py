import json
from datetime import UTC, datetime

from reprieve.dashboard.history import History
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.views import cluster_view, fleet_view, node_detail
from reprieve.fleet.names import LEDGER_ANNOTATION
from reprieve.objects.decode import decode
from reprieve.objects.meta import Object
from tests.dashboard.manifests import group, node, pod, worker_cluster

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)


def inventory(*objects: Object) -> Inventory:
    result = Inventory()
    for obj in objects:
        result.put(obj)
    return result


def test_a_node_shows_the_share_of_its_scarcest_resource_by_priority():
    view = cluster_view(
        inventory(node("n"), pod("a", "n", "1", priority=10), pod("b", "n", "2", priority=5)), 0, NOW
    )
    assert view["bands"] == [5, 10]
    assert view["nodes"][0]["bands"] == [0.5, 0.25]
    assert view["nodes"][0]["used"] == 0.75


def test_nodes_are_listed_as_people_count():
    view = cluster_view(inventory(node("n-10"), node("n-2"), node("n-1")), 0, NOW)
    assert [n["name"] for n in view["nodes"]] == ["n-1", "n-2", "n-10"]


def test_a_waiting_group_is_one_line_in_the_queue_with_its_own_reason():
    state = inventory(
        group("train", 2, priority=100, message="minCount (2) cannot be satisfied"),
        pod("t-0", group="train", priority=100, nominatedNodeName="n"),
        pod("t-1", group="train", priority=100),
        pod("single", priority=500),
    )
    queue = cluster_view(state, 0, NOW)["queue"]
    assert [(u["unit"], u["pods"]) for u in queue] == [("Pod/dev/single", 1), ("PodGroup/dev/train", 2)]
    assert queue[1]["why"] == "minCount (2) cannot be satisfied"
    assert queue[1]["nominated"] == ["n"]


def test_a_finished_pod_disappears():
    state = inventory(node("n"), pod("a", "n", phase="Running"))
    state.put(pod("a", "n", phase="Succeeded"))
    assert cluster_view(state, 0, NOW)["summary"]["running"] == 0


def test_a_group_says_how_many_of_its_pods_run_and_where():
    state = inventory(
        group("g", 2), pod("a", "n1", group="g"), pod("b", "n2", group="g"), pod("c", group="g")
    )
    view = cluster_view(state, 0, NOW)["groups"][0]
    assert (view["running"], view["pending"], view["nodes"], view["whole"]) == (2, 1, 2, True)


def test_a_node_in_detail_lists_its_pods_and_those_promised_to_it():
    state = inventory(node("n"), pod("a", "n", priority=1), pod("b", priority=9, nominatedNodeName="n"))
    detail = node_detail(state, "n")
    assert detail is not None
    assert [(p["pod"], p["nominated"]) for p in detail["pods"]] == [("dev/b", True), ("dev/a", False)]
    assert {r["name"]: r["used"] for r in detail["resources"]}["cpu"] == 1000


def test_an_unknown_node_has_no_detail():
    assert node_detail(inventory(), "ghost") is None


def test_a_lost_worker_is_shown_with_its_reason():
    view = fleet_view(inventory(worker_cluster("eu", True), worker_cluster("us", False)))
    assert [(c["name"], c["connected"], c["reason"]) for c in view["clusters"]] == [
        ("eu", True, "Active"),
        ("us", False, "ClientConnectionFailed"),
    ]


def test_history_keeps_what_each_interval_added():
    history = History()
    history.sample(NOW, 3, 0)
    history.sample(NOW, 1, 4)
    assert history.to_dict()["victims"] == (0, 4)


def test_every_change_moves_the_revision_and_a_kind_not_shown_does_not():
    state = inventory(node("n"))
    before = state.revision
    state.remove(node("n"))
    assert state.revision == before + 1
    state.remove(node("n"))
    assert state.revision == before + 1


def test_a_dispatched_workload_shows_whose_turn_it_is_to_preempt():
    turn = {"turn": {"cluster": "eu", "since": "2026-11-15T20:58:00Z", "opened": "2026-11-15T20:58:00Z"}}
    document = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "ml", "annotations": {LEDGER_ANNOTATION: json.dumps(turn)}},
        "spec": {"podSets": []},
        "status": {"nominatedClusterNames": ["eu", "us"]},
    }
    gates = fleet_view(inventory(decode(document)))["workloads"][0]["gates"]
    assert gates == [
        {"cluster": "eu", "position": "Open", "since": "2026-11-15T20:58:00Z"},
        {"cluster": "us", "position": "Closed", "since": None},
    ]
