"""Volumes in the cluster: which pods and nodes hold which, and what an in-tree disk asks of its nodes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster, required_by_driver
from reprieve.objects import Pod, storage
from tests import builders
from tests.builders import Document, node, pod, view, views
from tests.scale import examples

DRIVER = "csi.example.com"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
OF_DRIVER = "topology.gke.io/zone"
GCE = {"gcePersistentDisk": {"pdName": "g"}}


def volume(name: str, **parts: Any) -> Document:
    spec = {"csi": {"driver": DRIVER, "volumeHandle": f"h-{name}"}, **parts.pop("spec", {})}
    return {**builders.document("PersistentVolume", name, spec=spec, **parts), "apiVersion": "v1"}


def claim(name: str) -> Document:
    made = builders.document("PersistentVolumeClaim", name, "default", spec={"volumeName": name})
    return {**made, "apiVersion": "v1"}


def using(name: str, *claims: str) -> Document:
    named = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return pod(name, on="n0", volumes=named)


def attachment(name: str, on: str, volume: str) -> Document:
    spec = {"attacher": DRIVER, "nodeName": on, "source": {"persistentVolumeName": volume}}
    made = builders.document("VolumeAttachment", name, spec=spec)
    return {**made, "apiVersion": "storage.k8s.io/v1"}


def uses(cluster: Cluster) -> dict[str, set[str]]:
    """The volumes that each pod uses, by name."""
    table = cluster.storage.attached
    names = {table.number(DRIVER, f"h-{name}"): name for name in cluster.storage.volumes}
    found = {key: table.users.volumes_of(row) for key, row in cluster.pods.row_of.items()}
    return {key: {names[number] for number in numbers} for key, numbers in found.items() if numbers}


def attached(cluster: Cluster) -> dict[str, set[str]]:
    """The volumes that are attached to each node, by name."""
    table = cluster.storage.attached
    names = {table.number(DRIVER, f"h-{name}"): name for name in cluster.storage.volumes}
    found = {name: table.attachments.volumes_of(slot) for name, slot in cluster.nodes.slot_of.items()}
    return {name: {names[number] for number in numbers} for name, numbers in found.items() if numbers}


NAMES = ("a", "b", "c", "d")
STEPS = st.lists(
    st.tuples(st.sampled_from(["p", "q", "r"]), st.lists(st.sampled_from(NAMES), unique=True, max_size=3)),
    max_size=12,
)


@examples(60)
@given(STEPS)
def test_pods_that_share_volumes_come_and_go_and_each_uses_its_own(
    steps: list[tuple[str, list[str]]],
) -> None:
    """A volume keeps its number until its last user is gone; then another volume may get it."""
    cluster = Cluster()
    cluster.set_all(views(node("n0"), *map(volume, NAMES), *map(claim, NAMES)))
    wanted: dict[str, set[str]] = {}
    for name, claims in steps:
        if claims:
            cluster.set(view(using(name, *claims)))
            wanted[f"default/{name}"] = set(claims)
        else:
            cluster.remove(Pod, f"default/{name}")
            wanted.pop(f"default/{name}", None)
        assert uses(cluster) == wanted
        table = cluster.storage.attached
        numbered = {each for each in NAMES if table.number(DRIVER, f"h-{each}") is not None}
        assert numbered == set().union(*wanted.values())


PLACES = st.sampled_from(["n0", "n1", "unknown", ""])


@examples(60)
@given(st.lists(st.tuples(st.sampled_from(["x", "y"]), PLACES, st.sampled_from(NAMES)), max_size=12))
def test_a_volume_is_attached_where_its_attachment_says_and_nowhere_else(
    steps: list[tuple[str, str, str]],
) -> None:
    """An attachment may go, or come again under its name for another node."""
    cluster = Cluster()
    cluster.set_all(views(node("n0"), node("n1"), *map(volume, NAMES)))
    present: dict[str, tuple[str, str]] = {}
    for name, on, of in steps:
        if on:
            cluster.set(view(attachment(name, on, of)))
            present[name] = on, of
        else:
            cluster.remove(storage.VolumeAttachment, name)
            present.pop(name, None)
        wanted: dict[str, set[str]] = {}
        for place, held in present.values():
            if place in cluster.nodes.slot_of:
                wanted.setdefault(place, set()).add(held)
        assert attached(cluster) == wanted


def test_attachments_of_a_node_count_while_the_node_is_there() -> None:
    cluster = Cluster()
    cluster.set_all(views(volume("a"), attachment("x", "n0", "a"), node("n1")))
    assert attached(cluster) == {}
    cluster.set(view(node("n0")))
    assert attached(cluster) == {"n0": {"a"}}
    cluster.remove(type(view(node("n0"))), "n0")
    cluster.set(view(node("n2")))
    assert attached(cluster) == {}


@pytest.mark.parametrize(
    ("disk", "labels", "wanted"),
    [
        ({"csi": {"driver": "d", "volumeHandle": "h"}}, {}, ("d", "h", False)),
        ({"csi": {"driver": "d"}}, {}, None),
        ({"hostPath": {"path": "/"}}, {}, None),
        ({"cinder": {"volumeID": "c"}}, {}, ("cinder.csi.openstack.org", "c", True)),
        ({"portworxVolume": {"volumeID": "p"}}, {}, ("pxd.portworx.com", "p", True)),
        ({"azureDisk": {"diskName": "a", "diskURI": "/a"}}, {}, ("disk.csi.azure.com", "/a", True)),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, {}, ("ebs.csi.aws.com", "vol-1", True)),
        ({"awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}, {}, ("ebs.csi.aws.com", "vol-1", True)),
        ({"awsElasticBlockStore": {"volumeID": "aws://z/other"}}, {}, None),
        (GCE, {}, ("pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/g", True)),
        (GCE, {ZONE: "a"}, ("pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/a/disks/g", True)),
        (
            GCE,
            {ZONE: "x-y-a__x-y-b"},
            ("pd.csi.storage.gke.io", "projects/UNSPECIFIED/regions/x-y/disks/g", True),
        ),
        (GCE, {ZONE: "x-y-a__x-z-b"}, None),
    ],
)
def test_a_volume_counts_for_the_driver_that_attaches_it(
    disk: Document, labels: dict[str, str], wanted: tuple[str, str, bool] | None
) -> None:
    cluster = Cluster()
    cluster.set(view(volume("v", labels=labels, spec={"csi": None, **disk})))
    assert cluster.storage.use_of(view(claim("v"))) == wanted


Wanted = list[tuple[str, tuple[str, ...]]]


@pytest.mark.parametrize(
    ("asked", "labels", "wanted"),
    [
        ([], {}, None),
        ([(ZONE, ("a",))], {}, [(OF_DRIVER, ("a",))]),
        ([(OLD_ZONE, ("a",))], {}, [(OF_DRIVER, ("a",))]),
        # What the affinity mentions goes before labels, new keys before old ones.
        ([(OLD_ZONE, ("a",))], {ZONE: "b"}, [(OF_DRIVER, ("a",))]),
        ([(OLD_ZONE, ("a",)), (ZONE, ("b",))], {}, [(OLD_ZONE, ("a",)), (OF_DRIVER, ("b",))]),
        ([], {ZONE: "a", OLD_ZONE: "b"}, [(OF_DRIVER, ("a",))]),
        ([], {OLD_ZONE: "b__ a__"}, [(OF_DRIVER, ("a", "b"))]),
        ([], {ZONE: ""}, None),
        ([("disk", ("ssd",))], {ZONE: "a"}, [("disk", ("ssd",)), (OF_DRIVER, ("a",))]),
        ([(ZONE, ())], {ZONE: "a"}, [(ZONE, ()), (OF_DRIVER, ("a",))]),
        # An old region becomes the new one beside an old zone only.
        ([(OLD_ZONE, ("a",)), (OLD_REGION, ("r",))], {}, [(OF_DRIVER, ("a",)), (REGION, ("r",))]),
        ([(ZONE, ("a",)), (OLD_REGION, ("r",))], {}, [(OF_DRIVER, ("a",)), (OLD_REGION, ("r",))]),
    ],
)
def test_an_in_tree_disk_asks_for_the_labels_of_its_driver(
    asked: Wanted, labels: dict[str, str], wanted: Wanted | None
) -> None:
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": list(each)} for key, each in asked]}
    ]
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if asked else {}
    found = required_by_driver(view(volume("v", labels=labels, spec=affinity)), OF_DRIVER)
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        [term] = found.node_selector_terms
        assert [(each.key, each.values) for each in term.match_expressions] == wanted
