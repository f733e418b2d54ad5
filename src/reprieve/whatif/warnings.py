"""What a plan over manifests could not know, or took otherwise than it is written: a sentence for each."""

from collections.abc import Iterable, Sequence

import numpy as np

from reprieve.cluster import LOST, MAX_AMOUNT, Cluster, missing_classes
from reprieve.config import Configuration
from reprieve.objects import (
    Document,
    Reference,
    Source,
    document_of,
    group_key,
    outcomes,
    well_known,
)
from reprieve.preemption import Plan
from reprieve.whatif import sentences

_PROTECTING = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
    "karpenter.sh/do-not-evict": "true",
    "volcano.sh/preemptable": "false",
}
"""Annotations for other programs, each with the value that keeps them away from a pod."""
_SHARES = {"gpu-fraction": "KAI", "gpu-memory": "KAI"}
"""Annotations by which pods ask another scheduler for a part of a GPU."""
_GANGS = {
    "gang.scheduling.koordinator.sh/name": "Koordinator",
    "pod-group-name": "KAI",
    "scheduling.k8s.io/group-name": "Volcano",
    "scheduling.volcano.sh/group-name": "Volcano",
    "yunikorn.apache.org/task-group-name": "YuniKorn",
}
"""Annotations by which pods join a gang of another scheduler."""


def warnings(cluster: Cluster) -> list[str]:
    """Sentences about what the plan does not know, or takes otherwise than it is written."""
    return [
        *_lost(cluster),
        *_groupless(cluster),
        *_classless(cluster),
        *_absurd(cluster),
    ]


def rows_of(cluster: Cluster, for_: Reference) -> list[int]:
    """The pod, or one pod of each kind that the group has."""
    if for_.kind == "Pod":
        return [cluster.pods.row_of[for_.key]] if for_.key in cluster.pods.row_of else []
    number = cluster.groups.number_of.get(for_.key)
    members = cluster.groups.members[number] if number is not None else ()
    return [*{int(cluster.pods.cls[row]): row for row in members}.values()]


def about_pods(
    cluster: Cluster,
    rows: Sequence[int],
    documents: Iterable[Document | Source],
    config: Configuration,
    *,
    schedulers: Iterable[str],
    victims: set[str],
    fits: bool,
) -> list[str]:
    """What the pods that are asked about, and the pods that they preempt, say to other programs or in error.

    `schedulers`: the names that these pods give to theirs.
    """
    return [
        *_other_schedulers(schedulers, config),
        *_gates(cluster, rows),
        *_unlabelled(cluster, rows),
        *_asked_of_others({cluster.pods.keys[row] for row in rows}, documents),
        *([] if fits else _unoffered(cluster, rows)),
        *_unprotected(victims, documents),
    ]


def about_plans(
    cluster: Cluster,
    rows: Sequence[int],
    plans: Sequence[Plan],
    documents: Iterable[Document | Source],
    config: Configuration,
) -> list[str]:
    return about_pods(
        cluster,
        rows,
        documents,
        config,
        schedulers=[cluster.pods.info[row].scheduler for row in rows],
        victims={victim.pod for plan in plans for victim in plan.victims},
        fits=all(plan.outcome in (outcomes.SCHEDULED, outcomes.PREEMPTS) for plan in plans),
    )


def _other_schedulers(names: Iterable[str], config: Configuration) -> list[str]:
    known = {"", *config.scheduler.known_names}
    return [sentences.other_scheduler(name) for name in dict.fromkeys(names) if name not in known]


def _gates(cluster: Cluster, rows: Sequence[int]) -> list[str]:
    gated = (row for row in rows if cluster.pods.info[row].gated)
    names = dict.fromkeys(gate.name for row in gated for gate in cluster.class_of(row).spec.scheduling_gates)
    return [sentences.gates_to_open([*names])] if names else []


