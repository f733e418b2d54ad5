"""What is odd about the objects a plan was made of: each is a sentence at the end of the plan's reasons."""

import numpy as np

from reprieve.cluster import LOST, MAX_AMOUNT, NOWHERE, Cluster

MOST_NAMED = 3


def warnings(cluster: Cluster) -> list[str]:
    return [
        *_lost(cluster),
        *_groupless(cluster),
        *_classless(cluster),
        *_absurd(cluster),
        *_promised(cluster),
    ]


def _lost(cluster: Cluster) -> list[str]:
    rows = np.flatnonzero(cluster.pods.node[: cluster.pods.rows] == LOST).tolist()
    if not rows:
        return []
    names = _named([f"{cluster.pods.keys[row]} ({cluster.pods.info[row].node_name})" for row in rows])
    return [f"Warning: on a node that is not among the objects, so they count nowhere: {names}."]


def _groupless(cluster: Cluster) -> list[str]:
    groups = cluster.groups
    missing = [
        key
        for key, group, members in zip(groups.keys, groups.objects, groups.members, strict=True)
        if group is None and members
    ]
    return (
        [f"Warning: pods name groups that do not exist; their own priority counts: {_named(missing)}."]
        if missing
        else []
    )


def _classless(cluster: Cluster) -> list[str]:
    missing = cluster.missing_classes()
    return (
        [f"Warning: priority classes that do not exist count as priority 0: {_named(missing)}."]
        if missing
        else []
    )


def _absurd(cluster: Cluster) -> list[str]:
    nodes = cluster.nodes
    huge = [
        nodes.names[slot] for slot in nodes.order.tolist() if (nodes.allocatable[:, slot] >= MAX_AMOUNT).any()
    ]
    asked = np.any(cluster.classes.requests >= MAX_AMOUNT, axis=0)
    rows = (
        [row for row in cluster.pods.row_of.values() if asked[cluster.pods.cls[row]]] if asked.any() else []
    )
    names = [*huge, *(cluster.pods.keys[row] for row in rows)]
    return [f"Warning: amounts above 2^53 count as 2^53: {_named(names)}."] if names else []


def _promised(cluster: Cluster) -> list[str]:
    waiting = [
        cluster.pods.keys[row]
        for row in cluster.pods.row_of.values()
        if cluster.pods.info[row].nominated_node and cluster.pods.node[row] == NOWHERE
    ]
    return (
        [f"Note: no room is kept for waiting pods that were nominated elsewhere: {_named(waiting)}."]
        if waiting
        else []
    )


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
