"""Kinds that charts bring: stored as Kubernetes stores them, with a warning where nobody here acts on one."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from reprieve.server.resources import STORED, builtin_resources
from tests.server.wire import Wire, connected, pod

NAMESPACE = "namespaces/default"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


def _short(value: object) -> str:
    return value if isinstance(value, str) else ""


BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
PATH = {"path": "/", "pathType": "Prefix", "backend": BACKEND}
HOOK = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://example.com/hook"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
INERT: list[tuple[str, dict[str, Any]]] = [
    (f"networking.k8s.io/v1/{NAMESPACE}/ingresses", {"spec": {"rules": []}}),
    (f"networking.k8s.io/v1/{NAMESPACE}/networkpolicies", {"spec": {"podSelector": {}}}),
    (f"autoscaling/v2/{NAMESPACE}/horizontalpodautoscalers", {"spec": {"maxReplicas": 3}}),
    ("admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {"webhooks": [HOOK]}),
    ("admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"webhooks": [HOOK]}),
    ("storage.k8s.io/v1/csidrivers", {"spec": {}}),
]


@pytest.mark.parametrize(("path", "document"), INERT, ids=str)
async def test_what_nothing_acts_on_is_stored_as_it_comes_with_a_warning(
    wire: Wire, path: str, document: dict[str, Any]
) -> None:
    made = await wire.post(f"/apis/{path}", {"metadata": {"name": "x"}, **document})
    assert made.status == 201, made.body
    warning = f'299 - "{made.body["kind"]}: {STORED}"'
    assert made.headers.getall("Warning") == [warning]
    assert document.get("spec", {}).items() <= made.body.get("spec", {}).items()
    assert document.get("webhooks") == made.body.get("webhooks")
    read = await wire.get(f"/apis/{path}/x")
    assert (read.status, "Warning" in read.headers) == (200, False)
    named = {"apiVersion": "/".join(path.split("/")[:2]), "kind": made.body["kind"]}
    applied = await wire(
        "PATCH",
        f"/apis/{path}/y?fieldManager=me",
        {**named, "metadata": {"name": "y"}, **document},
        {"Content-Type": "application/apply-patch+yaml"},
    )
    assert (applied.status, applied.headers["Warning"]) == (201, warning)


QUIET: list[tuple[str, dict[str, Any]]] = [
    ("networking.k8s.io/v1/ingressclasses", {"spec": {"controller": "example.com/c"}}),
    ("node.k8s.io/v1/runtimeclasses", {"handler": "gvisor"}),
    ("storage.k8s.io/v1/storageclasses", {"provisioner": "example.com/p"}),
    (f"discovery.k8s.io/v1/{NAMESPACE}/endpointslices", {"addressType": "IPv4", "endpoints": []}),
    (f"apps/v1/{NAMESPACE}/controllerrevisions", {"revision": 1, "data": {"a": 1}}),
]


@pytest.mark.parametrize(("path", "document"), QUIET, ids=_short)
async def test_what_means_something_by_being_there_is_stored_without_a_word(
    wire: Wire, path: str, document: dict[str, Any]
) -> None:
    made = await wire.post(f"/apis/{path}", {"metadata": {"name": "x"}, **document})
    assert (made.status, made.headers.get("Warning")) == (201, None)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("storage.k8s.io/v1/storageclasses", {}, "provisioner: Required value"),
    ("node.k8s.io/v1/runtimeclasses", {"handler": "Not A Label"}, "handler: Invalid value"),
]


@pytest.mark.parametrize(("path", "document", "sentence"), REFUSED, ids=_short)
async def test_what_kubernetes_would_refuse_is_refused(
    wire: Wire, path: str, document: dict[str, Any], sentence: str
) -> None:
    refused = await wire.post(f"/apis/{path}", {"metadata": {"name": "x"}, **document})
    assert (refused.status, sentence in refused.message) == (422, True), refused.message


async def test_what_the_author_left_out_is_written_in(wire: Wire) -> None:
    async def made(path: str, document: dict[str, Any]) -> dict[str, Any]:
        answer = await wire.post(f"/apis/{path}", {"metadata": {"name": "x"}, **document})
        assert answer.status == 201
        body: dict[str, Any] = answer.body
        return body

    storage = await made("storage.k8s.io/v1/storageclasses", {"provisioner": "example.com/p"})
    assert (storage["reclaimPolicy"], storage["volumeBindingMode"]) == ("Delete", "Immediate")
    driver = await made("storage.k8s.io/v1/csidrivers", {"spec": {}})
    assert (driver["spec"]["attachRequired"], driver["spec"]["volumeLifecycleModes"]) == (
        True,
        ["Persistent"],
    )


async def test_what_may_not_change_does_not(wire: Wire) -> None:
    path = "/apis/storage.k8s.io/v1/storageclasses"
    await wire.post(path, {"metadata": {"name": "x"}, "provisioner": "example.com/p"})
    refused = await wire.patch(f"{path}/x", {"provisioner": "example.com/q"})
    assert (refused.status, "provisioner: Invalid value" in refused.message) == (422, True)
    path = "/apis/node.k8s.io/v1/runtimeclasses"
    await wire.post(path, {"metadata": {"name": "x"}, "handler": "a"})
    assert (await wire.patch(f"{path}/x", {"handler": "b"})).status == 422


async def test_everything_that_discovery_lists_is_served_and_nothing_else(wire: Wire) -> None:
    groups = (await wire.get("/apis")).body["groups"]
    versions = ["/api/v1"] + [f"/apis/{v['groupVersion']}" for g in groups for v in g["versions"]]
    listed: set[tuple[str, str]] = set()
    for root in versions:
        for resource in (await wire.get(root)).body["resources"]:
            listed.add((root, resource["name"]))
            if "list" in resource["verbs"]:
                answer = await wire.get(f"{root}/{resource['name']}")
                assert (answer.status, answer.body["kind"]) == (200, resource["kind"] + "List")
                if "create" not in resource["verbs"]:
                    refused = await wire.post(f"{root}/{resource['name']}", {"metadata": {"name": "x"}})
                    assert (refused.status, "fake nodes have no devices" in refused.message) == (405, True)
            else:
                assert resource["verbs"] == ["create"] or "/" in resource["name"]
    served = {
        (f"/apis/{r.api_version}" if r.group else f"/api/{r.version}", name)
        for r in builtin_resources()
        for name in (r.plural, *(f"{r.plural}/{sub}" for sub in r.subresources))
    }
    assert listed == served


UNCONDITIONAL = [
    ("/api/v1/namespaces/default/configmaps", {"data": {"a": "b"}}),
    ("/api/v1/namespaces/default/services", {"spec": {"ports": [{"port": 80}]}}),
    ("/api/v1/nodes", {}),
    (f"/apis/rbac.authorization.k8s.io/v1/{NAMESPACE}/roles", {"rules": []}),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 5}),
    (f"/apis/networking.k8s.io/v1/{NAMESPACE}/networkpolicies", {"spec": {"podSelector": {}}}),
    ("/apis/storage.k8s.io/v1/storageclasses", {"provisioner": "example.com/p"}),
]


@pytest.mark.parametrize("version", [None, "", "0"])
@pytest.mark.parametrize(("path", "document"), UNCONDITIONAL, ids=_short)
async def test_an_update_that_names_no_version_overwrites(
    wire: Wire, path: str, document: dict[str, Any], version: str | None
) -> None:
    name = {"name": "x"}
    assert (await wire.post(path, {"metadata": name, **document})).status == 201
    metadata = name | {"labels": {"changed": "yes"}}
    if version is not None:
        metadata["resourceVersion"] = version
    updated = await wire.put(f"{path}/x", {"metadata": metadata, **document})
    assert (updated.status, updated.body["metadata"]["labels"]["changed"]) == (200, "yes")
    stale = await wire.put(f"{path}/x", {"metadata": name | {"resourceVersion": "1"}, **document})
    assert (stale.status, stale.reason) == (409, "Conflict")
    if version is not None:
        patched = await wire.patch(f"{path}/x", {"metadata": {"resourceVersion": version or None}})
        assert patched.status == 200


CONDITIONAL = [
    (f"/apis/coordination.k8s.io/v1/{NAMESPACE}/leases", {"spec": {}}),
    (f"/apis/policy/v1/{NAMESPACE}/poddisruptionbudgets", {"spec": {"minAvailable": 1, "selector": {}}}),
    (
        f"/apis/scheduling.k8s.io/v1beta1/{NAMESPACE}/podgroups",
        {"spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}},
    ),
    ("/apis/kueue.x-k8s.io/v1beta2/resourceflavors", {"spec": {}}),
    ("/apis/node.k8s.io/v1/runtimeclasses", {"handler": "gvisor"}),
    ("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"webhooks": [HOOK]}),
]


@pytest.mark.parametrize("version", [None, "0"])
@pytest.mark.parametrize(("path", "document"), CONDITIONAL, ids=_short)
async def test_an_update_of_what_is_shared_must_name_the_version_it_builds_on(
    wire: Wire, path: str, document: dict[str, Any], version: str | None
) -> None:
    metadata = {"name": "x"}
    assert (await wire.post(path, {"metadata": metadata, **document})).status == 201
    if version is not None:
        metadata["resourceVersion"] = version
    refused = await wire.put(f"{path}/x", {"metadata": metadata, **document})
    assert (refused.status, refused.reason) == (422, "Invalid")
    assert "metadata.resourceVersion: Invalid value: 0: must be specified for an update" in refused.message


async def test_a_runtime_class_tells_its_pods_what_they_cost_and_where_they_go(wire: Wire) -> None:
    pods = "/api/v1/namespaces/default/pods"
    scheduling = {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]}
    overhead = {"podFixed": {"cpu": "250m"}}
    runtime = {
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": overhead,
        "scheduling": scheduling,
    }
    assert (await wire.post("/apis/node.k8s.io/v1/runtimeclasses", runtime)).status == 201
    made = await wire.post(pods, pod("a", runtimeClassName="kata", nodeSelector={"zone": "a"}))
    assert made.status == 201
    assert made.body["spec"]["overhead"] == {"cpu": "250m"}
    assert made.body["spec"]["nodeSelector"] == {"zone": "a", "vm": "yes"}
    assert {"key": "vm", "operator": "Exists"} in made.body["spec"]["tolerations"]
    refused = await wire.post(pods, pod("b", runtimeClassName="nothing"))
    assert (refused.status, 'RuntimeClass "nothing" not found' in refused.message) == (403, True)
    refused = await wire.post(pods, pod("c", runtimeClassName="kata", nodeSelector={"vm": "no"}))
    assert (refused.status, "conflicts" in refused.message) == (403, True)
