"""Claims that controllers make for pods, and the class of a claim that names none.

For ephemeral volumes: pkg/controller/volume/ephemeral/controller.go; for devices:
pkg/controller/resourceclaim/controller.go; for the replicas of a StatefulSet:
pkg/controller/statefulset/stateful_set_utils.go.
"""

from collections.abc import Iterable
from typing import Any

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
    meta, given = pod["metadata"], template.get("metadata") or {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": f"{meta['name']}-{volume['name']}",
            "namespace": meta["namespace"],
            "labels": dict(given.get("labels") or {}),
            "annotations": dict(given.get("annotations") or {}),
            "ownerReferences": [owner_of(pod)],
        },
        "spec": template.get("spec") or {},
    }


def device_claim(owner: Document, name: str, template: Document) -> Document:
    """The ResourceClaim of a pod or a group for the template that it names under `name`.

    It has no name yet, only the beginning of one (`metadata.generateName`).
    """
    meta, given = owner["metadata"], raw.at(template, "spec", "metadata", default={})
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
        "spec": raw.at(template, "spec", "spec", default={}),
    }


def replica_claims(stateful_set: Document, number: int) -> list[Document]:
    """The claims of a StatefulSet's replica, from its templates."""
    claims = []
    selected = raw.at(stateful_set, "spec", "selector", "matchLabels", default={})
    for template in raw.items(stateful_set, "spec", "volumeClaimTemplates"):
        meta = template.get("metadata") or {}
        metadata: dict[str, Any] = {
            "name": _replica_claim(stateful_set, meta.get("name", ""), number),
            "namespace": stateful_set["metadata"]["namespace"],
            "labels": {**(meta.get("labels") or {}), **selected},
            "annotations": dict(meta.get("annotations") or {}),
        }
        spec = template.get("spec") or {}
        claims.append(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
        )
    return claims


def replica_volumes(stateful_set: Document, number: int, volumes: Iterable[Document]) -> list[Document]:
    """The volumes of a StatefulSet's replica: its claims take the place of volumes with the same name."""
    templates = [
        str(raw.at(each, "metadata", "name", default=""))
        for each in raw.items(stateful_set, "spec", "volumeClaimTemplates")
    ]
    return [
        *(
            {
                "name": name,
                "persistentVolumeClaim": {"claimName": _replica_claim(stateful_set, name, number)},
            }
            for name in templates
        ),
        *(each for each in volumes if each.get("name") not in templates),
    ]


def _replica_claim(stateful_set: Document, template: str, number: int) -> str:
    return f"{template}-{stateful_set['metadata']['name']}-{number}"


def default_class(classes: Iterable[Document]) -> str:
    """The StorageClass of claims that name none; empty where there is no default.

    Of several defaults the newest counts, of equally new ones the first by name
    (pkg/volume/util/storageclass.go, GetDefaultClass).
    """

    def order(meta: Document) -> tuple[float, str]:
        created = time_or_none(meta.get("creationTimestamp"))
        return (-created.timestamp() if created else 0.0), str(meta.get("name"))

    marked = [each["metadata"] for each in classes if is_default(each)]
    return str(min(marked, key=order)["name"]) if marked else ""


def is_default(storage_class: Document) -> bool:
    return bool(raw.at(storage_class, "metadata", "annotations", DEFAULT_CLASS) == "true")


def needs_class(claim: Document) -> bool:
    """Whether a claim gets the default class: one that says `storageClassName: ""` wants none."""
    spec = claim.get("spec") or {}
    return spec.get("storageClassName") is None and not spec.get("volumeName")
