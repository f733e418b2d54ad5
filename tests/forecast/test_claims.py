"""Devices, volumes and trees of groups in a forecast: followed as far as the objects say."""

from typing import Any

import pytest

from reprieve.forecast import sentences, when
from reprieve.objects import Reference
from tests.builders import below, composite, job, node, owned_by, pod, pod_group

NOW = "2026-01-01T02:00:00Z"
EXPECTED = "reprieve.dev/expected-runtime"
DRIVER = "gpu.example.com"
EXTENDED = "example.com/gpu"


def ask(*objects, target="Pod/default/w", config=None, **more):
    return when(objects, target, config, NOW, **more)


def minutes(span):
    return None if span is None or span.median is None else span.median / 60


def running(name, expected="90m", cpu=1, on="n", **more):
    more = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, **more}
    notes = {EXPECTED: expected} if expected else {}
    return pod(name, cpu, on=on, annotations=notes, start="2026-01-01T01:00:00Z", **more)


def document(kind, name, namespace="", **body):
    """Of the groups that have devices and volumes."""
    version = "v1" if kind.startswith("PersistentVolume") else "resource.k8s.io/v1"
    metadata = {"name": name, "uid": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}


# --- devices ------------------------------------------------------------------------------------------------


def device_class():
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    return document("DeviceClass", "gpu", spec={"selectors": [selector], "extendedResourceName": EXTENDED})


def resource_slice(number=1, on="n"):
    pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{each}"} for each in range(number)]
    return document(
        "ResourceSlice", on, spec={"driver": DRIVER, "nodeName": on, "pool": pool, "devices": devices}
    )


def request(count=1):
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


def claim(name, held="", user="", owner=""):
    """`held`: the device that it has on node n; `user`: the pod that it is reserved for."""
    status: dict[str, Any] = {}
    if held:
        result = {"request": "r", "driver": DRIVER, "pool": "n", "device": held}
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
        status["allocation"] = {
            "devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}
        }  # fmt: skip
    if user:
        status["reservedFor"] = [{"resource": "pods", "name": user, "uid": user}]
    made = document("ResourceClaim", name, "default", spec=request(), status=status)
    if owner:
        made["metadata"]["ownerReferences"] = [owned_by("Pod", owner, owner)]
    return made


def template():
    return document("ResourceClaimTemplate", "one", "default", spec={"spec": request()})


def using(made, name):
    made["metadata"]["uid"] = made["metadata"]["name"]
    made["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": name}]
    return made


def templated(made, claim_name=""):
    made["metadata"]["uid"] = made["metadata"]["name"]
    made["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimTemplateName": "one"}]
    if claim_name:
        statuses = [{"name": "c", "resourceClaimName": claim_name}]
        made.setdefault("status", {})["resourceClaimStatuses"] = statuses
    return made


EQUIPPED = (node("n", 8), device_class(), resource_slice())


def test_a_device_is_free_when_its_last_user_has_ended():
    found = ask(
        *EQUIPPED, claim("held", "gpu-0", "a"), using(running("a"), "held"),
        claim("wanted"), using(pod("w"), "wanted"),
    )  # fmt: skip
    assert (found.outcome, minutes(found.start)) == ("later", 30)
    assert [each.name for each in found.waits_for] == ["Pod/default/a"]


def test_a_device_that_somebody_gets_first_is_not_free():
    first = using(pod("first", priority=10, annotations={EXPECTED: "1h"}), "before")
    found = ask(
        *EQUIPPED, claim("held", "gpu-0", "a"), using(running("a", priority=100), "held"),
        claim("before"), first, claim("wanted"), using(pod("w"), "wanted"),
    )  # fmt: skip
    assert minutes(found.start) == 30 + 60


def test_claims_made_from_a_template_go_with_their_pods():
    found = ask(
        *EQUIPPED, template(), claim("a-c", "gpu-0", "a", owner="a"), templated(running("a"), "a-c"),
        templated(pod("w")),
    )  # fmt: skip
    assert (found.outcome, minutes(found.start)) == ("later", 30)


def test_who_was_evicted_gets_a_claim_anew():
    again = templated(running("again-x", "70m", terminationGracePeriodSeconds=60, priority=1), "again-c")
    again["metadata"]["ownerReferences"] = [owned_by("Job", "again", "again")]
    first = using(pod("first", priority=100, annotations={EXPECTED: "1h"}), "first")
    objects = (
        *EQUIPPED, template(), claim("again-c", "gpu-0", "again-x", owner="again-x"), again,
        claim("first"), first, templated(pod("w")),
    )  # fmt: skip
    found = ask(*objects)
    assert minutes(found.start) == 1 + 60 + 70  # it makes way, waits for an hour, and begins again
    assert {each.name for each in found.before} == {"Pod/default/first", "Job/default/again"}


