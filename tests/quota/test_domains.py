"""Rules about domains, one test each: leaders, preferred nodes, what a preemptor keeps, and gates."""

from datetime import UTC, datetime
from typing import Any

import pytest

import reprieve
from reprieve.config import Configuration
from reprieve.objects import Node, Placement, PodSpec, TopologyRequest, decode_all, decode_as, expanded
from reprieve.quota import Quota, Rules, cycle, load, sentences
from reprieve.quota.rules import TopologyRules
from reprieve.quota.topology.columns import Columns
from reprieve.quota.topology.placing import Placer
from reprieve.quota.topology.tree import Tree
from reprieve.quota.topology.wish import Failure, Wish
from tests import builders
from tests.builders import Document

NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
GPU = "example.com/gpu"
RACK, HOST = LEVELS = ("example.com/rack", "kubernetes.io/hostname")


def host(name: str, cpu: int, *, gpus: int = 0, **labels: str) -> Document:
    """`r1-a` is a host of rack `r1`."""
    return builders.node(
        name,
        cpu,
        labels={RACK: name.partition("-")[0], "pool": "a", **labels},
        allocatable={GPU: str(gpus)},
        status={"conditions": [{"type": "Ready", "status": "True"}]},
    )


# Placing one pod set


def wish(name: str, count: int, request: TopologyRequest, spec: PodSpec | None = None, **single: int) -> Wish:
    amounts = {GPU if resource == "gpu" else resource: number for resource, number in single.items()}
    return Wish(name, "tas", count, amounts, spec or PodSpec(), request, False, None)


def placed(
    hosts: list[Document], workers: Wish, leader: Wish | None = None, *, scored: bool = False
) -> dict[str, Placement] | Failure:
    columns = Columns("tas", "topo", Tree(LEVELS, [decode_as(each, Node) for each in hosts]), ())
    return Placer(columns, TopologyRules(scored=scored), None).place(
        workers, leader, {}, empty=False, explain=True
    )


def on_hosts(found: dict[str, Placement] | Failure) -> dict[str, dict[str, int]]:
    assert not isinstance(found, Failure)
    return {
        name: {domain.values[-1]: domain.pods for domain in placement.domains}
        for name, placement in found.items()
    }


def test_a_leader_takes_none_of_what_only_its_workers_ask_for() -> None:
    one = TopologyRequest(required=HOST)
    workers, leader = wish("workers", 4, one, cpu=1000, gpu=1), wish("leader", 1, one, cpu=1000)
    found = placed([host("r1-a", 8, gpus=4)], workers, leader)
    assert on_hosts(found) == {"workers": {"r1-a": 4}, "leader": {"r1-a": 1}}


@pytest.mark.parametrize("asked", [TopologyRequest(preferred=RACK), TopologyRequest(unconstrained=True)])
def test_a_leader_that_fits_nowhere_keeps_its_workers_out(asked: TopologyRequest) -> None:
    """Also where the workers need several domains, and these have room for them."""
    workers, leader = wish("workers", 4, asked, cpu=1000), wish("leader", 1, asked, cpu=9000)
    found = placed([host("r1-a", 2), host("r2-a", 2)], workers, leader)
    assert isinstance(found, Failure)
    assert found.text == sentences.topology_is_full("topo", fit=0, needed=4, slices=False)


def test_of_domains_that_cannot_take_the_leader_none_is_better_than_another() -> None:
    """What is told is how many workers fit in the first of them, not in the largest."""
    one = TopologyRequest(required=RACK)
    workers, leader = wish("workers", 4, one, cpu=1000), wish("leader", 1, one, cpu=9000)
    found = placed([host("r1-a", 2), host("r2-a", 3)], workers, leader)
    assert isinstance(found, Failure)
    assert found.text == sentences.topology_is_full("topo", fit=2, needed=4, slices=False)


