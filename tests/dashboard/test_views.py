import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.dashboard.fleet_views import fleet_view
from reprieve.dashboard.history import EVERY_SECONDS, History
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.queue_views import waiting_pods
from reprieve.dashboard.quota_views import quota_view
from reprieve.dashboard.views import ClusterViews, View, node_detail
from reprieve.kube.resources import PODS
from reprieve.kube.wire import decoder_of
from reprieve.objects import well_known
from reprieve.objects.decode import decode
from reprieve.quota.rules import Rules
from tests.builders import (
    Document,
    below,
    cluster_queue,
    composite,
    flavor,
    local_queue,
    owned_by,
    terminating,
    workload,
)
from tests.dashboard.manifests import node, pod, pod_group, put, unplaced, worker_cluster
from tests.scale import examples
from tests.strategies.choices import Choices

NOW = datetime(2026, 11, 15, 21, 0, tzinfo=UTC)
TURN = timedelta(minutes=5)


def inventory(*documents: Document) -> Inventory:
    result = Inventory()
    put(result, *documents)
    return result


def cluster_view(state: Inventory) -> View:
    return ClusterViews(state).view(0, NOW)


def test_a_node_shows_the_share_of_its_scarcest_resource_by_priority():
    view = cluster_view(
        inventory(
            node("n"),
            pod("a", on="n", cpu="1", priority=10, group="g"),
            pod("b", on="n", cpu="2", priority=5),
        )
    )
    assert view["bands"] == [5, 10]
    assert view["nodes"][0]["shares"] == [[5, "", 0.5], [10, "dev/g", 0.25]]
    assert (view["nodes"][0]["resource"], view["nodes"][0]["used"]) == ("cpu", 0.75)
    assert view["nodes"][0]["free"] == {"cpu": 1000, "memory": 8 << 30}


RACK = "topology.kubernetes.io/rack"


def in_tree(name: str, pods: int, on: str = "", **spec: Any) -> list[Document]:
    status = None if on else unplaced("0/2 placements are available")
    group = pod_group(name, pods, 100, status=status, **below("blocks"), **spec)
    return [group, *(pod(f"{name}-{i}", group=name, priority=100, on=on) for i in range(pods))]


def test_a_tree_is_one_row_that_holds_its_groups_and_sums_them_up():
    root = composite("train", 1, 100, key=RACK, mode="all", namespace="dev")
    inner = composite("blocks", 2, parent="train", namespace="dev")
    leaves = [*in_tree("a", 2, "n"), *in_tree("b", 3)]
    view = cluster_view(inventory(node("n"), root, inner, *leaves, pod_group("alone", 1)))
    assert [group["group"] for group in view["groups"]] == ["dev/alone"]
    assert (view["summary"]["groups"], view["summary"]["trees"]) == (1, 1)
    [tree] = view["trees"]
    assert (tree["group"], tree["minGroups"], tree["groups"], tree["topology"]) == ("dev/train", 1, 1, RACK)
    assert (tree["running"], tree["pending"], tree["nodes"], tree["whole"]) == (2, 3, 1, True)
    assert tree["message"] == "0/2 placements are available"
    rows = [(row["depth"], row["kind"], row["group"], row["pending"]) for row in tree["rows"]]
    assert rows == [
        (1, "CompositePodGroup", "dev/blocks", 3),
        (2, "PodGroup", "dev/a", 0),
        (2, "PodGroup", "dev/b", 3),
    ]


def test_a_group_whose_tree_is_not_there_stands_for_itself():
    view = cluster_view(inventory(node("n"), *in_tree("a", 1)))
    assert [group["group"] for group in view["groups"]] == ["dev/a"]
    assert view["trees"] == []


def test_composite_groups_that_name_each_other_end_no_view():
    circle = [composite(a, 1, parent=b, namespace="dev") for a, b in (("x", "y"), ("y", "x"))]
    assert cluster_view(inventory(*circle))["trees"] == []


def test_a_node_says_its_rack_whatever_the_label_is_called():
    nodes = [
        node("a", labels={RACK: "r1"}),
        node("b", labels={"cloud.google.com/gce-topology-rack": "r2"}),
        node("c"),
    ]
    assert [each["rack"] for each in cluster_view(inventory(*nodes))["nodes"]] == ["r1", "r2", ""]


def test_nodes_are_listed_as_people_count():
    view = cluster_view(inventory(node("n-10"), node("n-2"), node("n-1")))
    assert [n["name"] for n in view["nodes"]] == ["n-1", "n-2", "n-10"]


def test_a_waiting_group_is_one_line_in_the_queue_with_its_own_reason():
    state = inventory(
        pod_group("train", 2, priority=100, status=unplaced("minCount (2) cannot be satisfied")),
        pod("t-0", group="train", priority=100, status={"nominatedNodeName": "n"}),
        pod("t-1", group="train", priority=100),
        pod("single", priority=500),
    )
    queue = cluster_view(state)["queue"]
    assert [(u["unit"], u["pods"]) for u in queue] == [("Pod/dev/single", 1), ("PodGroup/dev/train", 2)]
    assert queue[1]["why"] == "minCount (2) cannot be satisfied"
    assert queue[1]["nominated"] == ["n"]


