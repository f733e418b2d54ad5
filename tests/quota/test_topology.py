"""Placements in topologies: the columns against rules written down naively, and what always holds."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

import reprieve
from reprieve.objects import Domain, Node, Placement, PodSpec, TopologyRequest, decode_as
from reprieve.objects.kueue import SliceConstraint
from reprieve.quota import sentences
from reprieve.quota.rules import TopologyRules
from reprieve.quota.topology.columns import Columns
from reprieve.quota.topology.held import Held, with_pods
from reprieve.quota.topology.placing import Placer
from reprieve.quota.topology.tree import Tree
from reprieve.quota.topology.wish import Failure, Wish
from tests import builders
from tests.quota.naive_topology import Ask, Naive, tree
from tests.scale import examples

BLOCK, RACK, HOST = LEVELS = ("example.com/block", "example.com/rack", "kubernetes.io/hostname")
CORPUS = Path(__file__).parents[1] / "corpus" / "topology" / "tas-preemption.jsonl.gz"


@st.composite
def places(draw: st.DrawFn) -> dict[tuple[str, ...], dict[str, int]]:
    """Leaves with what they have free; some have room for few pods, some for none."""
    paths = draw(
        st.sets(
            st.tuples(st.sampled_from("AB"), st.sampled_from("rst"), st.sampled_from("uvwxyz")), min_size=1
        )
    )
    free = st.fixed_dictionaries(
        {"cpu": st.integers(0, 8).map(lambda n: n * 1000), "pods": st.integers(0, 9)}
    )
    return {(*path[:2], "-".join(path)): draw(free) for path in sorted(paths)}


@st.composite
def requests(draw: st.DrawFn) -> tuple[TopologyRequest | None, Ask]:
    kind = draw(st.sampled_from(("required", "preferred", "unconstrained", "slices", "implied")))
    level = draw(st.integers(0, 2)) if kind in ("required", "preferred") else {"slices": 0}.get(kind, 2)
    sliced = kind == "slices" or (kind in ("required", "preferred") and draw(st.booleans()))
    size = draw(st.integers(1, 3)) if sliced else 1
    slice_level = draw(st.integers(level, 2)) if sliced else 2
    count = size * draw(st.integers(1, 6))
    worker = with_pods({"cpu": draw(st.sampled_from((500, 1000, 2000)))})
    leader = with_pods({"cpu": draw(st.sampled_from((0, 1000, 3000)))}) if draw(st.booleans()) else None
    ask = Ask(
        level,
        kind == "required",
        kind not in ("required", "preferred"),
        size,
        slice_level,
        count,
        worker,
        leader,
    )
    fields: dict[str, Any] = {}
    if kind in ("required", "preferred"):
        fields[kind] = LEVELS[level]
    if kind == "unconstrained":
        fields["unconstrained"] = True
    if sliced:
        layer = SliceConstraint(topology=LEVELS[slice_level], size=size)
        fields["podset_slice_required_topology_constraints"] = (layer,)
    return (None if kind == "implied" else TopologyRequest(**fields)), ask


def columns(leaves: dict[tuple[str, ...], dict[str, int]]) -> Columns:
    nodes = [
        decode_as(
            builders.node(
                path[-1],
                f"{free['cpu']}m",
                memory=None,
                pods=free["pods"],
                labels=dict(zip(LEVELS, path, strict=True)),
            ),
            Node,
        )
        for path, free in leaves.items()
    ]
    return Columns("tas", "topo", Tree(LEVELS, nodes), ())


def wishes(request: TopologyRequest | None, ask: Ask) -> tuple[Wish, Wish | None]:
    def wish(name: str, count: int, amounts: dict[str, int]) -> Wish:
        single = {"cpu": amounts["cpu"]}
        return Wish(name, "tas", count, single, PodSpec(), request, request is None, None)

    workers = wish("workers", ask.count, ask.worker)
    return workers, None if ask.leader is None else wish("leader", 1, ask.leader)


def by_host(placement: Placement) -> dict[str, int]:
    return {domain.values[-1]: domain.pods for domain in placement.domains}


def place(capacity: Columns, request: TopologyRequest | None, ask: Ask) -> dict[str, Placement] | Failure:
    return Placer(capacity, TopologyRules(), None).place(*wishes(request, ask), {}, empty=False)


@examples(200, least=40)
@given(places(), requests())
def test_columns_choose_the_domains_that_the_rules_choose(
    leaves: dict[tuple[str, ...], dict[str, int]], asked: tuple[TopologyRequest | None, Ask]
) -> None:
    request, ask = asked
    found, naive = place(columns(leaves), request, ask), Naive(tree(3, leaves), ask, 3).run()
    if naive is None:
        assert isinstance(found, Failure)
        return
    assert not isinstance(found, Failure)
    assert by_host(found["workers"]) == {path[-1]: pods for path, pods in naive[0].items()}
    if ask.leader is not None:
        assert by_host(found["leader"]) == {path[-1]: pods for path, pods in naive[1].items()}


@examples(200, least=40)
@given(places(), requests())
def test_what_is_assigned_fits_stays_in_its_domain_and_slices_are_whole(
    leaves: dict[tuple[str, ...], dict[str, int]], asked: tuple[TopologyRequest | None, Ask]
) -> None:
    request, ask = asked
    found = place(columns(leaves), request, ask)
    if isinstance(found, Failure):
        return
    path_of = {path[-1]: path for path in leaves}
    workers = by_host(found["workers"])
    leaders = by_host(found["leader"]) if ask.leader is not None else {}
    if workers or leaders:  # nothing at all: upstream's counts did not add up, and nothing is given
        assert sum(workers.values()) == ask.count
        assert sum(leaders.values()) == (ask.leader is not None)
    for host in workers.keys() | leaders.keys():
        free = leaves[path_of[host]]
        for resource in ("cpu", "pods"):
            used = workers.get(host, 0) * ask.worker.get(resource, 0)
            used += leaders.get(host, 0) * (ask.leader or {}).get(resource, 0)
            assert used <= free[resource]
    if ask.required:
        assert len({path_of[host][: ask.level + 1] for host in workers}) <= 1
    slices: dict[tuple[str, ...], int] = {}
    for host, pods in workers.items():
        domain = path_of[host][: ask.slice_level + 1]
        slices[domain] = slices.get(domain, 0) + pods
    assert all(pods % ask.size == 0 for pods in slices.values())


@examples(60, least=20)
@given(places(), requests(), st.lists(st.integers(0, 5), max_size=6))
def test_counts_that_follow_changes_equal_counts_made_anew(
    leaves: dict[tuple[str, ...], dict[str, int]],
    asked: tuple[TopologyRequest | None, Ask],
    changes: list[int],
) -> None:
    request, ask = asked
    capacity = columns(leaves)
    placer = Placer(capacity, TopologyRules(), None)
    placer.place(*wishes(request, ask), {}, empty=False)
    hosts = sorted(path[-1] for path in leaves)
    for number in changes:
        held = Held("tas", {"cpu": 1000}, (Domain((hosts[number % len(hosts)],), 1),))
        capacity.hold(held, 1 if number % 2 else -1)
        again = placer.place(*wishes(request, ask), {}, empty=False)
        anew = Placer(capacity, TopologyRules(), None).place(*wishes(request, ask), {}, empty=False)
        assert (again == anew) or (isinstance(again, Failure) and isinstance(anew, Failure))


# --- failures of upstream that must cost nobody a running workload --------------------------------------


def row(name: str) -> dict[str, Any]:
    with gzip.open(CORPUS, "rt") as lines:
        return next(found for line in lines if (found := json.loads(line))["name"] == name)


def plan(case: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = reprieve.plan(
        case["objects"],
        case["submit"],
        config=case["config"],
        now=case["now"],
        cluster_queue="cq" if case.get("targetClusterQueue") is None else case["targetClusterQueue"],
    ).to_dict()
    return answer


def racks(*cpus: int, pods: int = 110) -> list[dict[str, Any]]:
    """One host in each rack."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    nodes = [
        builders.node(f"n{i}", cpu, pods=pods, labels={RACK: f"r{i}", "pool": "a"}, status=ready)
        for i, cpu in enumerate(cpus)
    ]
    levels = [{"nodeLabel": RACK}, {"nodeLabel": HOST}]
    return [
        *nodes,
        builders.kueue("Topology", "racks", {"levels": levels}),
        builders.flavor("default", topologyName="racks", nodeLabels={"pool": "a"}),
        builders.cluster_queue("cq", "100", preemption={"withinClusterQueue": "LowerPriority"}),
        builders.local_queue("main", "cq"),
    ]


