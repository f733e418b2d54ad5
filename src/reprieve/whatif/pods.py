"""A plan for a pod or a pod group, over manifests."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec
import numpy as np

from reprieve.cluster import LOST, MAX_AMOUNT, NOWHERE, Cluster, ticks
from reprieve.config import Configuration
from reprieve.objects import (
    Document,
    InvalidObject,
    LabelSelector,
    Object,
    Pod,
    PodGroup,
    Reference,
    ReprieveError,
    Source,
    countable,
    decode_all,
    document_of,
    some,
)
from reprieve.preemption import Plan, decide

_MAPS = ("Service", "ReplicationController")
_SELECTORS = ("ReplicaSet", "StatefulSet")


def plan_unit(
    objects: Iterable[Document | Source],
    for_: Reference,
    config: Configuration,
    now: datetime,
) -> Plan:
    """Who makes way for a pod or pod group."""
    cluster = load(objects)
    plan = decide(cluster, for_, config, ticks(now), alternatives=True)
    return msgspec.structs.replace(plan, reasons=(*plan.reasons, *_warnings(cluster)))


def load(objects: Iterable[Document | Source]) -> Cluster:
    """A cluster of these objects.

    Manifests do not say whether the nominations of other waiting pods still hold, so no capacity is kept for
    them; kube-scheduler's recorded answers do the same.
    """
    documents = list(objects)
    cluster = Cluster(honour_nominations=False)
    seen: set[tuple[type[Object], str]] = set()
    for each in decode_all(documents):
        identity = (type(each), each.key)
        if identity in seen:
            raise ReprieveError(f"{type(each).__name__}/{each.key} is given twice; which one counts?")
        seen.add(identity)
        _check(each)
        cluster.set(each)
    for kind, namespace, name, selector in _owners(map(document_of, documents)):
        cluster.set_owner(kind, namespace, name, selector)
    return cluster


def _check(each: Object) -> None:
    """What an API server would not have stored: amounts that nobody can hand out, a gang that always fits."""
    if isinstance(each, Pod):
        for problem in countable(each.spec):
            raise InvalidObject(problem.path, problem.value, problem.message, f"Pod/{each.key}")
    gang = each.spec.scheduling_policy.gang if isinstance(each, PodGroup) else None
    if gang is not None and gang.min_count < 1:
        path, text = "spec.schedulingPolicy.gang.minCount", f"must be at least 1, is {gang.min_count}"
        raise InvalidObject(path, gang.min_count, text, f"PodGroup/{each.key}")


def _owners(documents: Iterable[Document]) -> Iterator[tuple[str, str, str, LabelSelector]]:
    """Selectors of services and controllers; only default spreading reads them, so they are not decoded."""
    for document in documents:
        kind = document.get("kind")
        if kind not in (*_MAPS, *_SELECTORS):
            continue
        selector = (document.get("spec") or {}).get("selector")
        if not selector:
            continue
        meta = document.get("metadata") or {}
        raw = {"matchLabels": selector} if kind in _MAPS else selector
        yield kind, meta.get("namespace", ""), meta.get("name", ""), msgspec.convert(raw, LabelSelector)


MOST_NAMED = 3


def _warnings(cluster: Cluster) -> list[str]:
    return [
        *_lost(cluster),
        *_groupless(cluster),
        *_classless(cluster),
        *_absurd(cluster),
        *_nominated(cluster),
    ]


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
    missing = cluster.missing_classes()
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
        if cluster.pods.info[row].nominated_node and cluster.pods.node[row] == NOWHERE
    ]
    return (
        [
            f"Note: no room is kept for waiting pods that were nominated elsewhere: "
            f"{some(waiting, MOST_NAMED)}."
        ]
        if waiting
        else []
    )
