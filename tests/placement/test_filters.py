"""Each filter's words, and whether evicting pods could help."""

from typing import Any

import pytest

from reprieve.cluster import Cluster
from reprieve.objects.decode import decode
from reprieve.placement import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Code,
    PodFilters,
    Reason,
    diagnose,
    objections,
    place,
)
from reprieve.placement.sentences import filters as sentences
from reprieve.placement.sentences import volumes
from reprieve.placement.spread import Minimum
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
    assert diagnose(filters).reasons == {Reason(Code.SPREAD_SKEW): 1}


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


def filters_of(*documents: Document, name: str = "want") -> PodFilters:
    cluster = Cluster()
    for each in documents:
        cluster.set(decode(each))
    return PodFilters(cluster, cluster.pods.row_of[f"a/{name}"])


def test_a_node_that_lacks_a_label_is_not_said_to_be_too_full() -> None:
    """No pod on `bare` is counted, for it lacks the zone of the second rule: the first has no objection."""
    both = [*spread(HOST), *spread(ZONE)]
    filters = filters_of(node("bare"), node("n", zone="z"), pod("want", topologySpreadConstraints=both))
    assert diagnose(filters).reasons == {Reason(Code.SPREAD_LABEL): 1}
    assert filters.spread is not None
    assert filters.spread.skews(0) == {HOST: 1}
    assert filters.spread.skews(1) == {HOST: 1, ZONE: 1}


def test_of_equally_empty_domains_the_first_two_by_name_are_watched() -> None:
    """kube-scheduler watches two domains and does not see a third that has become the emptiest."""
    for exact, least in ((False, 1), (True, 0)):
        counts = {0: 0, 1: 0, 2: 0}
        minimum = Minimum(counts, ["a", "b", "c"], exact)
        for domain in (0, 1):
            counts[domain] = 1
            minimum.update(domain, 1)
        assert minimum.value == least


def test_a_node_that_is_kept_for_a_nominated_pod_says_so_unless_it_objects_anyway() -> None:
    first = pod("first", "4", 9, status={"nominatedNodeName": "n"})
    kept = filters_of(node("n", "4"), node("m", "1"), first, pod("want", "2", 9))
    found = objections(kept)
    assert found[Reason(Code.KEPT)].tolist() == [True, False]
    assert found[Reason(Code.INSUFFICIENT, ("cpu",))].tolist() == [False, True]
    small = filters_of(node("n", "1"), first, pod("want", "2", 9))
    assert Reason(Code.KEPT) not in objections(small)


def stored(name: str, claim: str) -> Document:
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])


def bound_claim(name: str, volume: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": "a",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": volume},
        "status": {"phase": "Bound"},
    }


def test_a_claim_whose_volume_is_gone_keeps_its_pod_from_every_node() -> None:
    """The zones of a pod's own claims are read first, and say so before any node is looked at. Those of an
    ephemeral claim are not.
    """
    filters = filters_of(node("n"), bound_claim("data", "gone"), stored("want", "data"))
    assert place(filters) is None
    assert diagnose(filters).message == sentences.refused_before_nodes(1, volumes.volume_not_found("gone"))
    own = bound_claim("want-v", "gone")
    own["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "want", "uid": "u", "controller": True}
    ]
    template = {"spec": {"accessModes": ["ReadWriteOnce"]}}
    want = pod("want", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}])
    want["metadata"]["uid"] = "u"
    filters = filters_of(node("n"), own, want)
    assert place(filters) is None
    assert diagnose(filters).reasons == {Reason(Code.VOLUME_LOST): 1}


def test_nobody_elses_volumes_matter_to_a_pod_without_its_own_claim() -> None:
    filters = filters_of(
        node("n"), bound_claim("data", "gone"), stored("other", "data"), stored("want", "nowhere")
    )
    assert filters.volumes is not None
    assert filters.volumes.refusal
    assert not filters.volumes.matters(filters.cluster.pods.row_of["a/other"])
