"""Claims that controllers make for pods: a manifest that no server has seen is planned with them."""

from typing import Any

import reprieve
from reprieve.admission import sentences as admission
from reprieve.whatif import plan_everything, targets
from tests.builders import Document, document, gang, node, pod

CLASS = {
    **document("DeviceClass", "gpu"),
    "apiVersion": "resource.k8s.io/v1",
    "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]},
}
TEMPLATE = {
    **document("ResourceClaimTemplate", "one-gpu"),
    "apiVersion": "resource.k8s.io/v1",
    "spec": {
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
    },
}
ASKS: dict[str, Any] = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]}


def gpus(where: str, count: int) -> Document:
    pool = {"name": where, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{number}"} for number in range(count)]
    spec = {"driver": "gpu.example.com", "nodeName": where, "pool": pool, "devices": devices}
    return {**document("ResourceSlice", f"{where}-gpu"), "apiVersion": "resource.k8s.io/v1", "spec": spec}


def training(parallelism: int, *, name: str = "train", **spec: Any) -> Document:
    containers = [{"name": "c", "image": "i"}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers, **spec}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"parallelism": parallelism, "completions": parallelism, "template": template},
    }


def test_a_pod_gets_the_devices_that_its_template_asks_for() -> None:
    plan: Any = reprieve.plan([node("n"), CLASS, gpus("n", 1), TEMPLATE, pod("p", **ASKS)], "pod/default/p")
    assert (plan.outcome, plan.devices) == (
        "scheduled",
        {"default/p-gpu": {"gpu": ["gpu.example.com/n/gpu-0"]}},
    )


def test_each_pod_of_a_job_has_devices_of_its_own() -> None:
    given = [node("n"), CLASS, gpus("n", 2), TEMPLATE, training(3, **ASKS)]
    plan: Any = reprieve.plan(given, "job/default/train")
    assert plan.outcome == "partial"
    assert [(each.count, each.placed) for each in plan.pod_sets] == [(3, 2)]


def test_pods_of_a_job_that_share_a_claim_follow_its_devices() -> None:
    claim = {
        **document("ResourceClaim", "shared"),
        "apiVersion": "resource.k8s.io/v1",
        "spec": TEMPLATE["spec"]["spec"],
    }
    shared: dict[str, Any] = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}
    given = [node("n"), node("m"), CLASS, gpus("n", 1), gpus("m", 1), claim, training(3, **shared)]
    plan: Any = reprieve.plan(given, "job/default/train")
    assert len(set(plan.placements.values())) == 1


def test_a_template_that_is_not_there_is_named() -> None:
    plan: Any = reprieve.plan([node("n"), CLASS, gpus("n", 1), pod("p", **ASKS)], "pod/default/p")
    assert plan.outcome == "unschedulable"
    missing = [("ResourceClaimTemplate/default/one-gpu", "Pod/default/p")]
    assert admission.claim_templates_are_missing(missing) in plan.reasons


def test_what_a_server_has_stored_waits_for_its_claims() -> None:
    stored = pod("p", metadata={"uid": "u"}, **ASKS)
    plan: Any = reprieve.plan([node("n"), CLASS, gpus("n", 1), TEMPLATE, stored], "pod/default/p")
    assert plan.message == 'DynamicResources: pod "default/p": ResourceClaim not created yet'


def test_the_claim_of_a_group_is_made_once() -> None:
    pods = gang(2, name="g", group=ASKS, **ASKS)
    plan: Any = reprieve.plan([node("n"), CLASS, gpus("n", 1), TEMPLATE, *pods], "podgroup/default/g")
    assert plan.outcome == "scheduled"
    assert plan.devices == {"default/g-gpu": {"gpu": ["gpu.example.com/n/gpu-0"]}}


def test_an_ephemeral_volume_gets_its_claim() -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
        "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer",
    }  # fmt: skip
    wanted: Document = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
    wanted |= {"resources": {"requests": {"storage": "1Gi"}}}
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": wanted}}}]
    plan: Any = reprieve.plan([node("n"), storage, pod("p", volumes=volumes)], "pod/default/p")
    assert plan.outcome == "scheduled"
    assert [*plan.volumes] == ["default/p-scratch"]
    plan = reprieve.plan([node("n"), storage, training(2, volumes=volumes)], "job/default/train")
    assert plan.outcome == "scheduled"


def test_a_later_plan_counts_the_devices_of_the_earlier() -> None:
    """It did not, and said so in a note: both of two pods got the one device."""
    given = [node("n"), CLASS, gpus("n", 1), TEMPLATE, pod("p", **ASKS), pod("q", **ASKS)]
    first, second = plan_everything(given, targets(given))
    assert (first.outcome, second.outcome) == ("scheduled", "unschedulable")
    third = plan_everything([*given, gpus("m", 1), node("m")], targets(given))[1]
    assert third.outcome == "scheduled"


def test_a_later_job_counts_the_devices_of_the_earlier() -> None:
    given = [node("n"), CLASS, gpus("n", 1), TEMPLATE, training(1, **ASKS), training(1, name="b", **ASKS)]
    assert [each.outcome for each in plan_everything(given, targets(given))] == ["scheduled", "unschedulable"]


def test_a_later_plan_counts_the_volumes_of_the_earlier() -> None:
    local: Document = {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
        "status": {"phase": "Available"},
        "spec": {
            "storageClassName": "local", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
        },
    }  # fmt: skip
    storage = {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer",
    }  # fmt: skip
    wanted: Document = {"storageClassName": "local", "accessModes": ["ReadWriteOnce"]}
    wanted |= {"resources": {"requests": {"storage": "1Gi"}}}
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": wanted}}}]
    given = [node("n"), storage, local, pod("p", volumes=volumes), pod("q", volumes=volumes)]
    first, second = plan_everything(given, targets(given))
    assert (first.outcome, second.outcome) == ("scheduled", "unschedulable")
