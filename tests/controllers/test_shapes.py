"""Jobs and groups turned into workloads, node labels in and out, patches, kubeconfigs of workers."""

import msgspec
import pytest

from reprieve.admission import WorkloadPriorities
from reprieve.controllers.fleet.access import InsecureKubeConfig, parse
from reprieve.controllers.fleet.shapes import remote_job
from reprieve.controllers.quota.group_shape import additions, group_owner, to_be_given
from reprieve.controllers.quota.job_shape import (
    as_it_runs,
    fits_into,
    job_owner,
    same_demand,
)
from reprieve.controllers.quota.status import status_patch
from reprieve.jobs import JobKinds, group_pod_sets, job_workloads, pod_sets, restored, suspended
from reprieve.kube import ConfigError
from reprieve.objects.core import Pod
from reprieve.objects.decode import decode_as
from reprieve.objects.kueue import ResourceFlavor, Workload
from reprieve.objects.meta import ObjectMeta
from reprieve.objects.scheduling import PriorityClass
from reprieve.quota import evict
from tests import builders
from tests.builders import flavor, priority_class
from tests.controllers.clusters import job
from tests.fleet.build import NOW

GPU = flavor("gpu", nodeLabels={"pool": "gpu"}, tolerations=[{"key": "gpu", "operator": "Exists"}])
FLAVOR = decode_as(GPU, ResourceFlavor)
KINDS = JobKinds()
[JOB] = [kind for kind in KINDS if kind.resource == "jobs.batch"]


def asked(made: dict) -> list[dict]:
    return owned(made)["spec"]["podSets"]


def state(made: dict):
    return job_owner({"apiVersion": "batch/v1", "kind": "Job", **made}, KINDS, (), ())


def owned(made: dict) -> dict:
    [asking] = job_workloads(made, KINDS)
    return asking.workload


def document(count: int = 2, **template) -> dict:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "ml"},
        "spec": {"podSets": [{"name": "main", "count": 2, "template": {"spec": template}}]},
        "status": {
            "admission": {
                "clusterQueue": "cq",
                "podSetAssignments": [{"name": "main", "count": count, "flavors": {"cpu": "gpu"}}],
            }
        },
    }


def typed(raw: dict) -> Workload:
    return decode_as(raw, Workload)


