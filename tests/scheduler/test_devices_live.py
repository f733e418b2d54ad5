"""Pods with ResourceClaims on the embedded server: devices are allocated, written, and given back."""

import asyncio
from typing import Any

from reprieve.kube import POD_GROUPS, PODS, RESOURCE_CLAIMS, Client, kubeconfig
from reprieve.kube.http_transport import HttpTransport
from reprieve.placement.sentences import devices, filters
from reprieve.scheduler import sentences
from tests.scheduler.equipped import (
    CLAIMS,
    EXTENDED,
    asking,
    claim,
    claims,
    equip,
    held,
    left_for,
    node_of,
    spec,
    users,
    using,
)
from tests.scheduler.failing import Failing
from tests.scheduler.live import Live, cluster, pod, pod_group, scheduling


async def test_a_claim_is_allocated_and_reserved_before_the_pod_is_bound() -> None:
    async with cluster(2) as live, scheduling(live) as scheduler:
        await equip(live, 0, 2)
        await live.create(RESOURCE_CLAIMS, claim("a", 2))
        await live.create(PODS, using("p", "a"))
        await live.until(lambda: live.bound() == ["p"])
        assert (node_of(live, "p"), held(live, "a"), users(live, "a")) == (
            "n001", ["n001/gpu-0", "n001/gpu-1"], ["p"],
        )  # fmt: skip
        await scheduler.shell.idle()
        await live.until(lambda: not scheduler.core.cluster.devices.assumed)


async def test_no_device_is_given_twice_and_the_last_user_gives_it_back() -> None:
    async with cluster(1) as live, scheduling(live):
        await equip(live, 1)
        await live.create(RESOURCE_CLAIMS, claim("a"), claim("b"))
        await live.create(PODS, using("first", "a"))
        await live.until(lambda: live.bound() == ["first"])
        await live.create(PODS, using("second", "b"))
        await live.until(lambda: devices.CANNOT_ALLOCATE in live.story())
        await live.client.delete(PODS, "first", "ns")
        await live.until(lambda: live.bound() == ["second"])
        assert (held(live, "a"), held(live, "b")) == ([], ["n000/gpu-0"])


async def test_a_claim_is_made_from_a_template_for_each_pod() -> None:
    templates = "resourceclaimtemplates.resource.k8s.io"
    async with cluster(1) as live, scheduling(live):
        await equip(live, 2)
        named = [{"name": "c", "resourceClaimTemplateName": "t"}]
        await live.create(PODS, pod("p", resourceClaims=named), pod("q", resourceClaims=named))
        await live.server.api.create(
            templates,
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaimTemplate",
                "metadata": {"name": "t", "namespace": "ns"},
                "spec": {"spec": spec()},
            },
        )
        await live.until(lambda: live.bound() == ["p", "q"])
        names = [each["metadata"]["name"] for each in claims(live)]
        assert sorted(name[:4] for name in names) == ["p-c-", "q-c-"]
        assert sorted(device for name in names for device in held(live, name)) == ["n000/gpu-0", "n000/gpu-1"]


async def test_a_gang_shares_a_claim_and_all_its_pods_use_it() -> None:
    async with cluster(2) as live, scheduling(live):
        await equip(live, 1, 1)
        await live.create(RESOURCE_CLAIMS, claim("shared"))
        await live.create(POD_GROUPS, pod_group("g", 3))
        await live.create(PODS, *(using(f"g-{n}", "shared", group="g") for n in range(3)))
        await live.until(lambda: len(live.bound()) == 3)
        assert sorted(users(live, "shared")) == ["g-0", "g-1", "g-2"]
        assert len({node_of(live, f"g-{n}") for n in range(3)}) == 1


async def test_a_more_important_pod_preempts_for_a_device() -> None:
    async with cluster(1) as live, scheduling(live):
        await equip(live, 2)
        await live.create(RESOURCE_CLAIMS, claim("a"), claim("b"), claim("c"))
        await live.create(PODS, using("low", "a", priority="low"), using("mid", "b", priority="mid"))
        await live.until(lambda: live.bound() == ["low", "mid"])
        await live.create(PODS, using("high", "c", priority="high"))
        await live.until(lambda: live.bound() == ["high", "mid"])
        assert held(live, "a") == []
        assert held(live, "b") != held(live, "c") != []


def failing(live: Live, *paths: str, times: int = 1) -> Client:
    """A connection on which the first requests to these paths are refused."""
    return Client(Failing(HttpTransport(kubeconfig.load(live.server.kubeconfig)), paths, times))


