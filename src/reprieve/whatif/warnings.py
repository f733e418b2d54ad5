"""What a plan over manifests could not know, or took otherwise than it is written: a sentence for each."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from reprieve.cluster import LOST, MAX_AMOUNT, NOWHERE, Cluster, missing_classes
from reprieve.objects import Document, Reference, Source, document_of, group_key, some

MOST_NAMED = 3


def warnings(cluster: Cluster, documents: Sequence[Document | Source], for_: Reference) -> list[str]:
    """Sentences about what the plan for `for_` does not know, or takes otherwise than it is written."""
    return [
        *_unchecked_claims(map(document_of, documents), cluster, for_),
        *_lost(cluster),
        *_groupless(cluster),
        *_classless(cluster),
        *_absurd(cluster),
        *_nominated(cluster),
    ]


def divergent(cluster: Cluster, for_: Reference) -> list[str]:
    """The target's pods that say another priority than their group, which counts."""
    number = cluster.groups.number_of.get(for_.key) if for_.kind == "PodGroup" else None
    if number is None:
        return []
    wanted, own = int(cluster.groups.priority[number]), cluster.pods.own_priority
    rows = [row for row in cluster.groups.members[number] if int(own[row]) != wanted]
    names = some(sorted(cluster.pods.keys[row] for row in rows), MOST_NAMED)
    return (
        [f"Note: the group's priority {wanted} counts for all its pods; others say: {names}."] if rows else []
    )


def _lost(cluster: Cluster) -> list[str]:
    rows = np.flatnonzero(cluster.pods.node[: cluster.pods.rows] == LOST).tolist()
    if not rows:
        return []
    names = some(
        [f"{cluster.pods.keys[row]} ({cluster.pods.info[row].node_name})" for row in rows], MOST_NAMED
    )
    return [f"Warning: on a node that is not among the objects, so they count nowhere: {names}."]


def _groupless(cluster: Cluster) -> list[str]:
    groups = cluster.groups
    missing = [
        key
        for key, group, members in zip(groups.keys, groups.objects, groups.members, strict=True)
        if group is None and members
    ]
    return (
        [
            f"Warning: pods name groups that do not exist; their own priority counts: "
            f"{some(missing, MOST_NAMED)}."
        ]
        if missing
        else []
    )


def _classless(cluster: Cluster) -> list[str]:
    missing = missing_classes(cluster)
    return (
        [f"Warning: priority classes that do not exist count as priority 0: {some(missing, MOST_NAMED)}."]
        if missing
        else []
    )


def _absurd(cluster: Cluster) -> list[str]:
    nodes = cluster.nodes
    huge = [
        nodes.names[slot] for slot in nodes.order.tolist() if (nodes.allocatable[:, slot] >= MAX_AMOUNT).any()
    ]
    huge_requests = np.any(cluster.classes.requests >= MAX_AMOUNT, axis=0)
    rows = (
        [row for row in cluster.pods.row_of.values() if huge_requests[cluster.pods.cls[row]]]
        if huge_requests.any()
        else []
    )
    names = [*huge, *(cluster.pods.keys[row] for row in rows)]
    return [f"Warning: amounts above 2^53 count as 2^53: {some(names, MOST_NAMED)}."] if names else []


def _nominated(cluster: Cluster) -> list[str]:
    waiting = [
        cluster.pods.keys[row]
        for row in cluster.pods.row_of.values()
        if cluster.pods.info[row].nominated_node
        and cluster.pods.node[row] == NOWHERE
        and row not in cluster.storage.pods
    ]
    return (
        [
            f"Note: no room is kept for waiting pods that were nominated elsewhere: "
            f"{some(waiting, MOST_NAMED)}."
        ]
        if waiting
        else []
    )


def _unchecked_claims(documents: Iterable[Document], cluster: Cluster, for_: Reference) -> list[str]:
    """Devices of the preemptor: nothing here knows on which nodes they can be had."""
    claims: dict[str, None] = {}
    given: set[str] = set()
    for document in documents:
        kind, metadata = document.get("kind"), document.get("metadata") or {}
        namespace = metadata.get("namespace") or "default"
        if kind in ("ResourceClaim", "ResourceClaimTemplate"):
            given.add(f"{kind} {namespace}/{metadata.get('name')}")
        elif kind == "Pod" and _is_planned(document, f"{namespace}/{metadata.get('name')}", cluster, for_):
            claims |= dict.fromkeys(_claims(document.get("spec") or {}, namespace))
    if not claims:
        return []
    named = [name if name in given else f"{name} (not among the objects)" for name in claims]
    return [
        f"Warning: claims are not checked: {some(named, MOST_NAMED)}. "
        "They can keep the pods from nodes that are said to fit, or from every node."
    ]


def _is_planned(document: Document, key: str, cluster: Cluster, for_: Reference) -> bool:
    """Whether the plan looks for a node for this pod."""
    row = cluster.pods.row_of.get(key)
    if row is None or cluster.pods.node[row] != NOWHERE:
        return False
    target = for_.key
    if for_.kind == "Pod" and (number := cluster.pods.row_of.get(target)) is not None:
        group = int(cluster.pods.group[number])
        if group < 0:
            return key == target
        target = cluster.groups.keys[group]
    return group_key(document) == target


def _claims(spec: dict[str, Any], namespace: str) -> Iterator[str]:
    for claim in spec.get("resourceClaims") or ():
        if name := claim.get("resourceClaimName"):
            yield f"ResourceClaim {namespace}/{name}"
        elif name := claim.get("resourceClaimTemplateName"):
            yield f"ResourceClaimTemplate {namespace}/{name}"