def test_a_job_asks_for_as_many_pods_as_run_at_once() -> None:
    wanted = job("a", count=4)
    wanted["spec"]["completions"] = 3
    assert asked(wanted)[0]["count"] == 3
    wanted["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    assert asked(wanted)[0]["minCount"] == 2


def test_the_workload_belongs_to_its_job() -> None:
    made = job("a")
    made["metadata"]["uid"] = "u1"
    workload = owned(made)
    [owner] = workload["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Job", "u1", True)
    assert workload["spec"]["queueName"] == "main"


def test_starting_injects_the_flavors_nodes_and_stopping_takes_them_out_again() -> None:
    made = suspended(job("a"), JOB)
    made["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "a"}
    running = as_it_runs(made, KINDS, (), typed(document(nodeSelector={"zone": "a"})), {"gpu": FLAVOR})
    assert running["spec"]["suspend"] is False
    template = running["spec"]["template"]["spec"]
    assert template["nodeSelector"] == {"zone": "a", "pool": "gpu"}
    assert template["tolerations"] == [{"key": "gpu", "operator": "Exists"}]
    assert restored(suspended(running, JOB), pod_sets(running, KINDS)) == made
    assert restored(made, pod_sets(made, KINDS)) is made, "nothing to restore"


def test_partial_admission_lowers_the_parallelism_and_eviction_restores_it() -> None:
    made = job("a", count=2)
    made["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "1"}
    admitted = document(count=1)
    admitted["spec"]["podSets"][0]["minCount"] = 1
    running = as_it_runs(made, KINDS, (), typed(admitted), {})
    assert running["spec"]["parallelism"] == 1
    assert restored(running, pod_sets(running, KINDS))["spec"]["parallelism"] == 2


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({"suspend": True}, {}, "stopped"),
        ({"suspend": True}, {"active": 1}, "running"),
        ({"suspend": True}, {"terminating": 1}, "running"),
        ({"suspend": True}, {"startTime": "2026-01-01T00:00:00Z"}, "running"),
        (
            {"suspend": True},
            {"startTime": "t", "conditions": [{"type": "Suspended", "status": "True"}]},
            "stopped",
        ),
        ({"suspend": False}, {}, "running"),
        ({"suspend": False}, {"conditions": [{"type": "Complete", "status": "True"}]}, "finished"),
        ({"suspend": True}, {"conditions": [{"type": "Failed", "status": "True"}]}, "finished"),
    ],
)
def test_a_job_has_stopped_when_no_pod_is_left_and_its_controller_knows(spec, status, expected) -> None:
    assert state({**job("a"), "spec": {**job("a")["spec"], **spec}, "status": status}).state == expected


def test_pods_that_are_done_give_their_quota_back() -> None:
    made = job("a", count=4)
    made["spec"] |= {"suspend": False, "completions": 6}
    for succeeded, done in ((0, 0), (2, 0), (3, 1), (5, 3)):
        made["status"] = {"active": 4, "succeeded": succeeded}
        assert state(made).done == ({"main": done} if done else {})


def test_indexes_that_have_failed_for_good_give_their_quota_back_too() -> None:
    made = job("a", count=4)
    made["spec"] |= {"suspend": False, "completions": 6, "completionMode": "Indexed"}
    for completed, failed, done in (
        ("", "", 0), ("0-1", "", 0), ("0,2", "4", 1), ("0-2", "2-3", 2), ("0-3", "8-9", 2), ("0-5", "", 4),
    ):  # fmt: skip
        made["status"] = {"active": 4, "completedIndexes": completed, "failedIndexes": failed}
        assert state(made).done == ({"main": done} if done else {}), (completed, failed)


def test_a_job_that_was_changed_while_it_waited_asks_anew() -> None:
    made = job("a")
    held = owned({**made, "metadata": {**made["metadata"], "uid": "u"}})
    assert same_demand(asked(made), held)
    made["spec"]["parallelism"] = 1
    assert not same_demand(asked(made), held)


def test_a_workload_from_before_without_its_empty_pod_sets_is_still_what_its_job_asks_for() -> None:
    """Else an upgrade would stop what runs."""
    made = {**job("a"), "metadata": {**job("a")["metadata"], "uid": "u"}}
    held = owned(made)
    empty = {**held["spec"]["podSets"][0], "name": "spare", "count": 0}
    wanted = [*asked(made), empty]
    assert same_demand(wanted, held)
    assert fits_into(wanted, typed(held), held, {})
    assert not same_demand([*asked(made), {**empty, "count": 1}], held)
    assert not fits_into([*asked(made), {**empty, "count": 1}], typed(held), held, {})


def test_a_job_goes_to_a_worker_suspended_and_without_traces_of_its_controller() -> None:
    made = job("a")
    made["spec"] |= {
        "selector": {"matchLabels": {"controller-uid": "1"}},
        "managedBy": "kueue.x-k8s.io/multikueue",
    }
    made["spec"]["suspend"] = False
    made["spec"]["template"]["metadata"] = {"labels": {"app": "x", "controller-uid": "1", "job-name": "a"}}
    kind = JobKinds().find(made)
    assert kind is not None
    sent = remote_job(made, kind, "w", "multikueue")
    assert sent["spec"]["suspend"] is True
    assert "selector" not in sent["spec"]
    assert "managedBy" not in sent["spec"]
    assert sent["spec"]["template"]["metadata"]["labels"] == {"app": "x"}
    assert sent["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] == "w"


def member(name: str, cpu: int = 1, phase: str = "Pending", held: bool = True) -> Pod:
    gates = [{"name": "kueue.x-k8s.io/admission"}] if held else []
    made = builders.pod(name, cpu, namespace="ml", status={"phase": phase}, schedulingGates=gates)
    return decode_as(made, Pod)


def test_a_group_asks_for_its_pods_by_shape_and_for_those_still_missing() -> None:
    sets = group_pod_sets(5, [member("w-0"), member("w-1"), member("driver", cpu=4)])
    assert [(each["name"], each["count"]) for each in sets] == [("main", 4), ("set-1", 1)]


def test_a_group_runs_while_one_pod_does() -> None:
    assert group_owner([member("a"), member("b")]).state == "stopped"
    assert group_owner([member("a"), member("b", held=False)]).state == "running"
    assert group_owner([member("a", phase="Succeeded"), member("b", phase="Failed")]).reason == "Failed"
    assert group_owner([]).state == "stopped"
    leaving = msgspec.structs.replace(
        member("a", phase="Failed"), metadata=ObjectMeta(name="a", deletion_timestamp=NOW)
    )
    assert group_owner([leaving]).state == "stopped", "it was evicted, it did not end"
    assert group_owner([member("a", phase="Succeeded")], least=2).state == "stopped", "one is missing"


def test_priorities_come_from_the_label_then_the_pods_then_the_default() -> None:
    known = WorkloadPriorities()
    known.workload_classes["urgent"] = 7
    for name, value, default in (("a", 5, True), ("b", 3, True), ("c", 9, False)):
        made = priority_class(name, value, globalDefault=default)
        known.pod_classes.put(decode_as(made, PriorityClass))
    assert known.resolve({"kueue.x-k8s.io/priority-class": "urgent"}, "c")["priority"] == 7
    assert known.resolve({}, "c")["priority"] == 9
    assert known.resolve({}, "") == {
        "priorityClassRef": {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "b"},
        "priority": 3,
    }
    known.pod_classes.remove("a")
    known.pod_classes.remove("b")
    assert known.resolve({}, "") == {"priority": 0}


def test_a_patch_names_only_what_changed_and_keeps_fields_nobody_here_knows() -> None:
    raw = document()
    raw["status"] |= {
        "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": ""}],
        "admissionChecks": [
            {"name": "c", "state": "Ready", "message": "", "podSetUpdates": [{"name": "main"}]}
        ],
        "clusterName": "eu",
    }
    before = typed(raw)
    assert status_patch(raw, before, before) == {}
    patch = status_patch(raw, before, evict(before, "Preempted", "why", NOW))
    assert set(patch) == {"conditions", "admissionChecks", "clusterName"}
    assert patch["clusterName"] is None
    assert patch["admissionChecks"][0]["podSetUpdates"] == [{"name": "main"}]
    assert patch["admissionChecks"][0]["state"] == "Pending"
    assert {each["type"] for each in patch["conditions"]} == {"QuotaReserved", "Evicted"}


