"""What a plan over manifests could not know, or took otherwise than it is written: a sentence for each."""

import numpy as np

from reprieve.cluster import LOST, MAX_AMOUNT, NOWHERE, Cluster, missing_classes
from reprieve.objects import Reference, some

MOST_NAMED = 3


def warnings(cluster: Cluster) -> list[str]:
    """Sentences about what the plan does not know, or takes otherwise than it is written."""
    return [
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