def test_a_job_that_is_not_there_yet_gets_its_claims():
    batch = job("train", 1)
    batch["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimTemplateName": "one"}]
    found = ask(
        *EQUIPPED, template(), claim("held", "gpu-0", "a"), using(running("a"), "held"), batch,
        target="Job/default/train",
    )  # fmt: skip
    assert (found.outcome, minutes(found.start)) == ("later", 30)


def test_devices_of_an_extended_resource_come_free():
    def asking(made):
        resources = made["spec"]["containers"][0]["resources"]
        resources["requests"][EXTENDED] = resources.setdefault("limits", {})[EXTENDED] = "1"
        made["metadata"]["uid"] = made["metadata"]["name"]
        return made

    first = asking(pod("first", priority=10, annotations={EXPECTED: "30m"}))
    found = ask(*EQUIPPED, first, asking(pod("w")))
    assert (found.outcome, minutes(found.start)) == ("later", 30)


def test_a_template_that_is_not_there_is_named_with_its_field():
    found = ask(*EQUIPPED, templated(pod("w")))
    assert found.outcome == "never"
    assert sentences.claim_is_never_made(Reference("Pod", "default", "w"), "c", "one") in found.notes


def test_a_claim_that_is_not_there_is_named():
    found = ask(*EQUIPPED, using(pod("w"), "missing"))
    assert found.outcome == "never"
    assert 'could not find ResourceClaim "default/missing"' in found.sentence


# --- volumes ------------------------------------------------------------------------------------------------


def storage_class(mode="WaitForFirstConsumer"):
    return {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disks"},
        "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": mode,
    }  # fmt: skip


def volume(name="disk"):
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "disks"}
    return document("PersistentVolume", name, spec=spec, status={"phase": "Available"})


def volume_claim(name, storage_class="disks"):
    spec = {
        "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }  # fmt: skip
    return document("PersistentVolumeClaim", name, "default", spec=spec)


def with_volume(made, name):
    made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
    return made


def test_one_volume_is_not_given_to_two_claims():
    first = with_volume(pod("first", priority=10, annotations={EXPECTED: "1h"}), "one")
    objects = (node("n", 8), storage_class(), volume_claim("one"), volume_claim("two"), first)
    alone = ask(*objects, volume(), with_volume(pod("w"), "two"))
    assert alone.outcome == "never", "a volume stays with its claim"
    assert "persistent volumes" in alone.sentence
    assert ask(*objects, volume(), volume("other"), with_volume(pod("w"), "two")).outcome == "now"


def test_a_volume_that_is_to_be_made_is_made():
    made = {**storage_class(), "provisioner": "csi.example.com"}
    found = ask(node("n", 1), made, volume_claim("one"), running("a", cpu=1), with_volume(pod("w"), "one"))
    assert (found.outcome, minutes(found.start)) == ("later", 30)


def test_an_ephemeral_volume_gets_its_claim_and_loses_it():
    made = {**storage_class(), "provisioner": "csi.example.com"}
    waits = pod("w")
    spec = volume_claim("x")["spec"]
    waits["spec"]["volumes"] = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}]
    assert minutes(ask(node("n", 1), made, running("a", cpu=1), waits).start) == 30


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ((), 'persistentvolumeclaim "one" not found'),
        ((storage_class("Immediate"), volume_claim("one")), "unbound immediate PersistentVolumeClaims"),
    ],
)
def test_a_volume_that_nobody_gives_is_told_in_the_words_of_the_scheduler(objects, said):
    found = ask(node("n", 4), *objects, with_volume(pod("w"), "one"))
    assert found.outcome == "never"
    assert said in found.sentence


# --- trees --------------------------------------------------------------------------------------------------

TREES = {"featureGates": {"CompositePodGroup": True}}


def tree():
    root = composite("root", 2)
    groups = [pod_group(name, 1, **below("root")) for name in ("left", "right")]
    pods = [pod(f"{name}-0", 2, group=name) for name in ("left", "right")]
    return [root, *groups, *pods]


def test_a_tree_starts_as_one():
    objects = (node("n", 4), running("a", "90m", 2), running("b", "3h", 2), *tree())
    found = ask(*objects, target="CompositePodGroup/default/root", config=TREES)
    assert (found.outcome, minutes(found.start), found.whole) == ("later", 120, None)
    part = ask(*objects, target="PodGroup/default/left", config=TREES)
    assert minutes(part.start) == 120


def test_a_tree_that_does_not_fit_says_why():
    found = ask(node("n", 3), *tree(), target="CompositePodGroup/default/root", config=TREES)
    assert found.outcome == "never"
    assert found.reasons