def waiting(name: str, why: str, job: str = "sweep", **more: Any) -> Document:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
    document = pod(name, status={"conditions": [condition], **more.pop("status", {})}, **more)
    document["metadata"]["ownerReferences"] = [owned_by("Job", job)]
    return document


def test_waiting_pods_of_one_job_are_one_row_that_says_what_most_of_them_wait_for():
    state = inventory(
        *(waiting(f"s-{i}", "no GPU is free") for i in range(3)),
        waiting("s-3", "a node must be left for others", priority=7, status={"nominatedNodeName": "n"}),
        waiting("other-0", "no GPU is free", job="other"),
        pod("alone"),
    )
    view = cluster_view(state)
    rows = [(u["unit"], u["pods"], u["why"], u["reasons"]) for u in view["queue"]]
    assert rows == [
        ("Job/dev/sweep", 4, "no GPU is free", 2),
        ("Job/dev/other", 1, "no GPU is free", 1),
        ("Pod/dev/alone", 1, "", 0),
    ]
    assert (view["queue"][0]["priority"], view["queue"][0]["nominated"]) == (7, ["n"])
    assert (view["summary"]["waitingUnits"], view["summary"]["pending"]) == (3, 6)
    pods = [(each["pod"], each["nominated"], each["why"]) for each in waiting_pods(state, "Job/dev/sweep")]
    assert pods[0] == ("dev/s-3", "n", "a node must be left for others")
    assert [name for name, _, _ in pods] == ["dev/s-3", "dev/s-0", "dev/s-1", "dev/s-2"]
    assert waiting_pods(state, "Job/dev/nobody") == []


def test_pods_that_joined_their_group_by_label_wait_with_it():
    labels = {"scheduling.x-k8s.io/pod-group": "train"}
    state = inventory(pod_group("train", 2))
    state.put(decoder_of(PODS)(msgspec.json.encode(pod("t-0", labels=labels))))
    assert [u["unit"] for u in cluster_view(state)["queue"]] == ["PodGroup/dev/train"]


def test_a_finished_pod_disappears():
    state = inventory(node("n"), pod("a", on="n"))
    put(state, pod("a", on="n", status={"phase": "Succeeded"}))
    assert cluster_view(state)["summary"]["running"] == 0


def test_a_group_counts_its_running_pods_and_lists_their_nodes():
    state = inventory(
        pod_group("g", 2), pod("a", on="n1", group="g"), pod("b", on="n2", group="g"), pod("c", group="g")
    )
    view = cluster_view(state)["groups"][0]
    assert (view["running"], view["pending"], view["nodes"], view["whole"]) == (2, 1, 2, True)


def test_a_node_in_detail_lists_its_pods_and_those_nominated_to_it():
    state = inventory(
        node("n"), pod("a", on="n", priority=1), pod("b", priority=9, status={"nominatedNodeName": "n"})
    )
    detail = node_detail(state, "n")
    assert detail is not None
    assert [(p["pod"], p["nominated"]) for p in detail["pods"]] == [("dev/b", True), ("dev/a", False)]
    assert {r["name"]: r["used"] for r in detail["resources"]}["cpu"] == 1000


def test_an_unknown_node_has_no_detail():
    assert node_detail(inventory(), "ghost") is None


def test_a_lost_worker_is_shown_with_its_reason():
    view = fleet_view(inventory(worker_cluster("eu", True), worker_cluster("us", False)), TURN)
    assert [(c["name"], c["connected"], c["reason"]) for c in view["clusters"]] == [
        ("eu", True, "Active"),
        ("us", False, "ClientConnectionFailed"),
    ]


def test_who_names_a_class_or_a_stopped_queue_waits_in_its_queue_all_the_same():
    """The page reads no priority classes: whoever named one waited nowhere, and a queue had nobody."""
    ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "calm"}
    pod_class = {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "low"}
    stopped = local_queue("stopped", "main", namespace="ml")
    stopped["spec"]["stopPolicy"] = "Hold"
    shown = inventory(
        flavor(), cluster_queue("main", 1), local_queue("jobs", "main", namespace="ml"), stopped
    )
    waits: list[tuple[str, dict[str, Any]]] = [
        ("jobs", {"priorityClassRef": ref}),
        ("jobs", {"priorityClassRef": pod_class}),
        ("stopped", {}),
    ]
    for number, (queue, spec) in enumerate(waits):
        document = workload(f"late-{number}", 3, queue=queue, namespace="ml")
        document["spec"] |= spec
        put(shown, document)
    [queue] = quota_view(shown, Rules.of(Configuration.load({})), NOW)["queues"]
    told = {each["workload"]: each["why"] for each in queue["waiting"]}
    assert (queue["pending"], set(told)) == (3, {f"ml/late-{number}" for number in range(3)})
    assert told["ml/late-2"] == "LocalQueue stopped is inactive"
    assert "doesn't exist" not in told["ml/late-0"]


