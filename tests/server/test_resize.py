"""More or less cpu and memory for a pod that runs."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests import builders
from tests.server.wire import PODS, Answer, Wire, connected

STRATEGIC = "application/strategic-merge-patch+json"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        await wire.post("/api/v1/nodes", builders.node("n", cpu="4", memory="8Gi"))
        yield wire


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "i", "resources": resources}


async def running(wire: Wire, **resources: Any) -> dict[str, Any]:
    spec = {"nodeName": "n", "containers": [container(**resources)]}
    made = await wire.post(PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert made.status == 201
    document: dict[str, Any] = made.body
    return document


async def resized(wire: Wire, **resources: Any) -> Answer:
    patch = {"spec": {"containers": [{"name": "c", "resources": resources}]}}
    return await wire.patch(f"{PODS}/p/resize", patch, STRATEGIC)


async def test_a_pod_gets_what_its_node_has(wire: Wire) -> None:
    pod = await running(wire, requests={"cpu": "1", "memory": "1Gi"})
    answer = await resized(wire, requests={"cpu": "3"})
    assert answer.status == 200
    requests = answer.body["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "3", "memory": "1Gi"}
    assert answer.body["metadata"]["generation"] == pod["metadata"]["generation"] + 1
    assert (await wire.get(f"{PODS}/p/resize")).body == (await wire.get(f"{PODS}/p")).body
    answer.body["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "500m"
    assert (await wire.put(f"{PODS}/p/resize", answer.body)).status == 200
    assert (await wire.put(f"{PODS}/p/resize", answer.body)).status == 409


async def test_what_the_node_does_not_have_is_refused_with_the_numbers(wire: Wire) -> None:
    await running(wire, requests={"cpu": "1"})
    await wire.post(PODS, builders.pod("other", 2, on="n"))
    refused = await resized(wire, requests={"cpu": "2500m"})
    assert refused.status == 403
    assert "the resize needs 1500m more cpu, and node n has 1 left" in refused.message


@pytest.mark.parametrize(
    ("resources", "sentence"),
    [
        ({"requests": {"example.com/gpu": "1"}}, "only cpu and memory resources are mutable"),
        ({"requests": {"memory": None}}, "resource requests cannot be removed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Pod QOS Class may not change as a result of resizing"),
        ({"requests": {"cpu": "2"}, "claims": [{"name": "x"}]}, "only cpu and memory resources are mutable"),
    ],
)
async def test_only_amounts_of_cpu_and_memory_change(wire: Wire, resources: Any, sentence: str) -> None:
    await running(wire, requests={"cpu": "1", "memory": "1Gi"})
    refused = await resized(wire, **resources)
    assert (refused.status, sentence in refused.message) == (422, True), refused.message


async def test_nothing_else_changes_by_a_resize_and_nothing_is_resized_without(wire: Wire) -> None:
    await running(wire, requests={"cpu": "1"})
    other = {"spec": {"containers": [{"name": "c", "image": "other"}]}}
    refused = await wire.patch(f"{PODS}/p/resize", other, STRATEGIC)
    assert (refused.status, "only cpu and memory" in refused.message) == (422, True)
    more = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}
    refused = await wire.patch(f"{PODS}/p", more, STRATEGIC)
    assert (refused.status, "pod updates may not change fields" in refused.message) == (422, True)
    refused = await resized(wire, requests={"cpu": "many"})
    assert refused.status == 400
    assert (await wire.patch("/api/v1/namespaces/default/pods/nobody/resize", more, STRATEGIC)).status == 404