def asking(name: str, cpu: int, priority: int, level: str = HOST, **more: Any) -> dict[str, Any]:
    document = builders.workload(name, cpu=cpu, priority=priority, **more)
    document["spec"]["podSets"][0]["topologyRequest"] = {"required": level}
    return document


def running(name: str, cpu: int, priority: int, host: str) -> dict[str, Any]:
    document = builders.reserved(asking(name, cpu, priority))
    slices = [{"domainCount": 1, "valuesPerLevel": [{"universal": host}], "podCounts": {"universal": 1}}]
    assignment = {"levels": [HOST], "slices": slices}
    document["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] = assignment
    return document


def decided(*objects: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = reprieve.plan(
        list(objects), "Workload/default/big", now="2026-08-23T12:00:00Z"
    ).to_dict()
    return answer


def test_5243_nobody_is_evicted_for_a_pod_that_no_single_node_could_hold() -> None:
    """Every node frees 2 of its 4 cpu if its low workload goes; the pod needs 8 on one node."""
    low = [running(f"low-{i}", 2, 0, f"n{i}") for i in range(4)]
    answer = decided(*racks(4, 4, 4, 4), *low, asking("big", 8, 10))
    assert answer["victims"] == []
    assert answer["mode"] == "NoFit"


def test_5243_the_node_that_is_free_at_the_cost_of_one_victim_is_taken() -> None:
    low = [running(f"low-{i}", 2, 0, f"n{i}") for i in range(4)]
    answer = decided(*racks(4, 4, 8, 4), *low, asking("big", 8, 10))
    assert [victim["workload"] for victim in answer["victims"]] == ["default/low-2"]
    assert answer["topology"]["main"]["domains"] == [{"values": ["n2"], "count": 1}]


def test_10815_a_rack_that_policy_protects_costs_nobody_anything() -> None:
    for strategies in ("default", "['LessThanInitialShare']"):
        answer = plan(row(f"issue 10815: reclaim under fair sharing, rack slice, strategies {strategies}"))
        assert (answer["mode"], answer["victims"]) == ("Preempt", [])
        assert "topology" not in answer


def test_10824_a_flavor_without_nodes_evicts_nobody_and_is_named() -> None:
    case = row("issue 10824: second flavor has quota but no nodes, whenCanPreempt=TryNextFlavor")
    answer = plan(case)
    assert (answer["mode"], answer["victims"]) == ("NoFit", [])
    assert answer["noFitReason"] == "TopologyPlacementFailed"


def test_10929_pods_that_were_told_their_domain_are_not_counted_twice() -> None:
    """Implied topology: the pods have no annotation of their own, but they name their workload."""
    low = running("low", 4, 0, "n0")
    told = {"kueue.x-k8s.io/workload": "low"}
    pod = builders.pod("low-0", 4, on="n0", annotations=told)
    answer = decided(*racks(4), low, pod, asking("big", 4, 10))
    assert [victim["workload"] for victim in answer["victims"]] == ["default/low"]
    stranger = builders.pod("stranger", 4, on="n0")
    answer = decided(*racks(4), low, stranger, asking("big", 4, 10))
    assert (answer["mode"], answer["victims"]) == ("NoFit", [])


def test_who_waits_in_vain_for_a_rack_is_told_what_the_largest_could_hold() -> None:
    low = running("low", 8, 0, "n2")
    answer = decided(*racks(4, 4, 8), low, asking("big", 4, 10, level=RACK, count=3))
    assert (answer["mode"], answer["victims"]) == ("NoFit", [])
    assert answer["reasons"][-1] == sentences.no_domain_could_hold("default", RACK, "r2", 2, wanted=3)
    answer = decided(*racks(4, 4, 8), low, asking("big", 4, 10, level=RACK, count=2))
    assert [victim["workload"] for victim in answer["victims"]] == ["default/low"]
    full = sentences.topology_is_full("racks", fit=1, needed=2, slices=False)
    said = sentences.with_excluded_nodes(full, 3, [sentences.excluded_by_resource("cpu", 1)])
    assert answer["reasons"] == [sentences.in_pod_set("main", said)]


def test_a_workload_that_waits_keeps_its_reserved_rack_from_those_behind_it() -> None:
    answer = decided(*racks(4), running("high", 4, 100, "n0"), asking("big", 4, 10))
    assert (answer["mode"], answer["victims"]) == ("Preempt", [])
    assert answer["reservedTopology"]["main"]["domains"] == [{"values": ["n0"], "count": 1}]


def test_quota_without_topology_loads_no_arrays() -> None:
    code = "import sys, reprieve.quota, reprieve.whatif.quota; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
