"""Volumes over columns, for all nodes at once, against one claim after the other on one node."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import Reference
from reprieve.placement import PodFilters
from reprieve.whatif.pods import load
from tests.builders import node, pod
from tests.reference.volumes import Document, World, verdict
from tests.scale import examples

CLASSES = {"csi": "csi.example.com", "local": "kubernetes.io/no-provisioner", "topo": "topo.example.com",
           "cap": "cap.example.com"}  # fmt: skip
SIZES = ("0", "1Gi", "2Gi", "5Gi", "10Gi")
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
MODES = (["ReadWriteOnce"], ["ReadWriteMany"], ["ReadWriteOnce", "ReadWriteMany"])


def storage_class(name: str) -> Document:
    found: Document = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": CLASSES[name],
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    if name == "topo":
        found["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z0"]}]}]
    return found


def claim(name: str, storage_class: str, size: str, modes: list[str], **more: Any) -> Document:
    volume, selected = more.get("volume", ""), more.get("selected")
    notes = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    if selected is not None:
        notes["volume.kubernetes.io/selected-node"] = selected
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"u-{name}", "annotations": notes},
        "spec": {
            "accessModes": modes,
            "storageClassName": storage_class,
            "volumeName": volume,
            "resources": {"requests": {"storage": size}},
        },
    }


@st.composite
def volumes_of(draw: st.DrawFn, claims: list[str], nodes: int) -> list[Document]:
    found = []
    for number in range(draw(st.integers(0, 7))):
        place = draw(st.sampled_from(["everywhere", "host", "zone"]))
        spec: Document = {
            # Distinct sizes: of equal ones kube-scheduler takes any.
            "capacity": {"storage": f"{draw(st.sampled_from([1, 2, 5, 10])) * 1024 + number}Mi"},
            "accessModes": draw(st.sampled_from(MODES)),
            "storageClassName": draw(st.sampled_from(sorted(CLASSES))),
            "csi": {"driver": "csi.example.com", "volumeHandle": f"h{number}"},
        }
        if place != "everywhere":
            key, values = (HOST, [f"n{draw(st.integers(0, nodes))}"]) if place == "host" else (ZONE, ["z0"])
            term = {"matchExpressions": [{"key": key, "operator": "In", "values": values}]}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
        kept = draw(st.sampled_from([None, None, None, *claims]))
        if kept is not None:
            spec["claimRef"] = {"namespace": "default", "name": kept, "uid": f"u-{kept}"}
        phase = draw(st.sampled_from(["Available", "Available", "Released"]))
        found.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": f"pv{number}"},
                "spec": spec,
                "status": {"phase": phase},
            }
        )
    return found


@st.composite
def worlds(draw: st.DrawFn) -> list[Document]:
    count = draw(st.integers(1, 4))
    objects: list[Document] = [storage_class(each) for each in CLASSES]
    for index in range(count):
        found = node(f"n{index}", 8)
        found["metadata"]["labels"] = {HOST: f"n{index}", ZONE: f"z{index % 2}"}
        objects.append(found)
        if draw(st.booleans()):
            drivers = [{"name": "csi.example.com", "allocatable": {"count": draw(st.integers(0, 3))}}]
            meta = {"name": f"n{index}"}
            objects.append(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSINode",
                    "metadata": meta,
                    "spec": {"drivers": drivers},
                }
            )
    wanted = [f"c{number}" for number in range(draw(st.integers(1, 3)))]
    volumes = draw(volumes_of(wanted, count))
    # One volume for a claim: of two kube-scheduler takes either.
    once: set[str] = set()
    for each in volumes:
        kept = each["spec"].get("claimRef")
        if kept is not None and kept["name"] in once:
            del each["spec"]["claimRef"]
        elif kept is not None:
            once.add(kept["name"])
    objects += volumes
    free = [each["metadata"]["name"] for each in volumes if "claimRef" not in each["spec"]]
    for name in wanted:
        bound = draw(st.sampled_from(["", "", "", *free]))
        selected = draw(st.sampled_from([None, None, None, "n0", "gone"]))
        body = (
            draw(st.sampled_from(sorted(CLASSES))),
            draw(st.sampled_from(SIZES)),
            draw(st.sampled_from(MODES)),
        )
        objects.append(claim(name, *body, volume=bound, selected=None if bound else selected))
    for number in range(draw(st.integers(0, 4))):
        held = draw(st.sampled_from([f"held{number}", *wanted]))
        if held not in wanted:
            objects.append(claim(held, "csi", "1Gi", MODES[0]))
        source = {"name": "v", "persistentVolumeClaim": {"claimName": held}}
        objects.append(pod(f"run{number}", on=f"n{draw(st.integers(0, count - 1))}", volumes=[source]))
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "cap.example.com"}}
    objects.append({**driver, "spec": {"storageCapacity": True}})
    for number in range(draw(st.integers(0, 2))):
        objects.append(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity",
                "metadata": {"name": f"pool{number}", "namespace": "default"},
                "storageClassName": "cap",
                "nodeTopology": {"matchLabels": {ZONE: f"z{number}"}},
                "capacity": draw(st.sampled_from(SIZES)),
            }
        )
    sources = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in wanted]
    return [*objects, pod("p", volumes=sources)]


@given(objects=worlds())
@examples(300, least=40)
def test_volumes_over_columns_agree_with_one_claim_after_the_other(objects: list[Document]) -> None:
    cluster, world = load(objects), World(objects)
    state = PodFilters(cluster, cluster.pods.row_of[Reference.parse("Pod/default/p").key]).volumes
    assert state is not None
    assert not state.refusal
    for name, each in world.all("Node").items():
        slot = cluster.nodes.slot_of[name]
        reasons, chosen, made = verdict(world, world.all("Pod")["p"], each)
        said: list[str] = []
        for objection in state.objections():
            here = [str(reason) for reason, mask in objection.reasons if mask[slot]]
            if here:
                said = here
                break
        assert said == reasons, name
        assert state.allows(slot) == (not reasons)
        if not reasons:
            assert {claim: volume for volume, claim in state.volumes_at(slot).items()} == {
                f"default/{claim}": volume for claim, volume in chosen.items()
            }
            assert state.provisions_at(slot) == [f"default/{claim}" for claim in made]
