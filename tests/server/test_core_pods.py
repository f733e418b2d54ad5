"""Pods: what the server fills in, binding, eviction, and what may not change."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.wire import PODS, Wire, connected, pod

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


def with_resources(**resources: dict[str, str]) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "busybox:1", "resources": resources}]}


async def test_a_pod_gets_the_defaults_of_a_real_server(wire: Wire) -> None:
    created = (await wire.post(PODS, pod("a", **with_resources(limits={"cpu": "2", "memory": "1Gi"})))).body
    spec = created["spec"]
    assert spec["schedulerName"] == "default-scheduler"
    assert spec["restartPolicy"] == "Always"
    assert spec["terminationGracePeriodSeconds"] == 30
    assert spec["priority"] == 0
    assert spec["preemptionPolicy"] == "PreemptLowerPriority"
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "2", "memory": "1Gi"}
    assert [t["key"] for t in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert created["status"] == {"phase": "Pending", "qosClass": "Guaranteed"}
    assert created["metadata"]["generation"] == 1


async def test_equal_specs_lead_to_equal_pods_however_often_they_come(wire: Wire) -> None:
    specs = []
    for i in range(3):
        created = (await wire.post(PODS, pod(f"p-{i}", **with_resources(requests={"cpu": "1"})))).body
        specs.append((created["spec"], created["status"]))
        assert created["metadata"]["name"] == f"p-{i}"
    assert specs[0] == specs[1] == specs[2]
    assert specs[0][1]["qosClass"] == "Burstable"


async def test_a_priority_class_gives_its_value_and_a_changed_set_of_classes_counts_at_once(
    wire: Wire,
) -> None:
    assert (await wire.post(PODS, pod("before"))).body["spec"]["priority"] == 0
    await wire.post(CLASSES, {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    high = (await wire.post(PODS, pod("high", priorityClassName="high"))).body["spec"]
    assert (high["priority"], high["preemptionPolicy"]) == (1000, "Never")
    await wire.post(CLASSES, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    usual = (await wire.post(PODS, pod("after"))).body["spec"]
    assert (usual["priority"], usual["priorityClassName"]) == (7, "usual")
    refused = await wire.post(PODS, pod("x", priorityClassName="missing"))
    assert (refused.status, refused.reason) == (403, "Forbidden")
    assert "no PriorityClass with name missing was found" in refused.message


async def test_a_gated_pod_says_so(wire: Wire) -> None:
    created = (await wire.post(PODS, pod("a", schedulingGates=[{"name": "example.com/wait"}]))).body
    condition = created["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled",
        "False",
        "SchedulingGated",
    )
    refused = await wire.post(f"{PODS}/a/binding", {"target": {"name": "n1"}})
    assert (refused.status, "non-empty .spec.schedulingGates" in refused.message) == (409, True)
    assert (await wire.patch(f"{PODS}/a", {"spec": {"schedulingGates": []}})).status == 200
    assert (await wire.post(f"{PODS}/a/binding", {"target": {"name": "n1"}})).status == 201


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"containers": []}, "spec.containers"),
        ({"containers": [{"image": "x"}]}, "spec.containers[0].name"),
        ({"containers": [{"name": "a"}]}, "spec.containers[0].image"),
        (
            {"containers": [{"name": "a", "image": "x"}, {"name": "a", "image": "x"}]},
            "spec.containers[1].name",
        ),
        (with_resources(requests={"cpu": "-1"}), "spec.containers[0].resources.requests"),
        (with_resources(requests={"cpu": "2"}, limits={"cpu": "1"}), "spec.containers[0].resources.requests"),
        ({"restartPolicy": "Sometimes"}, "spec.restartPolicy"),
        ({"activeDeadlineSeconds": 0}, "spec.activeDeadlineSeconds"),
        ({"nodeName": "Not A Node"}, "spec.nodeName"),
    ],
)
async def test_a_pod_that_cannot_run_is_refused_by_field(
    wire: Wire, spec: dict[str, Any], field: str
) -> None:
    refused = await wire.post(PODS, pod("a", **spec))
    assert (refused.status, refused.reason) == (422, "Invalid")
    assert any(cause["field"].startswith(field) for cause in refused.body["details"]["causes"])


async def test_a_running_pod_keeps_its_spec(wire: Wire) -> None:
    created = (await wire.post(PODS, pod("a"))).body
    changed = created["spec"] | {"hostNetwork": True}
    refused = await wire.put(f"{PODS}/a", created | {"spec": changed})
    assert refused.status == 422
    assert "pod updates may not change fields other than" in refused.message
    image = {"spec": {"containers": [{**created["spec"]["containers"][0], "image": "busybox:2"}]}}
    assert (await wire.patch(f"{PODS}/a", image)).body["metadata"]["generation"] == 2
    assert (await wire.patch(f"{PODS}/a", {"spec": {"nodeName": "n1"}})).status == 422


async def test_binding_assigns_a_pod_once(wire: Wire) -> None:
    created = await wire.post(PODS, pod("a"))
    await wire.patch(f"{PODS}/a/status", {"status": {"nominatedNodeName": "n1"}})
    wrong = {"metadata": {"uid": "other"}, "target": {"name": "n1"}}
    assert (await wire.post(f"{PODS}/a/binding", wrong)).status == 409
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "a", "uid": created.body["metadata"]["uid"]},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"},
    }
    bound = await wire.post(f"{PODS}/a/binding", binding)
    assert (bound.status, bound.body["status"], bound.body["code"]) == (201, "Success", 201)
    shown = (await wire.get(f"{PODS}/a")).body
    assert shown["spec"]["nodeName"] == "n1"
    assert "nominatedNodeName" not in shown["status"]
    scheduled = shown["status"]["conditions"][0]
    assert (scheduled["type"], scheduled["status"]) == ("PodScheduled", "True")
    again = await wire.post(f"{PODS}/a/binding", binding)
    assert (again.status, again.message) == (
        409,
        'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
    )


async def test_the_old_bindings_resource_binds_too(wire: Wire) -> None:
    await wire.post(PODS, pod("a"))
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}
    assert (await wire.post("/api/v1/namespaces/default/bindings", binding)).status == 201
    assert (await wire.get(f"{PODS}/a")).body["spec"]["nodeName"] == "n1"
    assert (await wire.post("/api/v1/namespaces/default/bindings", {"metadata": {"name": "a"}})).status == 422


async def _running(wire: Wire, name: str, ready: bool = True) -> None:
    document = pod(name, nodeName="n1")
    document["metadata"]["labels"] = {"app": "web"}
    await wire.post(PODS, document)
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    await wire.patch(f"{PODS}/{name}/status", {"status": {"phase": "Running", "conditions": conditions}})


async def _budget(wire: Wire, name: str = "web", **status: Any) -> None:
    budget = {
        "metadata": {"name": name},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    await wire.post(BUDGETS, budget)
    observed = {"observedGeneration": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
    await wire.patch(f"{BUDGETS}/{name}/status", {"status": observed | status})


async def test_an_eviction_takes_from_the_budget_until_nothing_is_left(wire: Wire) -> None:
    await _running(wire, "a")
    await _running(wire, "b")
    await _budget(wire, disruptionsAllowed=1)
    evicted = await wire.post(f"{PODS}/a/eviction", {"metadata": {"name": "a"}})
    assert (evicted.status, evicted.body["status"]) == (201, "Success")
    leaving = (await wire.get(f"{PODS}/a")).body
    assert "deletionTimestamp" in leaving["metadata"]
    target = next(c for c in leaving["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert target["reason"] == "EvictionByEvictionAPI"
    status = (await wire.get(f"{BUDGETS}/web")).body["status"]
    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == ["a"]
    refused = await wire.post(f"{PODS}/b/eviction", {"metadata": {"name": "b"}})
    assert (refused.status, refused.reason) == (429, "TooManyRequests")
    assert refused.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert refused.body["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget web needs 1 healthy pods and has 2 currently",
        }
    ]
    assert "deletionTimestamp" not in (await wire.get(f"{PODS}/b")).body["metadata"]


async def test_a_budget_that_its_controller_has_not_seen_yet_asks_to_wait(wire: Wire) -> None:
    await _running(wire, "a")
    await _budget(wire, disruptionsAllowed=5, observedGeneration=0)
    refused = await wire.post(f"{PODS}/a/eviction", {})
    assert (refused.status, refused.headers["Retry-After"]) == (429, "10")


async def test_a_pod_that_is_not_ready_may_go_when_the_others_are_enough(wire: Wire) -> None:
    await _running(wire, "sick", ready=False)
    await _budget(wire, disruptionsAllowed=0)
    assert (await wire.post(f"{PODS}/sick/eviction", {})).status == 201
    assert (await wire.get(f"{BUDGETS}/web")).body["status"]["disruptionsAllowed"] == 0


async def test_budgets_do_not_protect_a_pod_that_never_ran(wire: Wire) -> None:
    document = pod("a")
    document["metadata"]["labels"] = {"app": "web"}
    await wire.post(PODS, document)
    await _budget(wire, disruptionsAllowed=0)
    assert (await wire.post(f"{PODS}/a/eviction", {})).status == 201
    assert (await wire.get(f"{PODS}/a")).status == 404


async def test_an_eviction_can_be_tried_and_can_shorten_the_grace(wire: Wire) -> None:
    await _running(wire, "a")
    assert (await wire.post(f"{PODS}/a/eviction", {"deleteOptions": {"dryRun": ["All"]}})).status == 201
    assert "deletionTimestamp" not in (await wire.get(f"{PODS}/a")).body["metadata"]
    assert (await wire.post(f"{PODS}/a/eviction", {"deleteOptions": {"gracePeriodSeconds": 3}})).status == 201
    assert (await wire.get(f"{PODS}/a")).body["metadata"]["deletionGracePeriodSeconds"] == 3
    assert (await wire.post(f"{PODS}/missing/eviction", {})).status == 404


async def test_two_budgets_over_one_pod_are_an_error_as_upstream(wire: Wire) -> None:
    await _running(wire, "a")
    await _budget(wire, "one", disruptionsAllowed=1)
    await _budget(wire, "two", disruptionsAllowed=1)
    refused = await wire.post(f"{PODS}/a/eviction", {})
    assert refused.status == 500
    assert "more than one PodDisruptionBudget" in refused.message
