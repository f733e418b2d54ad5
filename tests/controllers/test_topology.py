"""Pods are told their domains: ranks in order, and the whole way against an embedded API server."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.controllers import quota
from reprieve.controllers.quota.job_shape import as_it_runs
from reprieve.controllers.quota.node_failures import FailureRules, Failures
from reprieve.controllers.quota.ranks import selectors, strays
from reprieve.jobs import JobKinds, job_workloads, pod_sets, restored
from reprieve.kube import JOBS, NODES, PODS, RESOURCE_FLAVORS, TOPOLOGIES
from reprieve.objects import (
    Domain,
    Node,
    Placement,
    Pod,
    ResourceFlavor,
    Workload,
    compressed,
    decode_as,
    expanded,
    format_time,
)
from reprieve.objects.kueue import Admission, PodSetAssignment
from reprieve.quota import with_status
from tests import builders
from tests.controllers.clusters import NAMESPACE, Cluster, cluster
from tests.waiting import eventually

HOST, RACK = "kubernetes.io/hostname", "example.com/rack"
INDEX = "batch.kubernetes.io/job-completion-index"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
GATE = "kueue.x-k8s.io/topology"


def admitted(*domains: tuple[str, int], index: str = INDEX) -> Workload:
    request = {"required": RACK, "podIndexLabel": index}
    document = builders.workload("w", cpu=1, count=sum(n for _, n in domains), namespace=NAMESPACE)
    document["spec"]["podSets"][0]["topologyRequest"] = request
    placement = Placement((HOST,), tuple(Domain((host,), pods) for host, pods in domains))
    assignment = PodSetAssignment(
        name="main", flavors={"cpu": "tas"}, topology_assignment=compressed(placement)
    )
    view = decode_as(document, Workload)
    return with_status(view, admission=Admission(cluster_queue="cq", pod_set_assignments=(assignment,)))


def ranked(name: str, rank: object, host: str = "") -> Pod:
    labels = {} if rank is None else {INDEX: str(rank)}
    more: dict[str, Any] = {"nodeSelector": {HOST: host}} if host else {}
    return decode_as(builders.pod(name, namespace=NAMESPACE, labels=labels, **more), Pod)


def hosts(found: dict[str, dict[str, str]]) -> dict[str, str]:
    return {key.partition("/")[2]: selector[HOST] for key, selector in found.items()}


def test_ranks_go_to_domains_in_their_order_whatever_the_names_are() -> None:
    workload = admitted(("a", 2), ("b", 1))
    pods = [ranked("x", 2), ranked("y", 0), ranked("z", 1)]
    assert hosts(selectors(workload, "main", [], pods)) == {"x": "b", "y": "a", "z": "a"}


def test_a_pod_that_is_made_again_gets_the_place_of_its_rank() -> None:
    workload = admitted(("a", 1), ("b", 1), ("c", 1))
    here = [ranked("p0", 0, "a"), ranked("p2", 2, "c")]
    assert hosts(selectors(workload, "main", here, [ranked("again", 1)])) == {"again": "b"}


def test_pods_without_usable_ranks_fill_what_is_free_by_name() -> None:
    workload = admitted(("a", 1), ("b", 2))
    for pods in (
        [ranked("p", None), ranked("q", None)],
        [ranked("p", 0), ranked("q", 0)],
        [ranked("p", 7), ranked("q", 1)],
    ):
        assert hosts(selectors(workload, "main", [ranked("r", 9, "b")], pods)) == {"p": "a", "q": "b"}


def test_there_are_no_more_places_than_the_assignment_has() -> None:
    workload = admitted(("a", 1), index="")
    assert hosts(selectors(workload, "main", [], [ranked("p", None), ranked("q", None)])) == {"p": "a"}


def test_a_job_says_its_topology_and_gets_a_gate_that_its_restoration_takes_away() -> None:
    job = builders.job("j", cpu=1, count=2, queue="main", namespace=NAMESPACE, annotations={REQUIRED: RACK})
    job["spec"]["completionMode"] = "Indexed"
    kinds = JobKinds()
    [asking] = job_workloads(job, kinds)
    [asked] = asking.workload["spec"]["podSets"]
    assert asked["topologyRequest"] == {"required": RACK, "podIndexLabel": INDEX}
    running = as_it_runs(job, kinds, (), admitted(("a", 2)), {})
    assert running["spec"]["template"]["spec"]["schedulingGates"] == [{"name": GATE}]
    back = restored(running, pod_sets(running, kinds))
    assert "schedulingGates" not in back["spec"]["template"]["spec"]


BY_DEFAULT = FailureRules()
NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)


def sick_node(name: str, ready: str = "True", seconds: int = 10, **spec: Any) -> Node:
    """Its readiness changed so many seconds ago."""
    since = format_time(NOW - timedelta(seconds=seconds))
    status = {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}]}
    return decode_as(builders.node(name, status=status, **spec), Node)


def on(name: str) -> Pod:
    return decode_as(builders.pod("p", namespace=NAMESPACE, nodeName=name), Pod)


def failed(
    nodes: dict[str, Node], *pods: Pod, tolerations: Any = (), rules: FailureRules = BY_DEFAULT
) -> list[str]:
    """Of a workload that was sent to `a` and `b`."""
    flavors = {"tas": decode_as(builders.flavor("tas", tolerations=list(tolerations)), ResourceFlavor)}
    found = Failures(rules, nodes, flavors).health(admitted(("a", 1), ("b", 1)), pods, NOW)
    return [each.name for each in found.failed]


TAINT = {"key": "x", "effect": "NoExecute"}


def test_a_node_has_failed_when_it_is_gone_or_its_pods_end_on_it() -> None:
    fine = {"a": sick_node("a"), "b": sick_node("b")}
    assert failed(fine) == []
    assert failed({"a": fine["a"]}) == ["b"]
    sick = {**fine, "b": sick_node("b", "False", 3600)}
    assert failed(sick, on("b")) == []
    assert failed(sick) == ["b"]
    tainted = {**fine, "b": sick_node("b", taints=[TAINT])}
    assert failed(tainted) == ["b"]
    assert failed(tainted, on("b")) == []


def test_a_taint_that_the_flavor_tolerates_is_no_failure() -> None:
    """Nodes with accelerators are tainted, and their flavor has the toleration: no pod needs its own."""
    nodes = {"a": sick_node("a", taints=[TAINT]), "b": sick_node("b", taints=[TAINT])}
    assert failed(nodes, tolerations=[{"key": "x", "operator": "Exists"}]) == []
    for_a_while = {"key": "x", "operator": "Exists", "tolerationSeconds": 300}
    assert failed(nodes, on("a"), tolerations=[for_a_while]) == ["b"], "pods are about to end there"


def test_the_gates_about_failed_nodes_decide_when_a_node_has_failed() -> None:
    rules = BY_DEFAULT
    young, old = sick_node("b", "False", 10), sick_node("b", "False", 30)
    tainted = sick_node("b", taints=[TAINT])
    table = [
        (rules._replace(enabled=False), None, []),
        (rules._replace(when_pods_end=False), young, []),
        (rules._replace(when_pods_end=False), old, ["b"]),
        (rules._replace(when_pods_end=False), tainted, ["b"]),
        (rules._replace(after_a_time=True), young, []),
        (rules._replace(after_a_time=True), old, ["b"]),
        (rules._replace(for_taints=False), tainted, []),
    ]
    for chosen, node, wanted in table:
        nodes = {"a": sick_node("a"), **({"b": node} if node is not None else {})}
        assert failed(nodes, on("b"), rules=chosen) == wanted, chosen


def test_where_time_decides_the_node_is_looked_at_again_when_it_is_over() -> None:
    nodes = {"a": sick_node("a"), "b": sick_node("b", "False", 10)}
    rules = FailureRules(when_pods_end=False)
    assert Failures(rules, nodes, {}).health(admitted(("a", 1), ("b", 1)), [], NOW).left == 20
    assert Failures(BY_DEFAULT, nodes, {}).health(admitted(("a", 1)), [], NOW).left == 0


def test_a_pod_for_a_node_that_was_replaced_before_it_came_there_is_made_again() -> None:
    workload = admitted(("a", 1), ("c", 1))
    owner = builders.owned_by("Job", "j") | {"controller": True}

    def told(name: str, host: str, owned: bool = True, **spec: Any) -> Pod:
        metadata = {"ownerReferences": [owner]} if owned else {}
        found = builders.pod(name, namespace=NAMESPACE, metadata=metadata, nodeSelector={HOST: host}, **spec)
        return decode_as(found, Pod)

    pods = [told("here", "a"), told("lost", "b"), told("bare", "b", owned=False)]
    pods += [told("runs", "b", nodeName="b"), ranked("new", 1)]
    assert [pod.name for pod in strays(workload, "main", pods)] == ["lost"]


async def with_racks(place: Cluster) -> None:
    """Two racks of two hosts with 2 cpu each."""
    levels = [{"nodeLabel": RACK}, {"nodeLabel": HOST}]
    await place.client.create(TOPOLOGIES, builders.kueue("Topology", "racks", {"levels": levels}))
    spec = {"topologyName": "racks", "nodeLabels": {"pool": "gpu"}}
    await place.client.patch(RESOURCE_FLAVORS, "default", {"spec": spec})
    for rack, name in (("r1", "a"), ("r1", "b"), ("r2", "c"), ("r2", "d")):
        labels, ready = {RACK: rack, "pool": "gpu"}, {"conditions": [{"type": "Ready", "status": "True"}]}
        made = builders.node(name, 2, labels=labels, status=ready)
        await place.client.create(NODES, made)
        await place.client.patch(NODES, name, {"status": made["status"]}, subresource="status")


async def domains(place: Cluster) -> dict[str, list[str]]:
    """Where each workload was sent, by name of its job."""
    found = {}
    for document in (await place.workloads()).values():
        view = decode_as(document, Workload)
        placement = [
            expanded_values(each) for each in (view.status.admission or Admission()).pod_set_assignments
        ]
        found[view.metadata.owner_references[0].name] = [host for hosts in placement for host in hosts]
    return found


def expanded_values(assignment: PodSetAssignment) -> list[str]:
    if assignment.topology_assignment is None:
        return []
    return [domain.values[-1] for domain in expanded(assignment.topology_assignment).domains]


async def test_jobs_are_sent_to_racks_and_a_lost_node_is_replaced_in_its_rack() -> None:
    async with cluster("one", controllers=False) as place:
        await place.furnish(cpu="100")
        await with_racks(place)
        place.start(quota.run(place.client))
        asked = {REQUIRED: RACK}
        job = builders.job("wide", cpu=2, count=1, queue="main", namespace=NAMESPACE, annotations=asked)
        await place.client.create(JOBS, job)
        await eventually(lambda: _sent(place, "wide"), "the job is sent to a host")
        [host] = (await domains(place))["wide"]
        started = await place.client.get(JOBS.raw(), "wide", NAMESPACE)
        template = started["spec"]["template"]
        assert template["spec"]["schedulingGates"] == [{"name": GATE}]
        pod = builders.pod(
            "wide-0",
            2,
            namespace=NAMESPACE,
            labels=template["metadata"]["labels"],
            annotations=template["metadata"]["annotations"],
            schedulingGates=template["spec"]["schedulingGates"],
        )
        await place.client.create(PODS, pod)
        await eventually(lambda: _told(place, "wide-0", host), "the pod is told its host")
        await place.client.delete(PODS, "wide-0", NAMESPACE)
        await place.client.delete(NODES, host)
        await eventually(lambda: _moved(place, "wide", host), "another host takes the place of the lost one")


async def _sent(place: Cluster, job: str) -> bool:
    started = await place.client.get(JOBS.raw(), job, NAMESPACE)
    return bool((await domains(place)).get(job)) and not started["spec"]["suspend"]


async def _told(place: Cluster, name: str, host: str) -> bool:
    pod = await place.client.get(PODS.raw(), name, NAMESPACE)
    spec = pod["spec"]
    return not spec.get("schedulingGates") and (spec.get("nodeSelector") or {}).get(HOST) == host


async def _moved(place: Cluster, job: str, lost: str) -> bool:
    found = (await domains(place)).get(job)
    return bool(found) and lost not in (found or ())