def preferring(label: str) -> PodSpec:
    term = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    preferred = [{"weight": 10, "preference": term}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    spec: PodSpec = builders.view(builders.pod(affinity=affinity)).spec
    return spec


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scored", [True, False])
def test_the_nodes_that_pods_prefer_go_before_the_tightest(level: str, scored: bool) -> None:
    """At every level: a rack is preferred for its hosts."""
    hosts = [host("r1-a", 2), host("r2-a", 8, fast=""), host("r3-a", 2)]
    workers = wish("workers", 2, TopologyRequest(required=level), preferring("fast"), cpu=1000)
    chosen = "r2-a" if scored else "r1-a"
    assert on_hosts(placed(hosts, workers, scored=scored)) == {"workers": {chosen: 2}}


# Whole workloads


def queue_of(*hosts: Document, flavors: tuple[str, ...] = ("default",)) -> list[Document]:
    """A queue with a flavor in a topology, and maybe others that have none."""
    levels = [{"nodeLabel": level} for level in LEVELS]
    return [
        *hosts,
        builders.kueue("Topology", "racks", {"levels": levels}),
        builders.flavor("default", topologyName="racks", nodeLabels={"pool": "a"}),
        *(builders.flavor(name) for name in flavors if name != "default"),
        builders.cluster_queue(
            "cq", "100", flavors=flavors, preemption={"withinClusterQueue": "LowerPriority"}
        ),
        builders.local_queue("main", "cq"),
    ]


def asking(name: str, cpu: int, priority: int = 0, *, count: int = 1, **more: Any) -> Document:
    document = builders.workload(name, cpu, priority, count=count, **more)
    document["spec"]["podSets"][0]["topologyRequest"] = {"required": HOST}
    return document


def running(document: Document, on: str) -> Document:
    found = builders.reserved(document)
    pods = document["spec"]["podSets"][0]["count"]
    slices = [{"domainCount": 1, "valuesPerLevel": [{"universal": on}], "podCounts": {"universal": pods}}]
    assignment = {"levels": [HOST], "slices": slices}
    found["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] = assignment
    return found


def loaded(*objects: Document, **gates: bool) -> Quota:
    return load(decode_all(list(objects)), Rules.of(Configuration.load({"featureGates": gates})), NOW)


def given(quota: Quota) -> dict[str, dict[str, int]]:
    """The hosts that workloads get in the next cycle, with the number of pods on each."""
    found = {}
    for each in cycle(quota, NOW).reserved:
        assert each.workload.status.admission is not None
        [assigned] = each.workload.status.admission.pod_set_assignments
        placement = assigned.topology_assignment
        domains = expanded(placement).domains if placement is not None else ()
        found[each.info.workload.name] = {domain.values[-1]: domain.pods for domain in domains}
    return found


@pytest.mark.parametrize("flavors", [("default",), ("default", "plain")])
def test_who_preempts_gets_the_domain_of_its_victims(flavors: tuple[str, ...]) -> None:
    """Also in a queue that has flavors without a topology beside it."""
    hosts = [host("r1-a", 4), host("r1-b", 8)]
    low, high = running(asking("low", 4), "r1-a"), running(asking("high", 8, 20), "r1-b")
    objects = [*queue_of(*hosts, flavors=flavors), low, high, asking("big", 4, 10)]
    answer: Any = reprieve.plan(objects, "Workload/default/big", now="2026-08-23T12:00:00Z").to_dict()
    assert [victim["workload"] for victim in answer["victims"]] == ["default/low"]
    assert answer["topology"]["main"]["domains"] == [{"values": ["r1-a"], "count": 1}]


def test_a_plan_leaves_the_victims_where_they_are() -> None:
    """What was supposed of their domains is taken back: nobody else is placed there in the same cycle."""
    other = [builders.cluster_queue("cq2", "100"), builders.local_queue("second", "cq2")]
    objects = [
        *queue_of(host("r1-a", 4)),
        *other,
        running(asking("low", 2), "r1-a"),
        asking("big", 4, 10),
        asking("late", 4, queue="second"),
    ]
    quota = loaded(*objects)
    assert given(quota) == {}


def test_heads_of_one_cycle_share_a_host_only_as_far_as_there_is_room() -> None:
    other = [builders.cluster_queue("cq2", "100"), builders.local_queue("second", "cq2")]
    early, late = asking("early", 1, 10, count=2), asking("late", 1, count=3, queue="second")
    quota = loaded(*queue_of(host("r1-a", 4)), *other, early, late)
    assert given(quota) == {"early": {"r1-a": 2}}


def test_a_pod_that_moves_to_a_host_of_its_workload_takes_room_there() -> None:
    """Nobody else of the same cycle gets what a replaced pod takes beside the pod that was there before."""
    other = [builders.cluster_queue("cq2", "100"), builders.local_queue("second", "cq2")]
    wide = running(asking("wide", 1, 10, count=2), "r1-a")
    wide["spec"]["podSets"][0]["topologyRequest"] = {"required": RACK}
    assignment = wide["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]
    assignment["slices"] = [
        {"domainCount": 1, "valuesPerLevel": [{"universal": each}], "podCounts": {"universal": 1}}
        for each in ("r1-a", "r1-b")
    ]
    wide["status"]["conditions"].append({"type": "Admitted", "status": "True", "reason": "Admitted"})
    wide["status"]["unhealthyNodes"] = [{"name": "r1-b"}]
    quota = loaded(*queue_of(host("r1-a", 2)), *other, wide, asking("late", 1, queue="second"))
    assert given(quota) == {"wide": {"r1-a": 2}}


def test_pods_without_domains_do_not_hide_the_domains_of_others() -> None:
    """A workload whose first pod set asks for no topology takes the hosts of its second one."""
    other = [builders.cluster_queue("cq2", "100"), builders.local_queue("second", "cq2")]
    two = asking("early", 3, 10)
    [workers] = two["spec"]["podSets"]
    driver = {**workers, "name": "driver"}
    del driver["topologyRequest"]
    two["spec"]["podSets"] = [driver, workers]
    queue = queue_of(host("r1-a", 4), flavors=("default", "plain"))
    outcome = cycle(loaded(*queue, *other, two, asking("late", 3, queue="second")), NOW)
    assert [each.info.workload.name for each in outcome.reserved] == ["early"]


def test_without_the_gate_quota_alone_decides() -> None:
    objects = [*queue_of(host("r1-a", 4)), asking("wide", 8)]
    assert given(loaded(*objects)) == {}
    assert given(loaded(*objects, TopologyAwareScheduling=False)) == {"wide": {}}
