"""Objects come, change and go one at a time, in any order, and the state follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reprieve.objects.decode import decode_all
from reprieve.objects.kueue import ClusterQueue, LocalQueue, Workload
from reprieve.quota import Quota, Rules, cycle, evict, release, sentences
from reprieve.quota.offline import load
from reprieve.quota.workload_info import is_true
from tests.builders import Document, cluster_queue, flavor, local_queue
from tests.scale import examples
from tests.strategies.quota import NOW, workload, worlds

BASE = [
    flavor("red"),
    cluster_queue("cq0", flavors=("red",), preemption={"withinClusterQueue": "LowerPriority"}),
    local_queue("lq0", "cq0"),
]


def state(*more: Document) -> Quota:
    quota = load(decode_all([*BASE, *more]), Rules(), NOW)
    quota.put_namespace("default", {})
    return quota


def view(document: Document) -> Workload:
    (found,) = decode_all([document])
    assert isinstance(found, Workload)
    return found


def reserved(quota: Quota) -> list[str]:
    return sorted(each.info.key for each in cycle(quota, NOW).reserved)


def test_a_finished_workload_wakes_those_that_wait_for_its_quota() -> None:
    quota = state(workload("first", 0, {"cpu": 4}, 1, 1, 20), workload("second", 0, {"cpu": 3}, 1, 0, 10))
    assert reserved(quota) == ["default/first"]
    assert reserved(quota) == []
    assert set(quota.pending["cq0"].inadmissible) == {"default/second"}
    quota.drop_workload("default/first", NOW)
    assert reserved(quota) == ["default/second"]


def test_pods_that_are_done_give_their_quota_back_early() -> None:
    quota = state(workload("first", 0, {"cpu": 1}, 4, 1, 20), workload("second", 0, {"cpu": 3}, 1, 0, 10))
    (first,) = cycle(quota, NOW).reserved
    assert reserved(quota) == []
    document = {
        **workload("first", 0, {"cpu": 1}, 4, 1, 20),
        "status": {"reclaimablePods": [{"name": "main", "count": 3}]},
    }
    shrunk = view(document)
    status = first.workload.status
    quota.put_workload(
        replace(first.workload, status=replace(status, reclaimable_pods=shrunk.status.reclaimable_pods)), NOW
    )
    assert reserved(quota) == ["default/second"]


def test_a_victim_keeps_its_quota_until_it_is_released_and_is_not_asked_twice() -> None:
    quota = state(workload("low", 0, {"cpu": 4}, 1, 0, 20))
    assert reserved(quota) == ["default/low"]
    quota.put_workload(view(workload("high", 0, {"cpu": 4}, 1, 5, 10)), NOW)
    first, second = cycle(quota, NOW), cycle(quota, NOW)
    assert [each.victim.info.key for each in first.evicted] == ["default/low"]
    assert second.evicted == [], "it is on its way out already"
    assert second.waiting[0].reason == "WaitingForPreemptedWorkloads"
    quota.put_workload(release(first.evicted[0].workload, NOW), NOW)
    assert reserved(quota) == ["default/high"]


def test_a_failed_write_is_undone_by_putting_what_the_server_has() -> None:
    original = view(workload("first", 0, {"cpu": 4}, 1, 0, 20))
    quota = state()
    quota.put_workload(original, NOW)
    assert reserved(quota) == ["default/first"]
    quota.put_workload(original, NOW)
    assert not quota.cache.workloads
    assert reserved(quota) == ["default/first"]


def test_an_echo_changes_nothing() -> None:
    quota = state(workload("first", 0, {"cpu": 3}, 1, 1, 20), workload("second", 0, {"cpu": 3}, 1, 0, 10))
    (first,) = cycle(quota, NOW).reserved
    waiting = cycle(quota, NOW).waiting[0].workload
    assert waiting is not None
    quota.put_workload(first.workload, NOW)
    quota.put_workload(waiting, NOW)
    assert set(quota.cache.workloads) == {"default/first"}
    assert set(quota.pending["cq0"].inadmissible) == {"default/second"}


def test_opening_its_gate_wakes_a_parked_workload() -> None:
    gated = workload("high", 0, {"cpu": 4}, 1, 5, 10, preemptionGates=[{"name": "example.com/gate"}])
    quota = load(
        decode_all([*BASE, workload("low", 0, {"cpu": 4}, 1, 0, 20)]), Rules(preemption_gates=True), NOW
    )
    assert reserved(quota) == ["default/low"]
    quota.put_workload(view(gated), NOW)
    (waiting,) = cycle(quota, NOW).waiting
    assert waiting.gated
    assert waiting.workload is not None
    assert is_true(waiting.workload, "BlockedOnPreemptionGates")
    assert not quota.has_heads()
    opened = view(
        {**gated, "status": {"preemptionGates": [{"name": "example.com/gate", "position": "Open"}]}}
    )
    quota.put_workload(opened, NOW)
    assert [each.victim.info.key for each in cycle(quota, NOW).evicted] == ["default/low"]


def test_eviction_closes_every_gate_again() -> None:
    status = {"preemptionGates": [{"name": "example.com/gate", "position": "Open"}]}
    evicted = evict(
        view({**workload("a", 0, {"cpu": 1}, 1, 0, 10), "status": status}), "Preempted", "why", NOW
    )
    assert [gate.position for gate in evicted.status.preemption_gates] == ["Closed"]
    assert is_true(evicted, "Evicted")


def test_queues_may_come_after_their_workloads() -> None:
    quota = Quota(Rules())
    flavor, cluster_queue, local = decode_all(BASE)
    assert isinstance(cluster_queue, ClusterQueue)
    assert isinstance(local, LocalQueue)
    quota.put_namespace("default", {})
    quota.put_workload(view(workload("early", 0, {"cpu": 1}, 1, 0, 10)), NOW)
    assert quota.unqueued["default/early"][1].message == sentences.no_such_local_queue("lq0")
    quota.put_local_queue(local, NOW)
    assert quota.unqueued["default/early"][1].message == sentences.no_such_cluster_queue("cq0")
    quota.put_cluster_queue(cluster_queue, NOW)
    assert reserved(quota) == [], "its flavor is missing"
    quota.cache.put_flavor(flavor)  # type: ignore[arg-type]
    assert reserved(quota) == ["default/early"]


@pytest.mark.parametrize("kind", ["queue", "local"])
def test_a_deleted_queue_leaves_its_workloads_unqueued(kind: str) -> None:
    quota = state(workload("waits", 0, {"cpu": 9}, 1, 0, 10))
    if kind == "queue":
        quota.drop_cluster_queue("cq0", NOW)
    else:
        quota.drop_local_queue("default/lq0", NOW)
    assert set(quota.unqueued) == {"default/waits"}
    assert not quota.has_heads()


@examples(40)
@given(objects=worlds(), data=st.data())
def test_any_order_of_arrival_gives_the_same_decisions(objects: list[Document], data: st.DataObject) -> None:
    together = load(decode_all(objects), Rules(), NOW)
    apart = Quota(Rules())
    apart.put_namespace("default", {"kubernetes.io/metadata.name": "default"})
    puts = {
        "ResourceFlavor": lambda each: apart.cache.put_flavor(each),
        "Cohort": lambda each: apart.cache.put_cohort(each),
        "ClusterQueue": lambda each: apart.put_cluster_queue(each, NOW),
        "LocalQueue": lambda each: apart.put_local_queue(each, NOW),
        "Workload": lambda each: apart.put_workload(each, NOW),
    }
    for each in decode_all(data.draw(st.permutations(objects))):
        puts[type(each).__name__](each)
    first, second = cycle(together, NOW), cycle(apart, NOW)
    assert sorted(r.info.key for r in first.reserved) == sorted(r.info.key for r in second.reserved)
    assert sorted(e.victim.info.key for e in first.evicted) == sorted(
        e.victim.info.key for e in second.evicted
    )
