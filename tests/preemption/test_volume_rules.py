"""Rules about volumes, one test each: what keeps a pod from a node, what eviction frees, and what is said."""

from typing import Any

import pytest

import reprieve
from reprieve.placement.sentences import filters, volumes
from reprieve.preemption import sentences
from tests.builders import Document, node, pod

DRIVER = "csi.example.com"
NOW = "2026-11-15T12:00:00Z"


def storage(kind: str, name: str, **fields: Any) -> Document:
    return {"apiVersion": "storage.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **fields}


def waiting_class(name: str = "wait", provisioner: str = DRIVER) -> Document:
    mode = "WaitForFirstConsumer"
    return storage("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode)


def claim(
    name: str, storage_class: str = "wait", size: str = "1Gi", volume: str = "", **more: Any
) -> Document:
    notes = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": size}},
        "volumeName": volume,
        **more.pop("spec", {}),
    }
    meta = {"name": name, "namespace": "default", "uid": f"u-{name}", "annotations": notes}
    meta |= more.pop("metadata", {})
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, **more}


def volume(
    name: str, size: str = "10Gi", host: str = "", storage_class: str = "local", **spec: Any
) -> Document:
    body: Document = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        **spec,
    }
    if host:
        hosts = [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]
        body["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}}
    phase = "Bound" if "claimRef" in spec else "Available"
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": body,
        "status": {"phase": phase},
    }


def csi_bound(name: str) -> list[Document]:
    """A claim with a CSI volume of its own."""
    kept = {"namespace": "default", "name": name, "uid": f"u-{name}"}
    source = {"driver": DRIVER, "volumeHandle": name}
    return [claim(name, volume=f"pv-{name}"), volume(f"pv-{name}", csi=source, claimRef=kept)]


def limited(name: str, count: int) -> Document:
    return storage("CSINode", name, spec={"drivers": [{"name": DRIVER, "allocatable": {"count": count}}]})


def using(name: str, *claims: str, **more: Any) -> Document:
    volumes = [
        {"name": f"v{k}", "persistentVolumeClaim": {"claimName": each}} for k, each in enumerate(claims)
    ]
    return pod(name, volumes=volumes, **more)


def host(name: str, cpu: int = 8) -> Document:
    found = node(name, cpu)
    found["metadata"].setdefault("labels", {})["kubernetes.io/hostname"] = name
    return found


def plan(objects: list[Document], target: str = "Pod/default/p", algorithm: str = "kep-5710") -> Any:
    return reprieve.plan(objects, target, config={"preemption": {"algorithm": algorithm}}, now=NOW)


STATIC = waiting_class("local", "kubernetes.io/no-provisioner")
ALGORITHMS = ("kubernetes", "kep-5710", "minimal-cost")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_full_driver_is_freed_by_evicting_who_holds_a_slot_and_the_plan_says_so(algorithm: str) -> None:
    objects = [host("n"), limited("n", 1), waiting_class(), *csi_bound("held"), claim("new")]
    found = plan([*objects, using("low", "held", on="n"), using("p", "new", priority=9)], algorithm=algorithm)
    assert [each.pod for each in found.victims] == ["default/low"]
    assert sentences.frees_volume_slots(1, DRIVER, "n", "default/p") in found.victims[0].reason
    assert found.volumes == {}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_user_of_a_claim_for_one_pod_makes_way_and_the_plan_says_so(algorithm: str) -> None:
    once: Document = {"accessModes": ["ReadWriteOncePod"]}
    kept = {"namespace": "default", "name": "one", "uid": "u-one"}
    objects = [host("n"), claim("one", volume="pv", spec=once), volume("pv", claimRef=kept, **once)]
    found = plan([*objects, using("low", "one", on="n"), using("p", "one", priority=9)], algorithm=algorithm)
    assert [each.pod for each in found.victims] == ["default/low"]
    assert sentences.uses_claim_for_one_pod("default/one", "default/p") in found.victims[0].reason


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_disk_that_cannot_be_shared_is_given_up_and_the_plan_says_so(algorithm: str) -> None:
    disk = [{"name": "d", "gcePersistentDisk": {"pdName": "disk-1"}}]
    objects = [host("n"), pod("low", volumes=disk, on="n"), pod("p", priority=9, volumes=disk)]
    found = plan(objects, algorithm=algorithm)
    assert [each.pod for each in found.victims] == ["default/low"]
    assert sentences.holds_disk("disk-1", "default/p", "n") in found.victims[0].reason


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nobody_is_evicted_for_a_volume_out_of_reach(algorithm: str) -> None:
    kept = {"namespace": "default", "name": "far", "uid": "u-far"}
    objects = [host("n", 1), host("gone", 1), claim("far", "local", volume="pv")]
    objects += [volume("pv", host="elsewhere", claimRef=kept), pod("low", 1, 0, on="n")]
    found = plan([*objects, using("p", "far", priority=9)], algorithm=algorithm)
    assert (found.outcome, found.victims) == ("unschedulable", ())
    assert sentences.volume_is_out_of_reach(1) in found.reasons


def test_the_smallest_volume_that_fits_is_taken_and_the_plan_names_it() -> None:
    objects = [host("a"), host("b"), STATIC, volume("large", "90Gi", "a"), volume("small", "5Gi", "a")]
    found = plan([*objects, claim("c", "local", "3Gi"), using("p", "c")])
    assert found.placements == {"default/p": "a"}
    assert found.to_dict()["volumes"] == {"default/c": {"volume": "small"}}


