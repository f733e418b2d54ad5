"""Pods are told their domains: ranks in order, and the whole way against an embedded API server."""

from typing import Any

from reprieve.controllers import quota
from reprieve.controllers.quota.job_shape import job_pod_sets, restored_spec, started_spec
from reprieve.controllers.quota.ranks import selectors
from reprieve.controllers.quota.topology import failed_nodes
from reprieve.kube import JOBS, NODES, PODS, RESOURCE_FLAVORS, TOPOLOGIES
from reprieve.objects import Domain, Node, Placement, Pod, Workload, compressed, decode_as, expanded
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
    sets = job_pod_sets(job)
    assert sets[0]["topologyRequest"] == {"required": RACK, "podIndexLabel": INDEX}
    started = started_spec(admitted(("a", 2)), job, {})
    assert started["template"]["spec"]["schedulingGates"] == [{"name": GATE}]
    job["spec"]["template"]["spec"]["schedulingGates"] = [{"name": GATE}]
    restored = restored_spec({"spec": {"podSets": sets}}, job)
    assert restored["template"]["spec"]["schedulingGates"] is None


def failing_node(name: str, ready: str = "True", **spec: Any) -> Node:
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return decode_as(builders.node(name, status=status, **spec), Node)


def test_a_node_has_failed_when_it_is_gone_or_its_pods_end_on_it() -> None:
    workload = admitted(("a", 1), ("b", 1))
    fine = {"a": failing_node("a"), "b": failing_node("b")}
    on_b = decode_as(builders.pod("p", namespace=NAMESPACE, nodeName="b"), Pod)
    assert failed_nodes(workload, fine, []) == ()
    assert [each.name for each in failed_nodes(workload, {"a": fine["a"]}, [])] == ["b"]
    sick = {**fine, "b": failing_node("b", ready="False")}
    assert failed_nodes(workload, sick, [on_b]) == ()
    assert [each.name for each in failed_nodes(workload, sick, [])] == ["b"]
    tainted = {**fine, "b": failing_node("b", taints=[{"key": "x", "effect": "NoExecute"}])}
    assert [each.name for each in failed_nodes(workload, tainted, [])] == ["b"]


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
