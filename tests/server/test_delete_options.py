"""What a delete may ask for, and what it is told when it asks for too much."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.wire import CONFIG_MAPS, PODS, Wire, config_map, connected, pod


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"propagationPolicy": "Sideways"}, 'propagationPolicy: Unsupported value: "Sideways"'),
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            "orphanDependents and deletionPropagation cannot be both set",
        ),
        ({"dryRun": ["Some"]}, 'dryRun: Unsupported value: "Some"'),
    ],
)
async def test_options_that_make_no_sense_are_invalid(wire: Wire, options: Any, sentence: str) -> None:
    await wire.post(CONFIG_MAPS, config_map("c"))
    refused = await wire.delete(f"{CONFIG_MAPS}/c", options)
    assert (refused.status, refused.reason, refused.body["details"]["kind"]) == (
        422,
        "Invalid",
        "DeleteOptions",
    )
    assert sentence in refused.message
    assert (await wire.get(f"{CONFIG_MAPS}/c")).status == 200


async def test_a_grace_period_below_zero_is_one_second(wire: Wire) -> None:
    await wire.post(PODS, pod("p", nodeName="n"))
    deleted = await wire.delete(f"{PODS}/p", {"gracePeriodSeconds": -1})
    assert (deleted.status, deleted.body["metadata"]["deletionGracePeriodSeconds"]) == (200, 1)


@pytest.mark.parametrize("precondition", [{"uid": "other"}, {"resourceVersion": "1"}])
async def test_a_precondition_that_does_not_hold_saves_the_object(wire: Wire, precondition: Any) -> None:
    made = (await wire.post(CONFIG_MAPS, config_map("c"))).body["metadata"]
    refused = await wire.delete(f"{CONFIG_MAPS}/c", {"preconditions": precondition})
    assert (refused.status, refused.reason) == (409, "Conflict")
    assert "Precondition failed" in refused.message
    held = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
    assert (await wire.delete(f"{CONFIG_MAPS}/c", {"preconditions": held})).status == 200


async def test_a_collection_is_deleted_by_selector_and_what_is_held_stays_marked(wire: Wire) -> None:
    for name in ("a", "b", "c"):
        document = config_map(name, labels={"go": "yes" if name != "c" else "no"})
        document["metadata"]["finalizers"] = ["example.com/hold"] if name == "b" else []
        await wire.post(CONFIG_MAPS, document)
    answer = await wire.delete(f"{CONFIG_MAPS}?labelSelector=go=yes")
    assert (answer.status, answer.body["kind"], answer.names) == (200, "ConfigMapList", ["a", "b"])
    left = (await wire.get(CONFIG_MAPS)).body["items"]
    assert {item["metadata"]["name"]: "deletionTimestamp" in item["metadata"] for item in left} == {
        "b": True,
        "c": False,
    }
    tried = await wire.delete(f"{CONFIG_MAPS}?dryRun=All")
    assert (tried.status, len((await wire.get(CONFIG_MAPS)).body["items"])) == (200, 2)


async def test_namespaces_are_not_deleted_by_the_dozen(wire: Wire) -> None:
    assert (await wire.delete("/api/v1/namespaces")).status == 405


async def test_a_namespace_goes_when_its_finalizers_do(wire: Wire) -> None:
    await wire.post("/api/v1/namespaces", {"metadata": {"name": "team"}})
    marked = await wire.delete("/api/v1/namespaces/team")
    assert (marked.body["status"]["phase"], marked.body["spec"]) == (
        "Terminating",
        {"finalizers": ["kubernetes"]},
    )
    marked.body["spec"]["finalizers"] = []
    assert (await wire.put("/api/v1/namespaces/team", marked.body)).status == 200
    assert (await wire.get("/api/v1/namespaces/team")).status == 200, "only finalize lifts them"
    current = (await wire.get("/api/v1/namespaces/team")).body
    current["spec"]["finalizers"] = []
    assert (await wire.put("/api/v1/namespaces/team/finalize", current)).status == 200
    assert (await wire.get("/api/v1/namespaces/team")).status == 404
