"""Claims for volumes that a StatefulSet makes for each of its replicas, from templates.

As pkg/controller/statefulset/stateful_set_utils.go has it (getPersistentVolumeClaims, updateStorage).
"""

from collections.abc import Iterable
from typing import Any

from reprieve.objects import Document, raw


def replica_claims(
    templates: Iterable[Document], pod: str, namespace: str, labels: dict[str, str]
) -> list[Document]:
    """The claims of the replica of this name; `labels` are those that the set selects by."""
    claims = []
    for template in templates:
        meta = template.get("metadata") or {}
        metadata: dict[str, Any] = {
            "name": f"{_name(template)}-{pod}",
            "namespace": namespace,
            "labels": {**(meta.get("labels") or {}), **labels},
            "annotations": dict(meta.get("annotations") or {}),
        }
        spec = template.get("spec") or {}
        claims.append(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
        )
    return claims


def replica_volumes(templates: Iterable[Document], pod: str, volumes: Iterable[Document]) -> list[Document]:
    """The volumes of the replica: its claims take the place of volumes with the same name."""
    own = [*map(_name, templates)]
    claims = [{"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{pod}"}} for name in own]
    return [*claims, *(each for each in volumes if each.get("name") not in own)]


def _name(template: Document) -> str:
    return str(raw.at(template, "metadata", "name", default=""))