def test_a_claim_without_a_volume_is_provisioned_where_the_pod_goes() -> None:
    found = plan([host("a"), waiting_class(), claim("c"), using("p", "c")])
    assert found.to_dict()["volumes"] == {"default/c": {"provision": "a"}}


def test_where_kube_scheduler_never_looks_back_others_arrange_the_volumes_anew() -> None:
    """The smaller claim takes the only volume that would suit the larger one, too."""
    both = {"accessModes": ["ReadWriteMany"]}
    objects = [
        host("a"),
        STATIC,
        volume("shared", "10Gi", "a", accessModes=["ReadWriteOnce", "ReadWriteMany"]),
    ]
    objects += [volume("plain", "20Gi", "a"), claim("small", "local", "1Gi")]
    objects += [claim("large", "local", "5Gi", spec=both), using("p", "small", "large")]
    assert plan(objects, algorithm="kubernetes").outcome == "unschedulable"
    for algorithm in ("kep-5710", "minimal-cost"):
        uses = plan(objects, algorithm=algorithm).to_dict()["volumes"]
        assert uses == {"default/small": {"volume": "plain"}, "default/large": {"volume": "shared"}}


def gang_of(count: int, minimum: int) -> list[Document]:
    from tests.builders import gang

    found = gang(count, minimum=minimum)
    for number, member in enumerate(each for each in found if each["kind"] == "Pod"):
        member["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": f"c{number}"}}]
    return found


def test_a_gang_gets_all_its_volumes_or_nothing() -> None:
    objects = [host("a"), STATIC, *(claim(f"c{k}", "local") for k in range(2)), *gang_of(2, 2)]
    target = "PodGroup/default/gang"
    short = plan([*objects, volume("one", host="a")], target)
    assert (short.outcome, short.placements, short.volumes) == ("unschedulable", {}, {})
    enough = plan([*objects, volume("one", host="a"), volume("two", host="a")], target).to_dict()
    assert sorted(each["volume"] for each in enough["volumes"].values()) == ["one", "two"]


BAD: list[tuple[list[Document], str]] = [
    ([], volumes.claim_not_found("c")),
    ([claim("c", status={"phase": "Lost"}, volume="pv")], volumes.claim_lost_its_volume("c", "pv")),
    (
        [claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
        volumes.claim_is_being_deleted("c"),
    ),
    ([claim("c", "gone")], volumes.IMMEDIATE),
    ([claim("c", volume="pv")], volumes.volume_not_found("pv")),
]


@pytest.mark.parametrize(("objects", "text"), BAD)
def test_a_claim_that_cannot_be_used_is_told_as_kube_scheduler_tells_it(
    objects: list[Document], text: str
) -> None:
    found = plan([host("a"), waiting_class(), *objects, using("p", "c")])
    assert found.outcome == "unschedulable"
    refused = filters.refused_before_nodes(1, text)
    assert found.message == sentences.preemption_not_reached(refused)
    assert sentences.CLAIMS_ARE_THE_PROBLEM in found.reasons


def test_topologies_that_contradict_each_other_allow_no_node() -> None:
    terms = [{"key": "zone", "values": ["a"]}, {"key": "zone", "values": ["b"]}]
    torn = {**waiting_class(), "allowedTopologies": [{"matchLabelExpressions": terms}]}
    found = plan([host("a"), torn, claim("c"), using("p", "c")])
    assert filters.every_node_objects(1, {volumes.NOTHING: 1}) in found.message


@pytest.mark.parametrize("size", ["0", "1n", "9E", "100000000000000000E"])
def test_absurd_sizes_are_compared_not_crashed_on(size: str) -> None:
    objects = [host("a"), STATIC, volume("pv", "10Gi", "a"), claim("c", "local", size), using("p", "c")]
    assert plan(objects).outcome == ("scheduled" if size in ("0", "1n") else "unschedulable")


def test_a_thousand_claims_in_a_pod_are_answered() -> None:
    names = [f"c{k}" for k in range(1000)]
    objects = [host("a"), waiting_class(), *map(claim, names), using("p", *names)]
    assert len(plan(objects).volumes) == 1000
    assert plan([*objects, limited("a", 100)]).outcome == "unschedulable"


def test_an_ephemeral_claim_of_an_older_pod_is_not_taken() -> None:
    other = {"ownerReferences": [{"kind": "Pod", "name": "p", "uid": "older", "controller": True}]}
    objects = [host("a"), waiting_class(), claim("p-s", metadata=other)]
    found = plan([*objects, pod("p", volumes=[{"name": "s", "ephemeral": {}}])])
    assert "PVC default/p-s was not created for pod default/p (pod is not owner)" in found.message


def test_a_slot_that_is_kept_for_a_nominated_pod_is_named_as_kube_scheduler_names_it() -> None:
    nominated = using("first", "a", priority=9, status={"nominatedNodeName": "n"})
    objects = [host("n"), limited("n", 1), waiting_class(), *csi_bound("a"), *csi_bound("b"), nominated]
    found = plan([*objects, using("p", "b", priority=9)], algorithm="kubernetes")
    assert found.outcome == "unschedulable"
    assert filters.every_node_objects(1, {volumes.TOO_MANY: 1}) in found.message
