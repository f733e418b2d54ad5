"""Workloads that have quota and look for domains: failed nodes, delayed requests, elastic slices."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.objects import Placement, Workload, decode_all, expanded
from reprieve.quota import (
    Cause,
    Outcome,
    Quota,
    Refusal,
    Rules,
    cycle,
    is_true,
    load,
    placed_elsewhere,
    sentences,
    with_admitted,
)
from reprieve.quota.topology.step import needs_second_pass
from tests import builders

NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
RACK, HOST = "example.com/rack", "kubernetes.io/hostname"


def racks(*hosts: str, check: str = "") -> list[dict[str, Any]]:
    """Hosts `r1-a` and so on, with 4 cpu each."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    nodes = [
        builders.node(host, 4, labels={RACK: host.split("-")[0], "pool": "a"}, status=ready) for host in hosts
    ]
    named = {"admissionChecks": [{"name": check}]}
    checks: dict[str, Any] = {"admissionChecksStrategy": named} if check else {}
    levels = [{"nodeLabel": RACK}, {"nodeLabel": HOST}]
    return [
        *nodes,
        builders.kueue("Topology", "racks", {"levels": levels}),
        builders.flavor("default", topologyName="racks", nodeLabels={"pool": "a"}),
        builders.cluster_queue("cq", "100", preemption={"withinClusterQueue": "LowerPriority"}, **checks),
        builders.local_queue("main", "cq"),
    ]


def asking(name: str, count: int, request: dict[str, Any], priority: int = 0) -> dict[str, Any]:
    document = builders.workload(name, cpu=4, count=count, priority=priority)
    document["spec"]["podSets"][0]["topologyRequest"] = request
    return document