def _unlabelled(cluster: Cluster, rows: Sequence[int]) -> list[str]:
    """Namespaces whose labels nobody knows, although affinity chooses pods by them."""
    classes = [cluster.class_of(row) for row in rows]
    terms = [term for cls in classes for term in (*cls.affinity, *cls.anti_affinity)]
    terms += [term for cls in cluster.classes.anti_affine for term in cls.anti_affinity]
    selectors = [term.namespace_selector for term in terms if term.namespace_selector is not None]
    labels = {
        label
        for each in selectors
        for label in (*each.match_labels, *(one.key for one in each.match_expressions))
    }
    if not labels - {well_known.NAMESPACE_NAME_LABEL}:
        return []
    unknown = {key.partition("/")[0] for key in cluster.pods.row_of} - cluster.namespaces.keys()
    return [sentences.labels_for_affinity_unknown(sorted(unknown))] if unknown else []


def _asked_of_others(pods: set[str], documents: Iterable[Document | Source]) -> list[str]:
    """What the pods ask another scheduler for by annotations: it is planned as if they did not."""
    found: dict[str, list[str]] = {}
    for document in map(document_of, documents):
        annotations = (document.get("metadata") or {}).get("annotations") or ()
        asked = [name for name in annotations if name in _SHARES or name in _GANGS]
        if not asked or document.get("kind") != "Pod":
            continue  # the quick answer for nearly all of very many
        key, has_gang = Reference.read(document).key, bool(group_key(document))
        for name in asked if key in pods else ():
            if name in _SHARES or not has_gang:
                found.setdefault(name, []).append(key)
    return [_asked(name, each) for name, each in found.items()]


def _asked(name: str, pods: Sequence[str]) -> str:
    if name in _SHARES:
        return sentences.gpu_share_not_read(name, _SHARES[name], pods)
    # Groups of Volcano are read.
    said = sentences.gang_is_missing if _GANGS[name] == "Volcano" else sentences.gang_not_read
    return said(name, _GANGS[name], pods)


def _unoffered(cluster: Cluster, rows: Sequence[int]) -> list[str]:
    """Resources of which there is nothing anywhere: a node lacks them, or their name is wrong."""
    nodes = [each for each in cluster.nodes.objects if each is not None]
    offered = {name for each in nodes for name in each.status.allocatable}
    wanted = dict.fromkeys(name for row in rows for name in cluster.class_of(row).requests)
    return [
        sentences.no_node_offers(name, sorted(offered))
        for name in wanted
        if nodes and name not in offered and not cluster.devices.serves_any({name: 1})
    ]


def _unprotected(victims: set[str], documents: Iterable[Document | Source]) -> list[str]:
    """Victims with an annotation that keeps another program from touching them."""
    found: dict[str, list[str]] = {}
    for document in map(document_of, documents) if victims else ():
        annotations = (document.get("metadata") or {}).get("annotations") or {}
        for name, value in _PROTECTING.items():
            if annotations.get(name) == value and document.get("kind") == "Pod":
                key = Reference.read(document).key
                if key in victims:
                    found.setdefault(name, []).append(key)
    return [sentences.protects_nobody(name, pods) for name, pods in found.items()]


def divergent(cluster: Cluster, for_: Reference) -> list[str]:
    """The target's pods that say another priority than their group, which counts."""
    number = cluster.groups.number_of.get(for_.key) if for_.kind == "PodGroup" else None
    if number is None:
        return []
    wanted, own = int(cluster.groups.priority[number]), cluster.pods.own_priority
    rows = [row for row in cluster.groups.members[number] if int(own[row]) != wanted]
    names = sorted(cluster.pods.keys[row] for row in rows)
    return [sentences.group_priority_counts(wanted, names)] if rows else []


def _lost(cluster: Cluster) -> list[str]:
    rows = np.flatnonzero(cluster.pods.node[: cluster.pods.rows] == LOST).tolist()
    pods = [(cluster.pods.keys[row], cluster.pods.info[row].node_name) for row in rows]
    return [sentences.nodes_are_missing(pods)] if rows else []


def _groupless(cluster: Cluster) -> list[str]:
    groups = cluster.groups
    missing = [
        key
        for key, group, members in zip(groups.keys, groups.objects, groups.members, strict=True)
        if group is None and members
    ]
    return [sentences.groups_are_missing(missing)] if missing else []


def _classless(cluster: Cluster) -> list[str]:
    missing = missing_classes(cluster)
    return [sentences.priority_classes_are_missing(missing)] if missing else []


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
    return [sentences.amounts_above_most(names)] if names else []