async def test_an_extended_resource_gets_a_claim_that_the_pod_owns_and_names() -> None:
    async with cluster(1) as live, scheduling(live) as scheduler:
        await equip(live, 2)
        await live.create(PODS, asking("p", 2))
        await live.until(lambda: live.bound() == ["p"])
        (made,) = claims(live)
        name, found = made["metadata"]["name"], live.server.api.peek("pods", "p", "ns")
        assert found is not None
        assert name.startswith("p-extended-resources-")
        assert made["metadata"]["annotations"] == {"resource.kubernetes.io/extended-resource-claim": "true"}
        (owner,) = made["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("Pod", found["metadata"]["uid"], True)
        assert (held(live, name), users(live, name)) == (["n000/gpu-0", "n000/gpu-1"], ["p"])
        mapping = {"containerName": "c", "resourceName": EXTENDED, "requestName": "container-0-request-1"}
        assert found["status"]["extendedResourceClaimStatus"] == {
            "resourceClaimName": name, "requestMappings": [mapping],
        }  # fmt: skip
        await scheduler.shell.idle()
        table = scheduler.core.cluster.devices
        assert (table.assumed, table.in_flight, sorted(table.allocations)) == ({}, {}, [f"ns/{name}"])


async def test_the_claim_of_an_extended_resource_goes_with_its_pod() -> None:
    async with cluster(1) as live, scheduling(live):
        await equip(live, 1)
        await live.create(PODS, asking("first"))
        await live.until(lambda: live.bound() == ["first"])
        await live.create(PODS, asking("second"))
        await live.until(lambda: devices.CANNOT_ALLOCATE in live.story())
        await live.client.delete(PODS, "first", "ns")
        await live.until(lambda: live.bound() == ["second"])
        await live.until(lambda: len(claims(live)) == 1)


async def test_what_an_attempt_has_left_for_an_extended_resource_is_deleted_and_made_anew() -> None:
    async with cluster(1) as live:
        await equip(live, 1)
        await live.create(PODS, asking("p"))
        await live.create(RESOURCE_CLAIMS, left_for(live, "p"))
        async with scheduling(live):
            await live.until(lambda: live.bound() == ["p"])
            assert [each["metadata"]["name"].startswith("p-extended") for each in claims(live)] == [True]


async def test_after_a_failed_binding_nobody_holds_the_device_and_the_pod_gets_one_again() -> None:
    async with cluster(1) as live:
        await equip(live, 1)
        await live.create(RESOURCE_CLAIMS, claim("a"))
        async with scheduling(live, client=failing(live, "/binding")) as scheduler:
            await live.create(PODS, using("p", "a"))
            await live.until(lambda: sentences.binding_failed("n000", "") in live.story())
            assert (held(live, "a"), users(live, "a")) == ([], [])
            await live.until(lambda: live.bound() == ["p"])
            assert (held(live, "a"), users(live, "a")) == (["n000/gpu-0"], ["p"])
            assert scheduler.core.cluster.devices.in_flight == {}


async def test_after_a_failed_binding_the_claim_of_an_extended_resource_is_gone() -> None:
    async with cluster(1) as live:
        await equip(live, 1)
        async with scheduling(live, client=failing(live, "/binding")):
            await live.create(PODS, asking("p"))
            await live.until(lambda: sentences.binding_failed("n000", "") in live.story())
            assert claims(live) == []
            await live.until(lambda: live.bound() == ["p"])
            assert len(claims(live)) == 1


async def allocate(live: Live, name: str, device: str, *names: str, **more: Any) -> None:
    """As somebody else might have."""
    host, _, gpu = device.partition("/")
    result = {"request": "r", "driver": "gpu.example.com", "pool": host, "device": gpu, **more}
    only = {"key": "metadata.name", "operator": "In", "values": [host]}
    allocation = {
        "devices": {"results": [result]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [only]}]},
        "allocationTimestamp": "2026-01-01T00:00:00Z",
    }
    reserved = [{"resource": "pods", "name": each, "uid": f"uid-{each}"} for each in names]
    status = {"status": {"allocation": allocation, "reservedFor": reserved}}
    await live.server.api.patch(CLAIMS, name, status, "ns", subresource="status")


