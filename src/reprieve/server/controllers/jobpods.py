"""The pod that a job makes from its template."""

import copy
from typing import Any

from reprieve.objects import well_known
from reprieve.server.registry import Document


def owner_reference(owner: Document) -> Document:
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_from_template(owner: Document, template: Document) -> Document:
    """A pod with a generated name, the template's labels and annotations, and its owner."""
    meta = template.get("metadata") or {}
    metadata: dict[str, Any] = {
        "generateName": f"{owner['metadata']['name']}-",
        "namespace": owner["metadata"]["namespace"],
        "labels": dict(meta.get("labels") or {}),
        "annotations": dict(meta.get("annotations") or {}),
        "ownerReferences": [owner_reference(owner)],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": copy.deepcopy(template.get("spec") or {}),
    }


def pod_of(job: Document, index: int | None) -> Document:
    """A tracked pod; an indexed one knows its index by label, annotation, host name and environment."""
    pod = pod_from_template(job, (job.get("spec") or {}).get("template") or {})
    metadata = pod["metadata"]
    metadata["finalizers"] = [well_known.JOB_TRACKING_FINALIZER]
    if index is None:
        return pod
    metadata["generateName"] = f"{job['metadata']['name']}-{index}-"
    metadata["annotations"][well_known.JOB_INDEX_ANNOTATION] = str(index)
    metadata["labels"][well_known.JOB_INDEX_ANNOTATION] = str(index)
    pod["spec"].setdefault("hostname", f"{job['metadata']['name']}-{index}")
    variable = {"name": "JOB_COMPLETION_INDEX", "value": str(index)}
    for container in pod["spec"].get("containers") or ():
        container.setdefault("env", []).append(variable)
    return pod
