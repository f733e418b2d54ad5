"""Each filter's words, and whether evicting pods could help."""

from typing import Any

import pytest

from reprieve.cluster import Cluster
from reprieve.objects.decode import decode
from reprieve.placement import UNRESOLVABLE, UNSCHEDULABLE, PodFilters, diagnose, place
from reprieve.placement.sentences import filters as sentences
from tests.builders import Document
from tests.preemption.planning import node, pod

TAINT: Document = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
PORT = [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 80}]}]


def term(app: str, key: str = HOST) -> Document:
    return {REQUIRED: [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]}


def spread(key: str) -> list[Document]:
    selector = {"matchLabels": {"app": "want"}}
    return [
        {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    ]


def pinned(*names: str) -> Document:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}}


CASES: dict[str, tuple[list[Document], dict[str, Any], str, int]] = {
    "a cordoned node": (
        [node("n", unschedulable=True)],
        {},
        sentences.CORDONED,
        UNRESOLVABLE,
    ),
    "a taint": ([node("n", **TAINT)], {}, sentences.TAINTED, UNRESOLVABLE),
    "a selector": (
        [node("n")],
        {"nodeSelector": {"a": "b"}},
        sentences.NOT_SELECTED,
        UNRESOLVABLE,
    ),
    "a pinned name": (
        [node("n")],
        {"affinity": pinned("m")},
        sentences.OUTSIDE,
        UNRESOLVABLE,
    ),
    "contradictory names": (
        [node("n")],
        {"affinity": pinned("m", "n")},
        sentences.CONFLICT,
        UNRESOLVABLE,
    ),
    "a port in use": (
        [node("n"), pod("other", on="n", containers=PORT)],
        {"containers": PORT},
        sentences.PORTS_TAKEN,
        UNSCHEDULABLE,
    ),
    "a full node": (
        [node("n", "2"), pod("other", "2", on="n")],
        {},
        sentences.insufficient("cpu"),
        UNSCHEDULABLE,
    ),
    "a node that is too small": ([node("n", "500m")], {}, sentences.insufficient("cpu"), UNRESOLVABLE),
    "a node without pod slots": (
        [{**node("n"), "status": {"allocatable": {"cpu": "4"}}}],
        {},
        sentences.TOO_MANY_PODS,
        UNSCHEDULABLE,
    ),
    "a missing topology label": (
        [node("n")],
        {"topologySpreadConstraints": spread(ZONE)},
        sentences.SPREAD_LABEL,
        UNRESOLVABLE,
    ),
    "affinity to nobody": (
        [node("n")],
        {"affinity": {"podAffinity": term("friend")}},
        sentences.AFFINITY,
        UNRESOLVABLE,
    ),
    "anti-affinity of its own": (
        [node("n"), pod("foe", on="n")],
        {"affinity": {"podAntiAffinity": term("foe")}},
        sentences.ANTI_AFFINITY,
        UNSCHEDULABLE,
    ),
    "anti-affinity of a pod that is there": (
        [node("n"), pod("foe", on="n", affinity={"podAntiAffinity": term("want")})],
        {},
        sentences.VETOED,
        UNSCHEDULABLE,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_filter_says_why_and_whether_evicting_helps(name: str) -> None:
    objects, spec, reason, code = CASES[name]
    cluster = Cluster()
    for each in (*objects, pod("want", **spec)):
        cluster.set(decode(each))
    filters = PodFilters(cluster, cluster.pods.row_of["a/want"])
    assert place(filters) is None
    found = diagnose(filters)
    message = sentences.every_node_objects(1, {reason: 1})
    if reason == sentences.CONFLICT:  # found before any node is looked at
        message = sentences.refused_before_nodes(1, reason)
    assert found.message == message
    assert found.code[0] == code


def test_spread_refuses_the_fuller_domain() -> None:
    cluster = Cluster()
    for each in (
        node("m"),
        node("n"),
        pod("want-0", on="m"),
        pod("want", topologySpreadConstraints=spread(HOST)),
    ):
        cluster.set(decode(each))
    filters = PodFilters(cluster, cluster.pods.row_of["a/want"])
    slot = place(filters)
    assert slot is not None
    assert cluster.nodes.names[slot] == "n"
    assert diagnose(filters).reasons == {sentences.SPREAD_SKEW: 1}


def test_the_first_pod_of_a_self_affine_group_may_go_anywhere() -> None:
    cluster = Cluster()
    for each in (node("n"), pod("want", affinity={"podAffinity": term("want")})):
        cluster.set(decode(each))
    assert place(PodFilters(cluster, cluster.pods.row_of["a/want"])) is not None


def test_no_nodes_at_all_has_its_own_words() -> None:
    cluster = Cluster()
    cluster.set(decode(pod("want")))
    assert diagnose(PodFilters(cluster, 0)).message == sentences.NO_NODES


def test_a_nominated_node_is_taken_without_scoring() -> None:
    cluster = Cluster()
    for each in (node("roomy", "8"), node("tight", "2"), pod("want", status={"nominatedNodeName": "tight"})):
        cluster.set(decode(each))
    slot = place(PodFilters(cluster, cluster.pods.row_of["a/want"]))
    assert slot is not None
    assert cluster.nodes.names[slot] == "tight"
