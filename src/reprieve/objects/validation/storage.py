"""Claims, volumes and classes: sizes that nothing can have, and what else kube-apiserver refuses."""

from reprieve.objects.meta import Document
from reprieve.objects.quantity import QuantityError, exact
from reprieve.objects.structure import FORBIDDEN, REQUIRED, UNSUPPORTED, Problem
from reprieve.objects.validation.checks import At, Problems, dns_label, one_of, required

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_SOURCES = {
    "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume",
    "flocker", "gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk",
    "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}  # fmt: skip
"""Fields of a volume's spec that say where it is."""
_CLAIM_MAY_CHANGE = {"resources", "volumeAttributesClassName", "volumeName"}


def claim(new: At) -> Problems:
    requests = new.field("spec", "resources", "requests")
    return _positive([place for name, place in requests.members() if name == "storage"], "spec.resources")


def volume(new: At) -> Problems:
    return _positive([place for _, place in new.field("spec", "capacity").members()], "spec.capacity")


def _positive(places: list[At], path: str) -> Problems:
    for place in places:
        try:
            size = exact(place.value)
        except (QuantityError, ValueError, TypeError):
            continue  # its type is complained about elsewhere
        if size <= 0:
            named = At(place.value, f"{path}{place.path[place.path.rindex('[') :]}")
            yield named.problem("must be greater than zero")


def stored_claim(new: At, old: At | None) -> Problems:
    yield from _access_modes(new.field("spec", "accessModes"))
    if not new.field("spec", "resources", "requests", "storage").is_set:
        yield Problem("spec.resources[storage]", None, "is required", REQUIRED)
    if old is None:
        return
    before, after = _fixed(old), _fixed(new)
    if before.get("storageClassName") is None:  # it may get the default class later
        before = before | {"storageClassName": after.get("storageClassName")}
        after = after | {"storageClassName": after.get("storageClassName")}
    if after != before:
        text = "spec is immutable after creation except resources.requests of bound claims"
        yield Problem("spec", None, text, FORBIDDEN)


def _fixed(claim: At) -> Document:
    return {key: each.value for key, each in claim.field("spec").members() if key not in _CLAIM_MAY_CHANGE}


def _access_modes(modes: At) -> Problems:
    if not modes.value:
        yield modes.problem("at least 1 access mode is required", REQUIRED)
    for mode in modes.items():
        if mode.value not in _ACCESS_MODES:
            yield Problem(modes.path, mode.value, f"expected one of {', '.join(_ACCESS_MODES)}", UNSUPPORTED)


def stored_volume(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from _access_modes(spec.field("accessModes"))
    if not spec.field("capacity", "storage").is_set:
        yield from required(At(None, "spec.capacity"))
    sources = _sources(new)
    if spec.is_set and not sources:
        yield Problem("spec", None, "must specify a volume type", REQUIRED)
    for name in sorted(sources)[1:]:
        yield Problem(f"spec.{name}", None, "may not specify more than 1 volume type", FORBIDDEN)
    if old is not None and sources != _sources(old):
        yield Problem("spec.persistentvolumesource", None, "is immutable after creation", FORBIDDEN)


def _sources(volume: At) -> Document:
    return {key: each.value for key, each in volume.field("spec").members() if key in _SOURCES}


def storage_class(new: At, old: At | None) -> Problems:
    yield from required(new.field("provisioner"))
    yield from one_of(new.field("reclaimPolicy"), ("Delete", "Retain"))
    yield from one_of(new.field("volumeBindingMode"), ("Immediate", "WaitForFirstConsumer"))
    if old is None:
        return
    for name in ("parameters", "reclaimPolicy"):
        if new.field(name).value != old.field(name).value:
            yield Problem(name, None, f"updates to {name} are forbidden.", FORBIDDEN)
    if new.field("provisioner").value != old.field("provisioner").value:
        yield new.field("provisioner").problem("field is immutable")


def runtime_class(new: At, old: At | None) -> Problems:
    handler = new.field("handler")
    yield from required(handler)
    yield from dns_label(handler)
    if old is not None and handler.value != old.field("handler").value:
        yield handler.problem("field is immutable")