async def test_an_allocation_that_nobody_uses_is_taken_back_when_the_pod_does_not_fit_there() -> None:
    async with cluster(2, cpu=2) as live:
        await equip(live, 1, 1)
        await live.create(PODS, pod("full", "2", on="n000"))
        await live.create(RESOURCE_CLAIMS, claim("a"))
        await allocate(live, "a", "n000/gpu-0")
        async with scheduling(live):
            await live.create(PODS, using("p", "a"))
            await live.until(lambda: "p" in live.bound())
            assert (node_of(live, "p"), held(live, "a")) == ("n001", ["n001/gpu-0"])


async def test_an_allocation_that_another_pod_uses_stays() -> None:
    refused = filters.every_node_objects(2, {filters.insufficient("cpu"): 1, devices.UNAVAILABLE: 1})
    async with cluster(2, cpu=2) as live:
        await equip(live, 1, 1)
        await live.create(PODS, pod("full", "2", on="n000", priority="high"))
        await live.create(RESOURCE_CLAIMS, claim("a"))
        user = next(each["metadata"]["uid"] for each in live.pods)
        await allocate(live, "a", "n000/gpu-0")
        reserved = {"status": {"reservedFor": [{"resource": "pods", "name": "full", "uid": user}]}}
        await live.server.api.patch(CLAIMS, "a", reserved, "ns", subresource="status")
        async with scheduling(live) as scheduler:
            await live.create(PODS, using("p", "a"))
            await live.until(lambda: refused in live.story())
            await scheduler.shell.idle()
            assert (held(live, "a"), users(live, "a")) == (["n000/gpu-0"], ["full"])


async def device_says(live: Live, name: str, type: str) -> None:
    said = [
        {
            "type": type,
            "status": "True",
            "reason": "R",
            "message": "m",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]
    (pool, device) = held(live, name)[0].split("/")
    status = {"driver": "gpu.example.com", "pool": pool, "device": device, "conditions": said}
    await live.server.api.patch(CLAIMS, name, {"status": {"devices": [status]}}, "ns", subresource="status")


async def test_a_pod_is_bound_when_the_binding_conditions_of_its_devices_are_met() -> None:
    async with cluster(1) as live, scheduling(live):
        await equip(live, 1, bindingConditions=["Ready"], bindingFailureConditions=["Broken"])
        await live.create(RESOURCE_CLAIMS, claim("a"))
        await live.create(PODS, using("p", "a"))
        await live.until(lambda: held(live, "a") == ["n000/gpu-0"])
        assert live.bound() == []
        await device_says(live, "a", "Ready")
        await live.until(lambda: live.bound() == ["p"])


async def test_a_device_that_cannot_be_made_ready_is_given_back_and_the_next_try_may_take_another() -> None:
    async with cluster(1) as live, scheduling(live):
        await equip(live, 1, bindingConditions=["Ready"], bindingFailureConditions=["Broken"])
        await live.create(RESOURCE_CLAIMS, claim("a"))
        await live.create(PODS, using("p", "a"))
        await live.until(lambda: held(live, "a") == ["n000/gpu-0"])
        await device_says(live, "a", "Broken")
        await live.until(lambda: "device binding failed" in live.story())
        await live.until(lambda: held(live, "a") == ["n000/gpu-0"])
        await device_says(live, "a", "Ready")
        await live.until(lambda: live.bound() == ["p"])


async def test_the_claim_of_a_group_is_made_once_and_reserved_for_the_group() -> None:
    named = [{"name": "c", "resourceClaimTemplateName": "t"}]
    async with cluster(2) as live, scheduling(live):
        await equip(live, 1, 1)
        template = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "t", "namespace": "ns"},
            "spec": {"spec": spec()},
        }
        await live.server.api.create("resourceclaimtemplates.resource.k8s.io", template)
        await live.create(POD_GROUPS, pod_group("g", 3, resourceClaims=named))
        await live.create(PODS, *(pod(f"g-{n}", group="g", resourceClaims=named) for n in range(3)))
        await live.until(lambda: len(live.bound()) == 3)
        (made,) = claims(live)
        (user,) = made["status"]["reservedFor"]
        assert (user["apiGroup"], user["resource"], user["name"]) == ("scheduling.k8s.io", "podgroups", "g")
        assert made["metadata"]["ownerReferences"][0]["kind"] == "PodGroup"
        await asyncio.gather(*(live.client.delete(PODS, f"g-{n}", "ns") for n in range(3)))
        await live.until(lambda: not live.pods)
        assert len(held(live, made["metadata"]["name"])) == 1
        await live.client.delete(POD_GROUPS, "g", "ns")
        await live.until(lambda: not claims(live))
