"""Each filter's words, and whether evicting pods could help."""

from typing import Any

import pytest

from reprieve.cluster import Cluster
from reprieve.objects.decode import decode
from reprieve.placement import UNRESOLVABLE, UNSCHEDULABLE, PodFilters, diagnose, place
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
        "1 node(s) were unschedulable",
        UNRESOLVABLE,
    ),
    "a taint": ([node("n", **TAINT)], {}, "1 node(s) had untolerated taint(s)", UNRESOLVABLE),
    "a selector": (
        [node("n")],
        {"nodeSelector": {"a": "b"}},
        "1 node(s) didn't match Pod's node affinity/selector",
        UNRESOLVABLE,
    ),
    "a pinned name": (
        [node("n")],
        {"affinity": pinned("m")},
        "1 node(s) didn't satisfy plugin(s) [NodeAffinity]",
        UNRESOLVABLE,
    ),
    "contradictory names": (
        [node("n")],
        {"affinity": pinned("m", "n")},
        "pod affinity terms conflict",
        UNRESOLVABLE,
    ),
    "a port in use": (
        [node("n"), pod("other", on="n", containers=PORT)],
        {"containers": PORT},
        "1 node(s) didn't have free ports for the requested pod ports",
        UNSCHEDULABLE,
    ),
    "a full node": ([node("n", "2"), pod("other", "2", on="n")], {}, "1 Insufficient cpu", UNSCHEDULABLE),
    "a node that is too small": ([node("n", "500m")], {}, "1 Insufficient cpu", UNRESOLVABLE),
    "a node without pod slots": (
        [{**node("n"), "status": {"allocatable": {"cpu": "4"}}}],
        {},
        "1 Too many pods",
        UNSCHEDULABLE,
    ),
    "a missing topology label": (
        [node("n")],
        {"topologySpreadConstraints": spread(ZONE)},
        "1 node(s) didn't match pod topology spread constraints (missing required label)",
        UNRESOLVABLE,
    ),
    "affinity to nobody": (
        [node("n")],
        {"affinity": {"podAffinity": term("friend")}},
        "1 node(s) didn't match pod affinity rules",
        UNRESOLVABLE,
    ),
    "anti-affinity of its own": (
        [node("n"), pod("foe", on="n")],
        {"affinity": {"podAntiAffinity": term("foe")}},
        "1 node(s) didn't match pod anti-affinity rules",
        UNSCHEDULABLE,
    ),
    "anti-affinity of a pod that is there": (
        [node("n"), pod("foe", on="n", affinity={"podAntiAffinity": term("want")})],
        {},
        "1 node(s) didn't satisfy existing pods anti-affinity rules",
        UNSCHEDULABLE,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_filter_says_why_and_whether_evicting_helps(name: str) -> None:
    objects, spec, words, code = CASES[name]
    cluster = Cluster()
    for each in (*objects, pod("want", **spec)):
        cluster.set(decode(each))
    filters = PodFilters(cluster, cluster.pods.row_of["a/want"])
    assert place(filters) is None
    found = diagnose(filters)
    assert found.message == f"0/1 nodes are available: {words}."
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
    assert "1 node(s) didn't match pod topology spread constraints" in diagnose(filters).message


def test_the_first_pod_of_a_self_affine_group_may_go_anywhere() -> None:
    cluster = Cluster()
    for each in (node("n"), pod("want", affinity={"podAffinity": term("want")})):
        cluster.set(decode(each))
    assert place(PodFilters(cluster, cluster.pods.row_of["a/want"])) is not None


def test_no_nodes_at_all_has_its_own_words() -> None:
    cluster = Cluster()
    cluster.set(decode(pod("want")))
    assert diagnose(PodFilters(cluster, 0)).message == "no nodes available to schedule pods"


def test_a_nominated_node_is_taken_without_scoring() -> None:
    cluster = Cluster()
    for each in (node("roomy", "8"), node("tight", "2"), pod("want", status={"nominatedNodeName": "tight"})):
        cluster.set(decode(each))
    slot = place(PodFilters(cluster, cluster.pods.row_of["a/want"]))
    assert slot is not None
    assert cluster.nodes.names[slot] == "tight"
