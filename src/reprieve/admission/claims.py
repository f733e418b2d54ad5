"""Claims that controllers make for pods, and the class of a claim that names none.

For ephemeral volumes: pkg/controller/volume/ephemeral/controller.go; for devices:
pkg/controller/resourceclaim/controller.go. Those of a StatefulSet's replicas: `jobs.replica_claims`.
"""

from collections.abc import Iterable

from reprieve.objects import Document, raw, time_or_none, well_known

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"


def owner_of(owner: Document) -> Document:
    """The owner reference of what a controller makes for an object."""
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"],
        "uid": meta.get("uid", ""), "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip


def ephemeral_claim(pod: Document, volume: Document) -> Document | None:
    """The claim for a generic ephemeral volume, which ends with its pod; None for any other volume."""
    template = raw.at(volume, "ephemeral", "volumeClaimTemplate")
    if not template:
        return None
    meta, given = pod["metadata"], raw.mapping(template, "metadata")
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": f"{meta['name']}-{volume.get('name', '')}",
            "namespace": meta["namespace"],
            "labels": dict(given.get("labels") or {}),
            "annotations": dict(given.get("annotations") or {}),
            "ownerReferences": [owner_of(pod)],
        },
        "spec": raw.mapping(template, "spec"),
    }


def device_claim(owner: Document, name: str, template: Document) -> Document:
    """The ResourceClaim of a pod or a group for the template that it names under `name`.

    It has no name yet, only the beginning of one (`metadata.generateName`).
    """
    meta, given = owner["metadata"], raw.mapping(template, "spec", "metadata")
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": f"{meta['name']}-{name}-",
            "namespace": meta["namespace"],
            "labels": dict(given.get("labels") or {}),
            "annotations": {**(given.get("annotations") or {}), POD_CLAIM_NAME: name},
            "ownerReferences": [owner_of(owner)],
        },
        "spec": raw.mapping(template, "spec", "spec"),
    }


def default_class(classes: Iterable[Document]) -> str:
    """The StorageClass of claims that name none; empty where there is no default.

    Of several defaults the newest counts, of equally new ones the first by name
    (pkg/volume/util/storageclass.go, GetDefaultClass).
    """

    def order(meta: Document) -> tuple[float, str]:
        created = time_or_none(meta.get("creationTimestamp"))
        return (-created.timestamp() if created else 0.0), str(meta.get("name"))

    marked = [raw.mapping(each, "metadata") for each in classes if is_default(each)]
    return str(min(marked, key=order).get("name", "")) if marked else ""


def is_default(storage_class: Document) -> bool:
    return bool(raw.at(storage_class, "metadata", "annotations", DEFAULT_CLASS) == "true")


def needs_class(claim: Document) -> bool:
    """Whether a claim gets the default class: one that says `storageClassName: ""` wants none."""
    spec = raw.mapping(claim, "spec")
    return spec.get("storageClassName") is None and not spec.get("volumeName")


def binds_at_once(storage_class: Document) -> bool:
    """Whether a claim of the class gets a volume before any pod is scheduled, made by the provisioner."""
    mode = storage_class.get("volumeBindingMode") or "Immediate"
    return bool(mode == "Immediate" and storage_class.get("provisioner") != well_known.NO_PROVISIONER)


def bound(claim: Document) -> tuple[Document, Document]:
    """A new claim with the volume that its class makes for it, and that volume, which every node can reach.

    As the volume controller leaves them (pkg/controller/volume/persistentvolume/pv_controller.go:
    provisionClaim, bind).
    """
    meta, spec = raw.mapping(claim, "metadata"), raw.mapping(claim, "spec")
    namespace, name = meta.get("namespace") or "default", meta.get("name")
    volume = f"pvc-{namespace}-{name}"
    notes = {**(meta.get("annotations") or {}), well_known.BIND_COMPLETED: "yes"}
    modes, size = spec.get("accessModes") or [], raw.at(spec, "resources", "requests", "storage", default="0")
    made = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume},
        "spec": {
            "accessModes": modes,
            "capacity": {"storage": size},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name},
            "storageClassName": spec.get("storageClassName", ""),
            **({"volumeMode": spec["volumeMode"]} if spec.get("volumeMode") else {}),
        },
        "status": {"phase": "Bound"},
    }
    return {
        **claim,
        "metadata": {**meta, "annotations": notes},
        "spec": {**spec, "volumeName": volume},
        "status": {"phase": "Bound", "accessModes": modes, "capacity": {"storage": size}},
    }, made
