"""Claims on their way to a volume, in the pure core: written, waited for, given up, never leaked."""

import re

import pytest

from reprieve.cluster import Cluster
from reprieve.objects import Node, Object, Pod, Reference, decode, storage
from reprieve.placement import PodFilters
from reprieve.preemption import ClaimUse
from reprieve.scheduler import sentences, wakeups
from reprieve.scheduler.actions import Bind
from reprieve.scheduler.queue import QueuedUnit
from reprieve.scheduler.volumes import BindingFailed, all_bound, claims_of, release, reserve
from tests.builders import node, pod
from tests.preemption.test_volume_rules import Document, claim, using, volume, waiting_class

POD = Reference("Pod", "default", "p", "u")


def cluster_of(*objects: Document) -> Cluster:
    cluster = Cluster()
    for each in (node("n"), waiting_class(), *objects, using("p", "c")):
        cluster.set(decode(each))
    return cluster


def versioned(document: Document, version: str) -> Document:
    return {**document, "metadata": {**document["metadata"], "resourceVersion": version}}


def static() -> tuple[Cluster, Bind]:
    cluster = cluster_of(versioned(volume("pv"), "5"), claim("c", "local"))
    return cluster, Bind(
        POD, POD, "n", claims=claims_of(cluster, "default/p", {"default/c": ClaimUse(volume="pv")})
    )


def provisioned() -> tuple[Cluster, Bind]:
    cluster = cluster_of(versioned(claim("c"), "5"))
    uses = {"default/c": ClaimUse(provision="n")}
    return cluster, Bind(POD, POD, "n", claims=claims_of(cluster, "default/p", uses))


def test_what_is_written_names_the_version_that_was_decided_on() -> None:
    for _, bind in (static(), provisioned()):
        assert [each.version for each in bind.claims] == ["5"]


def test_a_reservation_ends_with_its_binding_however_it_ended() -> None:
    for cluster, bind in (static(), provisioned()):
        reserve(cluster, bind)
        assert cluster.storage.taken or cluster.storage.selected
        release(cluster, bind)
        assert not cluster.storage.taken
        assert not cluster.storage.selected


def test_a_volume_that_is_reserved_is_not_given_to_another_claim() -> None:
    cluster = cluster_of(volume("pv", storage_class="wait"), claim("c"), claim("d"))
    cluster.set(decode(using("q", "d")))
    bind = Bind(POD, POD, "n", claims=claims_of(cluster, "default/p", {"default/c": ClaimUse(volume="pv")}))
    row = cluster.pods.row_of["default/q"]
    before, slot = PodFilters(cluster, row).volumes, cluster.nodes.slot_of["n"]
    assert before is not None
    assert before.volumes_at(slot) == {"pv": "default/d"}
    reserve(cluster, bind)
    after = PodFilters(cluster, row).volumes
    assert after is not None
    assert after.volumes_at(slot) == {}


def test_a_static_binding_waits_for_its_claim_and_not_for_what_is_older() -> None:
    cluster, bind = static()
    assert not all_bound(cluster, bind, {"default/c": "6"})  # the volume that was written has not been seen
    kept = {"namespace": "default", "name": "c", "uid": "u-c"}
    cluster.set(decode(versioned(volume("pv", claimRef=kept), "6")))
    assert not all_bound(cluster, bind, {"default/c": "6"})
    cluster.set(decode(claim("c", "local", volume="pv")))
    assert all_bound(cluster, bind, {"default/c": "6"})


@pytest.mark.parametrize(
    ("lost", "text"),
    [
        ("PersistentVolume", sentences.volume_not_found("pv")),
        ("Node", sentences.node_not_found("n")),
        ("Pod", sentences.pod_not_found("p")),
        ("PersistentVolumeClaim", sentences.claim_not_found("c")),
    ],
)
def test_waiting_ends_when_what_it_waits_for_is_gone(lost: str, text: str) -> None:
    cluster, bind = static()
    keys = {"PersistentVolume": "pv", "Node": "n", "Pod": "default/p", "PersistentVolumeClaim": "default/c"}
    kinds: dict[str, type[Object]] = {"Node": Node, "Pod": Pod, "PersistentVolume": storage.PersistentVolume}
    kinds["PersistentVolumeClaim"] = storage.PersistentVolumeClaim
    cluster.remove(kinds[lost], keys[lost])
    with pytest.raises(BindingFailed, match=re.escape(text)):
        all_bound(cluster, bind, {})


def test_a_provisioner_that_takes_the_annotation_off_has_given_up() -> None:
    cluster, bind = provisioned()
    noted = claim("c", metadata={"annotations": {"volume.kubernetes.io/selected-node": "n"}})
    cluster.set(decode(noted))
    assert not all_bound(cluster, bind, {})
    cluster.set(decode(claim("c", metadata={"annotations": {"x": "y"}})))
    with pytest.raises(BindingFailed, match=re.escape(sentences.provisioning_failed("c"))):
        all_bound(cluster, bind, {})


def test_a_volume_made_out_of_reach_is_not_waited_for() -> None:
    cluster, bind = provisioned()
    notes = {"volume.kubernetes.io/selected-node": "n", "pv.kubernetes.io/bind-completed": "yes"}
    cluster.set(decode(volume("made", host="elsewhere")))
    done = decode(claim("c", volume="made", metadata={"annotations": notes}))
    cluster.set(done)
    with pytest.raises(BindingFailed, match=re.escape(sentences.volume_out_of_reach("made", "n"))):
        all_bound(cluster, bind, {})


@pytest.mark.parametrize("migrated", [True, False])
def test_the_zone_of_a_disk_in_its_drivers_words_counts_once_its_plugin_was_migrated(migrated: bool) -> None:
    """Before that its label says it, and nobody reads that here."""
    cluster, bind = static()
    disk = volume("pv", claimRef={"namespace": "default", "name": "c", "uid": "u-c"})
    for source in ("hostPath", "local", "csi", "nodeAffinity"):
        disk["spec"].pop(source, None)
    disk["spec"]["gcePersistentDisk"] = {"pdName": "d"}
    disk["metadata"]["labels"] = {"topology.kubernetes.io/zone": "elsewhere"}
    cluster.set(decode(disk))
    cluster.set(decode(claim("c", "local", volume="pv")))
    notes = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"} if migrated else {}
    on_node = {"name": "n", "annotations": notes}
    cluster.set(
        decode(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSINode",
                "metadata": on_node,
                "spec": {"drivers": []},
            }
        )
    )
    if migrated:
        with pytest.raises(BindingFailed):
            all_bound(cluster, bind, {})
    else:
        assert all_bound(cluster, bind, {})


def test_a_claim_that_changes_wakes_those_that_use_it() -> None:
    cluster = cluster_of(claim("c"))
    cluster.set(decode(pod("plain")))

    def waiting(*names: str) -> QueuedUnit:
        pods = {f"default/{name}": None for name in names}
        return QueuedUnit(Reference("PodGroup", "default", "g"), 0, 0.0, pods)

    changed, other = decode(claim("c")), decode(claim("d"))
    assert wakeups.storage_changed(cluster, waiting("p", "plain"), changed)
    assert not wakeups.storage_changed(cluster, waiting("plain"), changed)
    assert not wakeups.storage_changed(cluster, waiting("p", "plain"), other)
    left = cluster.class_of(cluster.pods.row_of["default/plain"])
    assert wakeups.pod_left(cluster, waiting("p"), "elsewhere", left), "it may have held what a volume needs"
    assert not wakeups.pod_left(cluster, waiting("plain"), "elsewhere", left)
