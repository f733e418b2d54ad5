"""The embedded server about resources: pods, and the templates of what makes pods."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.wire import PODS, Wire, connected, pod

GPU = "nvidia.com/gpu"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


def limited(amount: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "busybox:1", "resources": {"limits": {GPU: amount}}}]}


async def test_half_a_device_is_refused_with_the_field_and_the_value(wire: Wire) -> None:
    answer = await wire.post(PODS, pod("half", **limited("0.5")))
    assert answer.status == 422
    cause = answer.body["details"]["causes"][0]
    assert cause["field"] == f"spec.containers[0].resources.limits[{GPU}]"
    assert "must be an integer" in cause["message"]
    assert "500m" in cause["message"]  # as kube-apiserver spells what it has read


async def test_a_deployment_of_half_devices_is_refused(wire: Wire) -> None:
    labels = {"app": "half"}
    spec: dict[str, Any] = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": limited("0.5")},
    }
    path = "/apis/apps/v1/namespaces/default/deployments"
    answer = await wire.post(path, {"metadata": {"name": "half"}, "spec": spec})
    assert answer.status == 422
    assert (
        answer.body["details"]["causes"][0]["field"]
        == f"spec.template.spec.containers[0].resources.limits[{GPU}]"
    )


async def test_resources_of_a_whole_pod_are_completed_as_a_real_server_does(wire: Wire) -> None:
    whole = pod("whole", cpu=1, resources={"limits": {"cpu": "4", "memory": "1Gi"}})
    created = (await wire.post(PODS, whole)).body
    assert created["spec"]["resources"] == {
        "limits": {"cpu": "4", "memory": "1Gi"},
        "requests": {"cpu": "1", "memory": "1Gi"},
    }


async def test_in_the_network_of_its_node_a_pod_takes_the_ports_of_its_containers(wire: Wire) -> None:
    containers = [{"name": "main", "image": "i", "ports": [{"containerPort": 8080}]}]
    created = (await wire.post(PODS, pod("host", hostNetwork=True, containers=containers))).body
    assert created["spec"]["containers"][0]["ports"] == [
        {"containerPort": 8080, "hostPort": 8080, "protocol": "TCP"}
    ]
