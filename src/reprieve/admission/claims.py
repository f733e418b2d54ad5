"""Claims that controllers make for pods, and the class of a claim that names none.

For ephemeral volumes: pkg/controller/volume/ephemeral/controller.go; for devices:
pkg/controller/resourceclaim/controller.go. Those of a StatefulSet's replicas: `jobs.replica_claims`.
"""

from collections.abc import Iterable

from reprieve.objects import Document, raw, time_or_none

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
