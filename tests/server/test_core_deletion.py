"""Deleting: at once, with grace, held by finalizers, one by one and all together."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from tests.server.wire import CONFIG_MAPS, PODS, Wire, config_map, connected, pod

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected(clock=lambda: NOW) as wire:
        yield wire


async def test_what_nothing_holds_goes_at_once_with_a_status(wire: Wire) -> None:
    created = await wire.post(CONFIG_MAPS, config_map("a"))
    gone = await wire.delete(f"{CONFIG_MAPS}/a")
    uid = created.body["metadata"]["uid"]
    assert gone.body["status"] == "Success"
    assert gone.body["details"] == {"name": "a", "kind": "configmaps", "uid": uid}
    assert (await wire.get(f"{CONFIG_MAPS}/a")).status == 404


async def test_preconditions_protect_from_deleting_another_object_of_the_name(wire: Wire) -> None:
    created = await wire.post(CONFIG_MAPS, config_map("a"))
    for precondition in ({"uid": "other"}, {"resourceVersion": "1"}):
        refused = await wire.delete(f"{CONFIG_MAPS}/a", {"preconditions": precondition})
        assert (refused.status, refused.reason) == (409, "Conflict")
        assert "Precondition failed" in refused.message
    right = {"uid": created.body["metadata"]["uid"], "resourceVersion": created.version}
    assert (await wire.delete(f"{CONFIG_MAPS}/a", {"preconditions": right})).status == 200


async def test_a_pod_on_a_node_gets_its_grace_period(wire: Wire) -> None:
    await wire.post(PODS, pod("a", nodeName="n1", terminationGracePeriodSeconds=45))
    leaving = (await wire.delete(f"{PODS}/a")).body["metadata"]
    assert leaving["deletionTimestamp"] == "2026-11-15T12:00:45Z"
    assert leaving["deletionGracePeriodSeconds"] == 45
    shorter = (await wire.delete(f"{PODS}/a", {"gracePeriodSeconds": 5})).body["metadata"]
    assert shorter["deletionTimestamp"] == "2026-11-15T12:00:05Z"
    longer = (await wire.delete(f"{PODS}/a?gracePeriodSeconds=99")).body["metadata"]
    assert longer["deletionGracePeriodSeconds"] == 5
    assert (await wire.delete(f"{PODS}/a?gracePeriodSeconds=0")).status == 200
    assert (await wire.get(f"{PODS}/a")).status == 404


async def test_a_pod_that_is_nowhere_or_done_needs_no_grace(wire: Wire) -> None:
    await wire.post(PODS, pod("waiting"))
    await wire.post(PODS, pod("done", nodeName="n1"))
    await wire.patch(f"{PODS}/done/status", {"status": {"phase": "Succeeded"}})
    for name in ("waiting", "done"):
        assert (await wire.delete(f"{PODS}/{name}")).body["kind"] == "Pod"
        assert (await wire.get(f"{PODS}/{name}")).status == 404


async def test_finalizers_hold_an_object_until_the_last_one_is_gone(wire: Wire) -> None:
    document = config_map("a")
    document["metadata"]["finalizers"] = ["example.com/one", "example.com/two"]
    await wire.post(CONFIG_MAPS, document)
    held = await wire.delete(f"{CONFIG_MAPS}/a")
    assert held.body["metadata"]["deletionTimestamp"] == "2026-11-15T12:00:00Z"
    more = {"metadata": {"finalizers": ["example.com/one", "example.com/three"]}}
    assert (await wire.patch(f"{CONFIG_MAPS}/a", more)).status == 422
    fewer = {"metadata": {"finalizers": ["example.com/two"]}}
    assert (await wire.patch(f"{CONFIG_MAPS}/a", fewer)).status == 200
    assert (await wire.get(f"{CONFIG_MAPS}/a")).status == 200
    assert (await wire.patch(f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": None}})).status == 200
    assert (await wire.get(f"{CONFIG_MAPS}/a")).status == 404


@pytest.mark.parametrize(
    ("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")]
)
async def test_a_propagation_policy_leaves_a_finalizer_for_the_collector(
    wire: Wire, policy: str, finalizer: str
) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    held = await wire.delete(f"{CONFIG_MAPS}/a?propagationPolicy={policy}")
    assert held.status == 200  # 202 is for orphanDependents: false, as recorded from kube-apiserver
    assert held.body["metadata"]["finalizers"] == [finalizer]
    # A later background deletion takes the policy back and the object goes.
    await wire.delete(f"{CONFIG_MAPS}/a", {"propagationPolicy": "Background"})
    assert (await wire.get(f"{CONFIG_MAPS}/a")).status == 404


async def test_bad_delete_options_are_refused(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    for options in (
        {"gracePeriodSeconds": "soon"},
        {"preconditions": {"uid": 1}},
    ):
        assert (await wire.delete(f"{CONFIG_MAPS}/a", options)).status == 400, options
    assert (await wire.get(f"{CONFIG_MAPS}/a")).status == 200


async def test_a_collection_is_deleted_by_selector(wire: Wire) -> None:
    for name, labels in (("a", {"x": "1"}), ("b", {"x": "1"}), ("c", {"x": "2"})):
        await wire.post(CONFIG_MAPS, config_map(name, labels))
    deleted = await wire.delete(f"{CONFIG_MAPS}?labelSelector=x%3D1")
    assert deleted.body["kind"] == "ConfigMapList"
    assert deleted.names == ["a", "b"]
    assert (await wire.get(CONFIG_MAPS)).names == ["c"]


async def test_the_namespaces_that_everything_relies_on_stay(wire: Wire) -> None:
    refused = await wire.delete("/api/v1/namespaces/default")
    assert (refused.status, refused.message) == (
        403,
        'namespaces "default" is forbidden: this namespace may not be deleted',
    )