def test_history_keeps_what_each_interval_added():
    history = History()
    history.sample(NOW, 3, 0)
    history.sample(NOW, 1, 4)
    assert history.to_dict()["victims"] == (0, 4)


def test_after_a_restart_records_restore_victims_but_not_waiting_pods():
    history = History()
    history.recall([(NOW - timedelta(seconds=12), 3), (NOW - timedelta(seconds=11), 2)], 7, NOW)
    history.recall([(NOW - timedelta(hours=7), 9)], 7, NOW)  # too long ago
    history.sample(NOW, 4, 8)
    told = history.to_dict()
    assert sum(told["victims"]) == 3 + 2 + 1
    assert told["pending"][-1] == 4
    assert set(told["pending"][:-1]) == {None}
    assert {b - a for a, b in zip(told["time"], told["time"][1:], strict=False)} == {EVERY_SECONDS}
    assert history.to_dict(since=int(NOW.timestamp()) - 1)["victims"] == (1,)


@examples(30)
@given(st.data())
def test_views_that_follow_changes_equal_views_made_afresh(data: st.DataObject):
    """Any sequence of changes: what is kept is what would be made anew."""
    choices, state = Choices(data.draw), Inventory()
    views = ClusterViews(state)
    for step in range(choices.number(1, 60)):
        _change(choices, state)
        if step % 3 == 0:
            fresh = Inventory()
            for table in ("nodes", "groups", "pods"):
                for key, each in getattr(state, table).items():
                    getattr(fresh, table)[key] = each
                    fresh._changed(table, key, None, each)
            kept = views.view(0, NOW)
            assert {**kept, "revision": 0} == {**ClusterViews(fresh).view(0, NOW), "revision": 0}


def _change(choices: Choices, state: Inventory) -> None:
    name, host = choices.one_of("abcde"), f"n{choices.number(0, 2)}"
    match choices.number(0, 5):
        case 0:
            put(state, node(host, unschedulable=choices.chance(50)))
        case 1:
            state.remove(decode(node(host)))
        case 2:
            put(state, pod_group(choices.one_of("gh"), choices.number(1, 3)))
        case 3:
            state.remove(decode(choices.one_of([pod_group("g"), pod(name)])))
        case _:
            home = choices.one_of(["", "n0", "n1"])
            nominated = {"nominatedNodeName": "n2"} if not home and choices.chance(50) else {}
            group = choices.one_of(["", "g", "h"])
            put(state, pod(name, on=home, priority=choices.number(0, 2), group=group, status=nominated))


def test_a_long_queue_is_cut_and_its_true_length_is_shown():
    state = inventory(*(pod(f"p-{i}", priority=i) for i in range(600)))
    view = cluster_view(state)
    assert len(view["queue"]) == 500
    assert view["queue"][0]["unit"] == "Pod/dev/p-599"
    assert (view["summary"]["waitingUnits"], view["summary"]["pending"]) == (600, 600)


def test_a_group_counts_its_leaving_pods():
    leaving = terminating(pod("b", on="n", group="g"))
    view = cluster_view(inventory(pod_group("g", 2), pod("a", on="n", group="g"), leaving))
    assert (view["groups"][0]["running"], view["groups"][0]["leaving"]) == (1, 1)
    assert view["summary"]["terminating"] == 1


def test_every_change_moves_the_revision_and_a_kind_not_shown_does_not():
    state = inventory(node("n"))
    before = state.revision
    state.remove(decode(node("n")))
    assert state.revision == before + 1
    state.remove(decode(node("n")))
    assert state.revision == before + 1


def test_a_dispatched_workload_shows_whose_turn_it_is_to_preempt():
    turn = {
        "turn": {"cluster": "eu", "since": "2026-11-15T20:58:00Z", "opened": "2026-11-15T20:58:00Z"},
        "past": {"us": "2026-11-15T20:50:00Z"},
    }
    document = workload(
        metadata={"annotations": {well_known.LEDGER_ANNOTATION: json.dumps(turn)}},
        status={"nominatedClusterNames": ["eu", "us"]},
    )
    gates = fleet_view(inventory(document), TURN)["workloads"][0]["gates"]
    assert gates == [
        {
            "cluster": "eu",
            "position": "Open",
            "since": "2026-11-15T20:58:00Z",
            "until": "2026-11-15T21:03:00Z",
        },
        {
            "cluster": "us",
            "position": "Closed",
            "since": None,
            "until": None,
            "lastTurn": "2026-11-15T20:50:00Z",
        },
    ]
