"""What the server says about itself, and the scale subresource."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from reprieve.server.registry import Registry, ResourceInfo
from reprieve.server.resources import builtin_resources
from tests.server.wire import Wire, connected

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


async def test_groups_and_versions_are_listed(wire: Wire) -> None:
    assert (await wire.get("/api")).body["versions"] == ["v1"]
    groups = {g["name"]: g for g in (await wire.get("/apis")).body["groups"]}
    assert [v["version"] for v in groups["kueue.x-k8s.io"]["versions"]] == ["v1beta2", "v1beta1"]
    assert groups["kueue.x-k8s.io"]["preferredVersion"]["version"] == "v1beta2"
    assert [v["version"] for v in groups["scheduling.k8s.io"]["versions"]] == [
        "v1",
        "v1beta1",
        "v1alpha3",
    ]
    assert (await wire.get("/apis/batch")).body["kind"] == "APIGroup"
    assert (await wire.get("/apis/none.example")).status == 404


async def test_resources_carry_short_names_categories_and_subresources(wire: Wire) -> None:
    resources = {r["name"]: r for r in (await wire.get("/api/v1")).body["resources"]}
    assert resources["pods"]["shortNames"] == ["po"]
    assert resources["pods"]["categories"] == ["all"]
    assert resources["pods/eviction"] == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    }
    assert "watch" in resources["pods"]["verbs"]
    assert resources["nodes"]["namespaced"] is False


async def test_aggregated_discovery_says_the_same_in_one_answer(wire: Wire) -> None:
    answer = await wire.get("/apis", Accept=AGGREGATED)
    assert answer.headers["Content-Type"].startswith("application/json;g=apidiscovery.k8s.io;v=v2")
    assert answer.body["kind"] == "APIGroupDiscoveryList"
    kinds = {
        (group["metadata"]["name"], version["version"], resource["responseKind"]["kind"])
        for group in answer.body["items"]
        for version in group["versions"]
        for resource in version["resources"]
    }
    assert kinds == {(r.group, r.version, r.kind) for r in builtin_resources() if r.group}
    core = await wire.get("/api", Accept=AGGREGATED)
    assert core.body["items"][0]["versions"][0]["version"] == "v1"


async def test_every_listed_resource_can_be_listed_and_watched(wire: Wire) -> None:
    for resource in builtin_resources():
        prefix = f"/apis/{resource.group}" if resource.group else "/api"
        answer = await wire.get(f"{prefix}/{resource.version}/{resource.plural}")
        if "list" in resource.verbs:
            assert answer.body["kind"] == resource.list_kind
            assert answer.body["apiVersion"] == resource.api_version
        else:
            assert answer.status == 405


async def test_version_health_and_paths_are_served(wire: Wire) -> None:
    assert (await wire.get("/version")).body["gitVersion"].startswith("v1.")
    assert "/apis/batch" in (await wire.get("/")).body["paths"]
    for path in ("/healthz", "/livez", "/readyz"):
        assert (await wire.get(path)).body == b"ok"
    assert (await wire.get("/nothing/here")).body == b"404 page not found\n"


async def test_openapi_is_served(wire: Wire) -> None:
    paths = (await wire.get("/openapi/v3")).body["paths"]
    assert "api/v1" in paths
    assert "components" in (await wire.get(paths["api/v1"]["serverRelativeURL"])).body
    assert (await wire.get("/openapi/v3/apis/none/v1")).status == 404


async def test_verbs_that_a_resource_lacks_are_not_allowed(wire: Wire) -> None:
    assert (await wire.get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")).status == 405
    assert (await wire.put("/api/v1/nodes", {})).status == 405
    assert (await wire.post("/api/v1/nodes/a", {})).status == 405
    assert (await wire("OPTIONS", "/api/v1/nodes")).status == 405


async def test_scale_reads_and_writes_one_number(wire: Wire) -> None:
    template: dict[str, Any] = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    await wire.post(DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec})
    scale = (await wire.get(f"{DEPLOYMENTS}/web/scale")).body
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 2},
        {"replicas": 0, "selector": "a=b"},
    )
    scale["spec"]["replicas"] = 5
    assert (await wire.put(f"{DEPLOYMENTS}/web/scale", scale)).body["spec"] == {"replicas": 5}
    assert (await wire.put(f"{DEPLOYMENTS}/web/scale", scale)).status == 409
    assert (await wire.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 7}})).body["spec"] == {
        "replicas": 7
    }
    assert (await wire.get(f"{DEPLOYMENTS}/web")).body["spec"]["replicas"] == 7
    assert (await wire.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": -1}})).status == 422
    assert (await wire.get("/api/v1/namespaces/default/pods/x/scale")).status == 404


async def test_nobody_can_ask_for_more_pods_than_one_process_can_hold(wire: Wire) -> None:
    template: dict[str, Any] = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    spec = {"replicas": 2**31, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    refused = await wire.post(DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec})
    assert (refused.status, "must be less than or equal to 100000" in refused.message) == (422, True)
    template["spec"]["restartPolicy"] = "Never"
    job = {"metadata": {"name": "j"}, "spec": {"template": template, "parallelism": 10**9, "completions": -1}}
    refused = await wire.post("/apis/batch/v1/namespaces/default/jobs", job)
    assert {c["field"] for c in refused.body["details"]["causes"]} == {"spec.parallelism", "spec.completions"}


def test_versions_are_preferred_in_the_order_of_kubernetes() -> None:
    registry = Registry()
    for version in (
        "v1alpha1",
        "foo1",
        "v11beta2",
        "v10",
        "v1beta1",
        "v2",
        "v11alpha2",
        "v12beta1",
        "foo10",
        "v1",
    ):
        registry.add(ResourceInfo(group="g", version=version, kind="K", plural="ks"))
    assert registry.versions("g") == [
        "v10", "v2", "v1", "v12beta1", "v11beta2", "v1beta1", "v11alpha2", "v1alpha1", "foo1", "foo10",
    ]  # fmt: skip
