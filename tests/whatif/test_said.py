"""What real manifests say and a plan cannot heed is said, or refused: no answer to another question."""

from typing import Any

import pytest

import reprieve
from reprieve.admission import sentences as admission
from reprieve.objects import Ignored, InvalidObject, Source
from reprieve.whatif import sentences
from tests.builders import Document, job, node, pod

GPU = "nvidia.com/gpu"


def container(**resources: Any) -> Document:
    return {"name": "c", "image": "i", "resources": resources}


def reasons(*given: Document, target: str = "pod/default/p") -> str:
    plan: Any = reprieve.plan(list(given), target)
    return "\n".join(plan.reasons)


def of_kind(api_version: str, kind: str, spec: Document | None = None, name: str = "it") -> Document:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec or {}}


# --- names of resources -------------------------------------------------------------------------------------


def test_a_misspelt_resource_gets_no_plan() -> None:
    """`memroy: 900Gi` fitted on every node, because no node counts it."""
    asks = pod("p", containers=[container(requests={"cpu": 1, "memroy": "900Gi"})])
    with pytest.raises(InvalidObject) as refused:
        reprieve.plan([node("n"), asks], "pod/default/p")
    assert str(refused.value) == (
        "Pod/default/p: spec.containers[0].resources.requests[memroy]: 'memroy' is not a resource for "
        "containers; did you mean 'memory'?"
    )


def test_a_device_without_its_domain_gets_no_plan() -> None:
    asks = job("train")
    asks["spec"]["template"]["spec"]["containers"] = [container(limits={"gpu": 8})]
    with pytest.raises(InvalidObject) as refused:
        reprieve.plan([node("n"), asks], "job/default/train")
    assert str(refused.value).endswith(
        "spec.template.spec.containers[0].resources.limits[gpu]: 'gpu' is not a resource for containers: "
        "devices have a domain, as nvidia.com/gpu"
    )


def test_a_pod_that_a_server_has_stored_is_taken_as_it_is() -> None:
    stored = pod("p", containers=[container(requests={"memroy": "1Gi"})], metadata={"uid": "u"})
    assert "fits on n" in reasons(node("n"), stored)


def test_a_device_that_no_node_has_is_named_with_what_was_meant() -> None:
    have = node("n", allocatable={GPU: "8"})
    asks = pod("p", containers=[container(limits={"nvidia.com/gpus": 1})])
    told = sentences.no_node_offers("nvidia.com/gpus", [GPU])
    assert told in reasons(have, asks)
    assert "Warning" not in reasons(have, pod("p", containers=[container(limits={GPU: 9})]))
    train = job("train")
    train["spec"]["template"]["spec"]["containers"] = [container(limits={"nvidia.com/gpus": 1})]
    assert told in reasons(have, train, target="job/default/train")


def test_bytes_by_the_thousandth_are_said() -> None:
    """`memory: 512m` is half a byte; an API server warns of it, too."""
    asks = pod("p", containers=[container(requests={"memory": "512m"})])
    text = "spec.containers[0].resources.requests[memory]: 512m is a part of a byte; 512Mi was perhaps meant"
    given = [Source("m.yaml", "1", node("n")), Source("m.yaml", "2", asks)]
    plan: Any = reprieve.plan(given, "pod/default/p")
    assert sentences.doubtful([f"m.yaml:2: {text}"]) in plan.reasons


# --- what a namespace adds ----------------------------------------------------------------------------------


def limits(**item: Any) -> Document:
    return of_kind("v1", "LimitRange", {"limits": [{"type": "Container", **item}]}, name="usual")


def test_requests_that_a_namespace_gives_count() -> None:
    """A container without requests fitted everywhere; a server would have given it four processors."""
    usual = limits(defaultRequest={"cpu": "4"})
    asks = pod("p", containers=[container()])
    said = reasons(node("n", 2), usual, asks)
    assert "Insufficient cpu" in said
    assert admission.requests_from_limit_ranges(["LimitRange/default/usual"], ["Pod/default/p"]) in said
    train = job("train")
    train["spec"]["template"]["spec"]["containers"] = [container()]
    assert "Insufficient cpu" in reasons(node("n", 2), usual, train, target="job/default/train")


def test_a_pod_outside_the_limits_of_its_namespace_never_runs() -> None:
    """A server refuses it; a plan said that it fits, with a warning."""

    def refusal(pod: Document, **item: Any) -> str:
        plan: Any = reprieve.plan([node("n", 8), limits(**item), pod], "pod/default/p")
        return plan.message if plan.outcome == "unschedulable" else ""

    four = pod("p", containers=[container(requests={"cpu": 1}, limits={"cpu": 4})])
    for text, found in {
        "maximum cpu usage per Container is 2, but limit is 4": refusal(four, max={"cpu": "2"}),
        "minimum cpu usage per Container is 2, but request is 1": refusal(pod("p", 1), min={"cpu": "2"}),
        "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000": refusal(
            four, maxLimitRequestRatio={"cpu": "2"}
        ),
        "maximum cpu usage per Pod is 2, but limit is 4": refusal(four, type="Pod", max={"cpu": "2"}),
    }.items():
        assert found == admission.refused_by_a_server("Pod/default/p", text)
    assert not refusal(four, max={"cpu": "4"})


def test_pods_that_run_and_other_namespaces_are_left_alone() -> None:
    usual = limits(defaultRequest={"cpu": "4"})
    other = pod("p", namespace="other", containers=[container()])
    assert "fits on n" in reasons(node("n", 2), usual, other, target="pod/other/p")
    runs = pod("r", on="n", containers=[container()])
    assert "fits on n" in reasons(node("n", 5), usual, runs, pod("p", containers=[container()]))


