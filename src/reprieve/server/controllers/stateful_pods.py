"""The pods of a StatefulSet: their names, which come first, and the claims that belong to them. Pure."""

import re

from reprieve.jobs import replica_claims, replica_volumes
from reprieve.objects import Document
from reprieve.server.controllers.pods import Pod, owner_reference, pod_from_template
from reprieve.server.controllers.revisions import REVISION_LABEL
from reprieve.server.documents import at, items

NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"
_NAME = re.compile(r"(.*)-([0-9]{1,10})")


def ordinal(pod: Pod) -> int:
    """-1: the name has none."""
    match = _NAME.fullmatch(pod.name)
    return int(match[2]) if match is not None else -1


def is_member(owner: Document, pod: Pod) -> bool:
    match = _NAME.fullmatch(pod.name)
    return match is not None and match[1] == owner["metadata"]["name"]


def first_ordinal(owner: Document) -> int:
    return int((owner["spec"].get("ordinals") or {}).get("start") or 0)


def partition(owner: Document) -> int | None:
    rolling = (owner["spec"].get("updateStrategy") or {}).get("rollingUpdate")
    return None if rolling is None else int(rolling.get("partition") or 0)


def keeps_current(owner: Document, number: int) -> bool:
    """Whether a pod that is missing comes back in the revision before the update."""
    strategy, below = owner["spec"].get("updateStrategy") or {}, partition(owner)
    if below is None:
        if strategy.get("type") != "RollingUpdate":
            return False
        below = int((owner.get("status") or {}).get("currentReplicas") or 0)
    return number < first_ordinal(owner) + below


def stateful_pod(owner: Document, template: Document, revision: str, number: int) -> Document:
    pod = pod_from_template(owner, template)
    metadata, name = pod["metadata"], f"{owner['metadata']['name']}-{number}"
    del metadata["generateName"]
    metadata["name"] = name
    metadata["labels"] |= {NAME_LABEL: name, INDEX_LABEL: str(number), REVISION_LABEL: revision}
    pod["spec"] |= {"hostname": name, "subdomain": owner["spec"].get("serviceName") or ""}
    templates = items(owner, "spec", "volumeClaimTemplates")
    volumes = replica_volumes(templates, name, items(pod, "spec", "volumes"))
    if volumes:
        pod["spec"]["volumes"] = volumes
    return pod


def claims_of(owner: Document, number: int) -> list[Document]:
    meta, selected = owner["metadata"], at(owner, "spec", "selector", "matchLabels", default={})
    templates = items(owner, "spec", "volumeClaimTemplates")
    return replica_claims(templates, f"{meta['name']}-{number}", meta["namespace"], selected)


def claim_owners(owner: Document, pod: Pod, claim: Document, wanted: bool) -> list[Document]:
    """Who takes the claim along: by policy the set when it is deleted, the pod when it is scaled away.

    A claim that another controller has is left alone. `wanted`: the pod is one of the set's replicas.
    """
    references: list[Document] = claim["metadata"].get("ownerReferences") or []
    uids = (owner["metadata"]["uid"], pod.uid)
    others = [r for r in references if r.get("uid") not in uids]
    if any(r.get("controller") for r in others):
        return references
    policy = owner["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    if policy.get("whenScaled") == "Delete" and not wanted:
        meta = {"name": pod.name, "uid": pod.uid}
        return [*others, owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": meta})]
    if policy.get("whenDeleted") == "Delete":
        return [*others, owner_reference(owner)]
    return others
