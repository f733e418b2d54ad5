"""Services get an address of the cluster and, for the world outside, a port on every node."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.wire import Wire, connected

SERVICES = "/api/v1/namespaces/default/services"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}], **spec}}


async def test_every_service_has_an_address_of_its_own_and_keeps_it(wire: Wire) -> None:
    addresses = set()
    for number in range(20):
        spec = (await wire.post(SERVICES, service(f"s{number}"))).body["spec"]
        assert spec["clusterIPs"] == [spec["clusterIP"]]
        assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
        addresses.add(spec["clusterIP"])
    assert len(addresses) == 20
    before = (await wire.get(f"{SERVICES}/s1")).body
    written = (await wire.put(f"{SERVICES}/s1", service("s1", ports=[{"port": 81}]))).body
    assert written["spec"]["clusterIP"] == before["spec"]["clusterIP"]


async def test_headless_services_have_none_and_external_names_neither(wire: Wire) -> None:
    headless = (await wire.post(SERVICES, service("h", clusterIP="None"))).body["spec"]
    assert (headless["clusterIP"], headless["clusterIPs"]) == ("None", ["None"])
    outside = service("e", type="ExternalName", externalName="example.com")
    assert "clusterIP" not in (await wire.post(SERVICES, outside)).body["spec"]


async def test_a_node_port_is_free_and_stays(wire: Wire) -> None:
    first = (await wire.post(SERVICES, service("a", type="NodePort"))).body["spec"]["ports"][0]["nodePort"]
    asked = service("b", type="NodePort", ports=[{"port": 80, "nodePort": 30000}])
    assert (await wire.post(SERVICES, asked)).body["spec"]["ports"][0]["nodePort"] == 30000
    second = (await wire.post(SERVICES, service("c", type="NodePort"))).body["spec"]["ports"][0]["nodePort"]
    assert len({first, second, 30000}) == 3
    written = (await wire.put(f"{SERVICES}/a", service("a", type="NodePort"))).body
    assert written["spec"]["ports"][0]["nodePort"] == first


async def test_no_port_is_given_twice_within_a_service(wire: Wire) -> None:
    """A hundred ports had two or three of them twice: a service did not count what itself had been given."""
    ports = [{"name": f"p{number}", "port": number + 1} for number in range(400)]
    made = (await wire.post(SERVICES, service("a", type="NodePort", ports=ports))).body["spec"]["ports"]
    assert len({port["nodePort"] for port in made}) == 400
    grown = service("a", type="NodePort", ports=[*ports, {"name": "last", "port": 999}])
    written = (await wire.put(f"{SERVICES}/a", grown)).body["spec"]["ports"]
    assert [port["nodePort"] for port in written[:400]] == [port["nodePort"] for port in made]
    assert len({port["nodePort"] for port in written}) == 401


async def test_services_that_share_a_commit_share_no_port(tmp_path: Path) -> None:
    """Each is given what is free beside those that are not on disk yet."""
    async with connected(data_dir=tmp_path) as wire:
        several = [service(f"s{number}", type="NodePort") for number in range(300)]
        made = await asyncio.gather(*(wire.post(SERVICES, each) for each in several))
        assert len({each.body["spec"]["ports"][0]["nodePort"] for each in made}) == 300
        assert len({each.body["spec"]["clusterIP"] for each in made}) == 300


async def test_what_a_service_gave_back_can_be_given_again(wire: Wire) -> None:
    ports = [{"name": f"p{number}", "port": number + 1} for number in range(2_000)]
    for name in "abc":
        made = (await wire.post(SERVICES, service(name, type="NodePort", ports=ports))).body["spec"]["ports"]
        assert len({port["nodePort"] for port in made}) == 2_000
        assert (await wire.delete(f"{SERVICES}/{name}")).status == 200