def running(document: dict[str, Any], *hosts: str) -> dict[str, Any]:
    found = builders.reserved(document)
    slices = [
        {"domainCount": 1, "valuesPerLevel": [{"universal": host}], "podCounts": {"universal": 1}}
        for host in hosts
    ]
    assignment = {"levels": [HOST], "slices": slices}
    found["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] = assignment
    admitted = {"type": "Admitted", "status": "True", "reason": "Admitted"}
    kept = [each for each in found["status"]["conditions"] if each["type"] != "Admitted"]
    found["status"]["conditions"] = [*kept, {**admitted, "lastTransitionTime": "2026-08-23T11:00:00Z"}]
    return found


def lost(document: dict[str, Any], host: str) -> dict[str, Any]:
    document.setdefault("status", {})["unhealthyNodes"] = [{"name": host}]
    return document


def loaded(*objects: dict[str, Any], **gates: bool) -> Quota:
    config = Configuration.load({"featureGates": gates})
    return load(decode_all(list(objects)), Rules.of(config), NOW)


def placement(workload: Workload) -> Placement:
    assert workload.status.admission is not None
    assigned = workload.status.admission.pod_set_assignments[0].topology_assignment
    assert assigned is not None
    return expanded(assigned)


def hosts(outcome: Outcome) -> list[str]:
    return [domain.values[-1] for domain in placement(outcome.reserved[0].workload).domains]


def test_a_workload_without_quota_is_placed_anew_whatever_its_status_says_of_nodes() -> None:
    """The mark of a node that failed before it was evicted must not let it in without domains."""
    quota = loaded(*racks("r1-a", "r1-b"), lost(asking("w", 2, {"required": RACK}), "r1-b"))
    assert hosts(cycle(quota, NOW)) == ["r1-a", "r1-b"]


def test_an_evicted_workload_forgets_the_nodes_that_failed_it() -> None:
    wide = running(asking("w", 2, {"required": RACK}), "r1-a", "r1-b")
    quota = loaded(*racks("r1-a"), lost(wide, "r1-b"))
    [failure] = cycle(quota, NOW).failed
    assert failure.workload.status.unhealthy_nodes == ()


def test_a_failed_node_is_replaced_in_its_rack() -> None:
    wide = running(asking("w", 2, {"required": RACK}), "r1-a", "r1-b")
    quota = loaded(*racks("r1-a", "r1-c", "r2-a", "r2-b"), lost(wide, "r1-b"))
    outcome = cycle(quota, NOW)
    assert hosts(outcome) == ["r1-a", "r1-c"]
    assert outcome.reserved[0].workload.status.unhealthy_nodes == ()
    assert not outcome.evicted


def test_without_another_node_the_workload_goes_and_nobody_else() -> None:
    wide = running(asking("w", 2, {"required": RACK}, priority=10), "r1-a", "r1-b")
    low = running(asking("low", 1, {"required": HOST}), "r1-c")
    quota = loaded(*racks("r1-a", "r1-c", "r2-a"), lost(wide, "r1-b"), low)
    outcome = cycle(quota, NOW)
    assert [each.info.key for each in outcome.failed] == ["default/w"]
    assert outcome.failed[0].message == sentences.no_replacement_node(["r1-b"])
    assert not outcome.evicted
    assert quota.cache.workloads["default/w"].evicted


def test_without_fail_fast_it_waits_longer_and_longer() -> None:
    wide = running(asking("w", 2, {"required": RACK}), "r1-a", "r1-b")
    quota = loaded(*racks("r1-a"), lost(wide, "r1-b"), TASFailedNodeReplacementFailFast=False)
    waits, now = [], NOW
    for _ in range(7):
        assert quota.has_heads(now)
        cycle(quota, now)
        due = quota.second_passes.next_due()
        assert due is not None
        waits.append((due - now).total_seconds())
        now = due
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    assert is_true(quota.cache.workloads["default/w"].workload, "QuotaReserved")


def test_on_a_clock_that_was_set_back_it_waits_no_longer() -> None:
    wide = running(asking("w", 2, {"required": RACK}), "r1-a", "r1-b")
    quota = loaded(*racks("r1-a"), lost(wide, "r1-b"), TASFailedNodeReplacementFailFast=False)
    cycle(quota, NOW)
    before = NOW - timedelta(hours=1)
    assert quota.has_heads(before)
    assert quota.second_passes.seconds_left(before) == 30
    cycle(quota, before)
    assert not quota.has_heads(before)
    assert quota.second_passes.seconds_left(before) == 2


def test_domains_are_given_once_the_provisioned_nodes_exist() -> None:
    spec = {"controllerName": "kueue.x-k8s.io/provisioning-request"}
    check = builders.kueue("AdmissionCheck", "prov", spec)
    check["status"] = {"conditions": [{"type": "Active", "status": "True"}]}
    quota = loaded(*racks("r1-a", check="prov"), check, asking("w", 1, {"required": HOST}))
    first = cycle(quota, NOW).reserved[0].workload
    assert first.topology_pending
    assert not is_true(first, "Admitted")
    ready = {"name": "prov", "state": "Ready", "message": ""}
    document = asking("w", 1, {"required": HOST})
    held = builders.reserved(document)
    held["status"]["admission"]["podSetAssignments"][0]["delayedTopologyRequest"] = "Pending"
    held["status"]["admissionChecks"] = [ready]
    held["status"]["conditions"] = [c for c in held["status"]["conditions"] if c["type"] != "Admitted"]
    quota = loaded(*racks("r1-a", check="prov"), check, held)
    outcome = cycle(quota, NOW)
    assert hosts(outcome) == ["r1-a"]
    assert is_true(outcome.reserved[0].workload, "Admitted")
    assert not outcome.reserved[0].workload.topology_pending


def test_a_slice_that_grows_finishes_the_old_one_and_evicts_nobody() -> None:
    old = running(asking("old", 1, {"unconstrained": True}), "r1-a")
    new = asking("new", 2, {"unconstrained": True})
    new["metadata"]["annotations"] = {
        "kueue.x-k8s.io/elastic-job": "true",
        "kueue.x-k8s.io/workload-slice-replacement-for": "default/old",
    }
    quota = loaded(*racks("r1-a", "r1-b"), old, new, ElasticJobsViaWorkloadSlicesWithTAS=True)
    outcome = cycle(quota, NOW)
    assert hosts(outcome) == ["r1-a", "r1-b"]
    assert [each.info.key for each in outcome.replaced] == ["default/old"]
    assert not outcome.evicted
    assert set(quota.cache.workloads) == {"default/new"}


def test_two_heads_of_one_cycle_get_different_hosts() -> None:
    other = [builders.cluster_queue("cq2", "100"), builders.local_queue("second", "cq2")]
    late = asking("late", 1, {"required": HOST})
    late["spec"]["queueName"] = "second"
    quota = loaded(*racks("r1-a", "r1-b"), *other, asking("early", 1, {"required": HOST}), late)
    outcome = cycle(quota, NOW + timedelta(seconds=1))
    found = {each.info.workload.name: placement(each.workload).domains for each in outcome.reserved}
    assert {domain.values for domains in found.values() for domain in domains} == {("r1-a",), ("r1-b",)}


def test_a_queue_without_its_topology_admits_nothing_and_says_why() -> None:
    objects = [each for each in racks("r1-a") if each["kind"] != "Topology"]
    quota = loaded(*objects, asking("w", 1, {"required": HOST}))
    assert not cycle(quota, NOW).reserved
    found = quota.cache.inactive["cq"][0]
    assert found == Refusal(Cause.TOPOLOGY_MISSING, ("racks", "default"))
    assert found.reason == "TopologyNotFound"


def test_what_a_worker_cluster_places_is_not_placed_by_its_manager() -> None:
    """The manager's workload keeps waiting without a cycle after the other; the worker's word ends it."""
    check = builders.kueue("AdmissionCheck", "mk", {"controllerName": "kueue.x-k8s.io/multikueue"})
    check["status"] = {"conditions": [{"type": "Active", "status": "True"}]}
    objects = [each for each in racks(check="mk") if each["kind"] != "Topology"]
    topology = [each for each in racks() if each["kind"] == "Topology"]
    held = builders.reserved(asking("w", 1, {"required": HOST}))
    held["status"]["admission"]["podSetAssignments"][0]["delayedTopologyRequest"] = "Pending"
    held["status"]["admissionChecks"] = [{"name": "mk", "state": "Ready", "message": ""}]
    held["status"]["conditions"] = [c for c in held["status"]["conditions"] if c["type"] != "Admitted"]
    quota = loaded(*objects, *topology, check, held)
    assert not cycle(quota, NOW).reserved
    assert not quota.has_heads(NOW)
    workload = quota.cache.workloads["default/w"].workload
    done = with_admitted(placed_elsewhere(workload), ready=True, now=NOW)
    assert is_true(done, "Admitted")
    quota.put_workload(done, NOW)
    assert not quota.has_heads(NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    ("states", "conditions", "needed"),
    [
        (["Ready"], [], True),
        (["Ready", "Ready"], [], True),
        (["Ready", "Pending"], [], False),
        ([], [], False),
        (["Ready"], ["Admitted"], False),
        (["Ready"], ["Evicted"], False),
        (["Ready"], ["Finished"], False),
    ],
)
def test_domains_that_were_put_off_are_looked_for_once_every_check_is_ready(
    states: list[str], conditions: list[str], needed: bool
) -> None:
    document = builders.reserved(asking("w", 1, {"required": RACK}))
    document["status"]["admission"]["podSetAssignments"][0]["delayedTopologyRequest"] = "Pending"
    document["status"]["conditions"] += [{"type": each, "status": "True"} for each in conditions]
    checks = [{"name": f"c{number}", "state": state} for number, state in enumerate(states)]
    workload: Workload = builders.view(
        {**document, "status": {**document["status"], "admissionChecks": checks}}
    )
    assert workload.topology_pending
    assert needs_second_pass(workload) is needed