KUBECONFIG = """
clusters: [{name: c, cluster: {server: "https://h", %s}}]
users: [{name: u, user: {%s}}]
"""


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        ("insecure-skip-tls-verify: true", "token: t"),
        ("certificate-authority: /etc/ca", "token: t"),
        ("", "exec: {command: sh}"),
        ("", "tokenFile: /etc/token"),
        ("", "username: a, password: b"),
        ("", "auth-provider: {name: x}"),
    ],
)
def test_a_workers_kubeconfig_may_only_say_where_and_as_whom(cluster: str, user: str) -> None:
    with pytest.raises(InsecureKubeConfig, match="is not allowed"):
        parse((KUBECONFIG % (cluster, user)).encode(), "Secret/x")


def test_a_kubeconfig_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match="Secret/x"):
        parse(b"[]", "Secret/x")
    assert parse((KUBECONFIG % ("", "token: t")).encode(), "Secret/x")["users"]


def asking(name: str, requests: dict[str, str], **spec) -> Pod:
    gate = [{"name": "kueue.x-k8s.io/admission"}]
    made = builders.pod(name, None, namespace="ml", schedulingGates=gate, **spec)
    made["spec"]["containers"][0]["resources"] = {"requests": requests}
    return decode_as(made, Pod)


def admitted_group(pods: list[Pod], flavor_of) -> Workload:
    """The workload of a group of these pods, with the flavor that is given for each pod set."""
    sets = group_pod_sets(len(pods), pods)
    assigned = [
        {
            "name": each["name"],
            "count": each["count"],
            "flavors": {"cpu": flavor_of(each["template"]["spec"])},
        }
        for each in sets
    ]
    raw = {
        **document(),
        "metadata": {"name": "w", "namespace": "ml", "uid": "u"},
        "spec": {"podSets": sets},
        "status": {"admission": {"clusterQueue": "cq", "podSetAssignments": assigned}},
    }
    return typed(raw)


POOLS = {name: decode_as(flavor(name, nodeLabels={"pool": name}), ResourceFlavor) for name in ("cpu", "gpu")}


def by_requests(spec: dict) -> str:
    return "gpu" if "gpu" in spec["containers"][0]["resources"]["requests"] else "cpu"


@pytest.mark.parametrize(("leader", "worker"), [("leader", "worker"), ("zed", "alpha")])
def test_leader_and_worker_get_their_own_flavor_and_so_does_a_replacement(leader: str, worker: str) -> None:
    pods = [asking(leader, {"cpu": "1"}), asking(worker, {"cpu": "1", "gpu": "1"})]
    workload = admitted_group(pods, by_requests)

    def pools(waiting: list[Pod]) -> dict[str, str]:
        return {
            pod.name: additions(pod.spec, workload, name, POOLS)["nodeSelector"]["pool"]
            for pod, name in to_be_given(workload, waiting, POOLS)
        }

    assert pools(pods) == {leader: "cpu", worker: "gpu"}
    replaced = asking("new", {"cpu": "1", "gpu": "1"})
    assert pools([pods[0], replaced]) == {leader: "cpu", "new": "gpu"}


def test_a_pod_that_asks_for_a_pool_itself_is_not_taken_for_one_that_was_sent_there() -> None:
    picky, easy = asking("picky", {"cpu": "1"}, nodeSelector={"pool": "gpu"}), asking("easy", {"cpu": "1"})
    workload = admitted_group([easy, picky], lambda _spec: "gpu")
    own = {each.template.spec.node_selector.get("pool", ""): each.name for each in workload.spec.pod_sets}
    given = {pod.name: name for pod, name in to_be_given(workload, [easy, picky], POOLS)}
    assert given == {"easy": own[""], "picky": own["gpu"]}