def quota(hard: Document, status: Document | None = None) -> Document:
    made = of_kind("v1", "ResourceQuota", {"hard": hard}, name="ours")
    return made | ({"status": status} if status else {})


def test_a_pod_beyond_the_quota_of_its_namespace_never_runs() -> None:
    """A plan said that it fits, and that the ResourceQuota was not read."""
    plan: Any = reprieve.plan([node("n", 8), quota({"requests.cpu": "3"}), pod("p", 4)], "pod/default/p")
    text = "exceeded quota: ours, requested: requests.cpu=4, used: requests.cpu=0, limited: requests.cpu=3"
    assert plan.outcome == "unschedulable"
    assert plan.message == admission.refused_by_a_server("Pod/default/p", text)


def test_what_runs_counts_for_the_quota_and_so_does_what_its_status_says() -> None:
    runs = pod("r", 2, on="n")
    plan: Any = reprieve.plan([node("n", 8), quota({"cpu": "3"}), runs, pod("p", 2)], "pod/default/p")
    assert plan.outcome == "unschedulable"
    counted = quota({"cpu": "3"}, {"hard": {"cpu": "3"}, "used": {"cpu": "1"}})
    plan = reprieve.plan([node("n", 8), counted, runs, pod("p", 2)], "pod/default/p")
    assert plan.outcome == "scheduled"


def test_of_a_job_so_many_pods_run_as_the_quota_of_the_namespace_allows() -> None:
    train = job("train", parallelism=4, completions=4)
    train["spec"]["template"]["spec"]["containers"] = [container(requests={"cpu": 1})]
    plan: Any = reprieve.plan([node("n", 8), quota({"pods": "2"}), train], "job/default/train")
    assert plan.outcome == "partial"
    assert plan.pod_sets[0].placed == 2
    assert "exceeded quota: ours" in plan.pod_sets[0].message


# --- kinds that are ignored ---------------------------------------------------------------------------------


def test_kinds_that_change_the_answer_say_how() -> None:
    daemon = of_kind("apps/v1", "DaemonSet")
    scaler = of_kind("autoscaling/v2", "HorizontalPodAutoscaler")
    said = reasons(node("n"), pod("p"), daemon, scaler)
    assert f"1 DaemonSet ({sentences.DAEMON_SET_NOT_COUNTED})" in said
    assert f"1 HorizontalPodAutoscaler ({sentences.REPLICAS_COUNT})" in said


def test_a_configuration_among_the_manifests_hears_where_it_belongs() -> None:
    given = {"apiVersion": "reprieve.dev/v1alpha1", "kind": "ReprieveConfiguration"}
    assert f"({sentences.CONFIGURATION_NAMED})" in reasons(node("n"), pod("p"), given)


def test_a_kind_of_another_project_is_named_with_its_group() -> None:
    """Volcano's Job was told as `1 Job`, and KAI's PodGroup as `1 PodGroup`."""
    pods = {"tasks": [{"template": {"spec": {"containers": [container()]}}}]}
    given = [of_kind("batch.volcano.sh/v1alpha1", "Job", pods), of_kind("scheduling.run.ai/v2", "Queue")]
    volcano = Ignored(api_version="batch.volcano.sh/v1alpha1", kind="Job", count=1, why=sentences.MAKES_PODS)
    kai = Ignored(api_version="scheduling.run.ai/v2", kind="Queue", count=1)
    assert (str(volcano), str(kai)) == (
        f"1 Job of batch.volcano.sh/v1alpha1 ({sentences.MAKES_PODS})",
        "1 Queue of scheduling.run.ai/v2",
    )
    assert reasons(node("n"), pod("p"), *given).endswith(sentences.ignored_objects([volcano, kai]))


# --- what other programs read -------------------------------------------------------------------------------


def test_a_gate_that_keeps_a_pod_is_named() -> None:
    said = reasons(node("n"), pod("p", schedulingGates=[{"name": "acme.io/wait"}]))
    assert sentences.gates_to_open(["acme.io/wait"]) in said


def test_another_scheduler_decides_by_its_own_rules() -> None:
    assert sentences.other_scheduler("volcano") in reasons(node("n"), pod("p", schedulerName="volcano"))
    for ours in ("", "reprieve", "default-scheduler"):
        assert "schedulerName" not in reasons(node("n"), pod("p", schedulerName=ours))
    train = job("train")
    train["spec"]["template"]["spec"]["schedulerName"] = "kai-scheduler"
    assert sentences.other_scheduler("kai-scheduler") in reasons(node("n"), train, target="job/default/train")


@pytest.mark.parametrize(
    "annotation",
    [
        {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
        {"karpenter.sh/do-not-disrupt": "true"},
        {"volcano.sh/preemptable": "false"},
    ],
    ids=str,
)
def test_annotations_that_seem_to_protect_a_victim_are_said(annotation: dict[str, str]) -> None:
    victim = pod("v", 4, 0, on="n", annotations=annotation)
    (name,) = annotation
    said = reasons(node("n", 4), victim, pod("p", 4, 10))
    assert sentences.protects_nobody(name, ["default/v"]) in said
    (value,) = annotation.values()
    turned = pod("v", 4, 0, on="n", annotations={name: "true" if value == "false" else "false"})
    assert name not in reasons(node("n", 4), turned, pod("p", 4, 10))


def test_a_topology_that_quota_looks_at_is_not_looked_at_here() -> None:
    train = job("train")
    train["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    train["spec"]["template"]["metadata"] = {
        "annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}
    }
    said = reasons(node("n"), train, target="job/default/train")
    assert sentences.waits_for_quota("q", ["kueue.x-k8s.io/podset-required-topology"]) in said
