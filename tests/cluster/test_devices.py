"""Devices in the cluster: who holds them, what is given back, and which of two versions of a claim counts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.cluster.claim_users import FEW
from reprieve.objects import DeviceClass, ResourceClaim, ResourceSlice
from reprieve.placement import device_filter
from tests import builders
from tests.builders import Document, node, pod, pod_group, view, views
from tests.scale import examples

DRIVER = "gpu.example.com"


def resource(kind: str, name: str, spec: Document | None = None, **more: Any) -> Document:
    namespace = "default" if kind == "ResourceClaim" else ""
    made = builders.document(kind, name, namespace, spec=spec or {}, **more)
    return {**made, "apiVersion": "resource.k8s.io/v1"}


def claim(
    name: str, *devices: str, users: tuple[Document, ...] = (), version: int = 0, **metadata: Any
) -> Document:
    """A claim that holds these devices, `pool/device`; a device with a star is shared with other claims."""
    results = [
        {"request": "r", "driver": DRIVER, "pool": pool, "device": device.rstrip("*")}
        | ({"shareID": name, "consumedCapacity": {"memory": "1"}} if device.endswith("*") else {})
        for pool, device in (each.split("/") for each in devices)
    ]
    status: Document = {"reservedFor": list(users)}
    if devices:
        status["allocation"] = {"devices": {"results": results}}
    return resource(
        "ResourceClaim", name, metadata={"resourceVersion": str(version), **metadata}, status=status
    )


def user(name: str, kind: str = "pods", uid: str | None = None) -> Document:
    return {"resource": kind, "name": name, "uid": name if uid is None else uid}


def running(name: str) -> Document:
    return pod(name, on="n", metadata={"uid": name})


def slice_of(name: str, number: int, **more: Any) -> Document:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{each}"} for each in range(number)]
    return resource(
        "ResourceSlice", name, {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}, **more
    )


def cluster_of(*documents: Document) -> Cluster:
    cluster = Cluster()
    cluster.set_all(views(*documents))
    return cluster


def held(cluster: Cluster) -> dict[str, Any]:
    """Which claims hold what, and how many of their users are supposed gone."""
    table = cluster.devices
    return {
        "allocations": dict(table.allocations),
        "dedicated": dict(table.dedicated),
        "shared": dict(table.shared),
        "gone": {key: gone for key in table.claims if (gone := table.gone(key))},
    }


PODS = FEW + 4
USERS = st.lists(st.integers(0, PODS - 1), unique=True, max_size=3)
DEVICES = st.lists(st.sampled_from(["n/a", "n/b", "n/s*", "m/a"]), unique=True, min_size=1, max_size=2)


@examples(60)
@given(st.lists(st.tuples(DEVICES, USERS), max_size=8), st.sets(st.integers(0, PODS - 1)), st.booleans())
def test_many_pods_gone_at_once_give_back_what_they_give_back_one_by_one(
    claims: list[tuple[list[str], list[int]]], stay: set[int], with_group: bool
) -> None:
    """Claims of one user and of several, devices held twice by mistake, and a group that keeps its claim."""
    documents = [node("n"), *(running(f"p{each}") for each in range(PODS))]
    for number, (devices, users) in enumerate(claims):
        of_group = (user("g", "podgroups"),) if with_group and not number else ()
        pods = (user(f"p{each}") for each in users)
        documents.append(claim(f"c{number}", *devices, users=(*pods, *of_group)))
    cluster = cluster_of(*documents)
    before, mark = held(cluster), cluster.checkpoint()
    everyone = [cluster.pods.row_of[f"default/p{each}"] for each in range(PODS)]

    for row in everyone:
        cluster.detach(row)
    one_by_one = held(cluster)
    cluster.rollback(mark)
    assert held(cluster) == before

    cluster.detach_all(np.array(everyone, dtype=np.int32))
    assert held(cluster) == one_by_one
    for each in stay:
        cluster.attach(everyone[each], 0)
    cluster.rollback(mark)
    assert held(cluster) == before


def test_a_claim_gives_its_devices_back_with_its_last_user() -> None:
    cluster = cluster_of(
        node("n"), running("a"), running("b"), claim("c", "n/gpu-0", users=(user("a"), user("b")))
    )
    first, last = (cluster.pods.row_of[f"default/{name}"] for name in "ab")
    cluster.detach(first)
    assert cluster.devices.dedicated == {(DRIVER, "n", "gpu-0"): 1}
    cluster.detach(last)
    assert cluster.devices.dedicated == {}
    cluster.attach(last, 0)
    assert cluster.devices.dedicated == {(DRIVER, "n", "gpu-0"): 1}


@pytest.mark.parametrize("users", [(user("g", "podgroups"),), (user("a"), user("g", "podgroups"))])
def test_a_claim_of_a_group_keeps_its_devices_whichever_pod_goes(users: tuple[Document, ...]) -> None:
    cluster = cluster_of(node("n"), running("a"), running("g"), claim("c", "n/gpu-0", users=users))
    for row in cluster.pods.row_of.values():
        cluster.detach(row)
    assert list(cluster.devices.allocations) == ["default/c"]
    assert cluster.abandoned_claims() == []


def test_a_pod_that_has_only_the_name_of_a_user_is_another_one() -> None:
    others = claim("c", "n/gpu-0", users=(user("a", uid="older"),))
    cluster = cluster_of(node("n"), running("a"), others)
    assert cluster.abandoned_claims() == ["default/c"]
    cluster.detach(cluster.pods.row_of["default/a"])
    assert list(cluster.devices.allocations) == ["default/c"]


@pytest.mark.parametrize("names", ["a", "ab"])
def test_a_user_without_a_uid_is_the_pod_of_its_name(names: str) -> None:
    """Manifests may leave it out: the claim is not abandoned, and free once its users are gone."""
    cluster = cluster_of(
        node("n"),
        *map(running, names),
        claim("c", "n/gpu-0", users=tuple(user(each, uid="") for each in names)),
    )
    assert cluster.abandoned_claims() == []
    for row in cluster.pods.row_of.values():
        assert list(cluster.devices.allocations) == ["default/c"]
        cluster.detach(row)
    assert not cluster.devices.allocations


def test_a_pod_uses_a_claim_as_long_as_the_claim_says_so() -> None:
    cluster = cluster_of(running("a"), running("b"), claim("c", "n/gpu-0", users=(user("a"),)))
    used_by = cluster.devices.claims_used_by
    assert (used_by("default/a", ""), used_by("default/b", "")) == (["default/c"], [])
    cluster.set(view(claim("c", "n/gpu-0", users=(user("b"),))))
    assert (used_by("default/a", ""), used_by("default/b", "")) == ([], ["default/c"])
    assert cluster.devices.users_of({(DRIVER, "n")}, ()) == ["default/b"]
    cluster.remove(ResourceClaim, "default/c")
    assert (used_by("default/a", ""), used_by("default/b", "")) == ([], [])
    assert cluster.devices.users_of({(DRIVER, "n")}, ("default/c",)) == []
    assert not cluster.devices.any_users


def test_an_older_version_of_a_claim_does_not_replace_a_newer_one() -> None:
    """The answer to a write was faster than the watch."""
    newer, older = claim("c", "n/gpu-1", version=10, uid="u"), claim("c", "n/gpu-0", version=9, uid="u")
    cluster = cluster_of(newer, older)
    assert list(cluster.devices.dedicated) == [(DRIVER, "n", "gpu-1")]
    cluster.set(view(claim("c", "n/gpu-2", version=11, uid="u")))
    assert list(cluster.devices.dedicated) == [(DRIVER, "n", "gpu-2")]
    cluster.set(view(claim("c", "n/gpu-3", version=1, uid="made anew")))
    assert list(cluster.devices.dedicated) == [(DRIVER, "n", "gpu-3")]


def test_the_answer_to_a_write_counts_unless_the_watch_has_told_of_something_newer() -> None:
    table = Cluster().devices
    table.written(view(claim("c", "n/gpu-0", version=5)))
    assert list(table.allocations) == ["default/c"]
    table.saw(view(claim("other", version=7)))
    table.remove(ResourceClaim, "default/c")
    table.written(view(claim("c", "n/gpu-0", version=6)))
    table.written(view(claim("d", "n/gpu-1", version=7)))
    assert not table.allocations
    table.written(view(claim("d", "n/gpu-1", version=8)))
    assert list(table.allocations) == ["default/d"]


def test_a_slice_that_changed_is_read_again_and_one_that_did_not_is_not() -> None:
    table = cluster_of(slice_of("n", 1)).devices
    before, changes = table.version, len(table.slice_changes)
    table.set(view(slice_of("n", 1, labels={"told": "again"})))
    assert (table.version, len(table.slice_changes)) == (before, changes)
    table.set(view(slice_of("n", 3)))
    assert len(table.slices["n"].spec.devices) == 3
    assert table.version > before
    assert set(table.slice_changes[changes:]) == {"n"}
    table.remove(ResourceSlice, "n")
    assert not table.slices


def test_a_class_that_is_gone_serves_no_resource() -> None:
    spec = {"extendedResourceName": "example.com/gpu"}
    days = {"a": 1, "b": 2, "c": 1}
    made = {name: {"creationTimestamp": f"2026-01-0{day}T00:00:00Z"} for name, day in days.items()}
    cluster = cluster_of(*(resource("DeviceClass", name, spec, metadata=made[name]) for name in days))
    serving = cluster.devices.class_serving
    assert serving("example.com/gpu") == "b"
    assert serving("deviceclass.resource.kubernetes.io/b") == "b"
    cluster.remove(DeviceClass, "b")
    assert serving("example.com/gpu") == "a"
    assert serving("deviceclass.resource.kubernetes.io/b") == ""
    cluster.remove(DeviceClass, "a")
    cluster.remove(DeviceClass, "c")
    assert serving("example.com/gpu") == ""


def test_devices_count_before_the_first_decision_says_so() -> None:
    """A pod of a group waits for a claim that the group owns, and nobody has read a configuration yet."""
    owner = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": "g", "uid": "u"}
    waiting = pod(
        "a",
        group="g",
        resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}],
        status={"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "c"}]},
    )
    made = claim("c", ownerReferences=[{**owner, "controller": True}])
    cluster = cluster_of(node("n"), pod_group("g"), waiting, made)
    found = device_filter(cluster, cluster.pods.row_of["default/a"])
    assert found is not None
    assert (found.claims, found.refusal) == (("default/c",), None)
