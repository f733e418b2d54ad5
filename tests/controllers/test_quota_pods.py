"""Pods that ask for quota by their labels, kinds that come and go, and which jobs need a queue: live."""

from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.controllers.quota import kinds as job_informers
from reprieve.kube import JOBS, KUEUE_WORKLOADS, NAMESPACES, NODES, PODS, RUNTIME_CLASSES, Resource
from tests import builders
from tests.controllers.clusters import NAMESPACE, Cluster, cluster, is_true, job
from tests.waiting import eventually

QUEUE = "kueue.x-k8s.io/queue-name"
GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
GATE = {"name": "kueue.x-k8s.io/admission"}
JOB_SETS = Resource("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
Document = dict[str, Any]


def asking(name: str, cpu: int = 1, group: str = "", total: int = 0, **labels: str) -> Document:
    """A pod with its gate, in the queue."""
    made = builders.pod(name, cpu, namespace=NAMESPACE, schedulingGates=[GATE])
    made["metadata"]["labels"] = {QUEUE: "main", **({GROUP: group} if group else {}), **labels}
    if total:
        made["metadata"]["annotations"] = {TOTAL: str(total)}
    return made


async def gates(place: Cluster) -> dict[str, bool]:
    """By pod, whether it is still held."""
    listed = (await place.client.listing(PODS.raw(), NAMESPACE)).items
    return {each["metadata"]["name"]: bool(each["spec"].get("schedulingGates")) for each in listed}


async def test_a_pod_gets_quota_by_itself_and_goes_with_its_workload_when_evicted() -> None:
    async with cluster("one", controllers=True) as place:
        await place.furnish(cpu="1")
        place.start(quota.run(place.client))
        await place.client.create(PODS, asking("low"))
        await eventually(lambda: _free(place, "low"), "the pod got quota")
        pod = await place.client.get(PODS.raw(), "low", NAMESPACE)
        assert pod["spec"]["nodeSelector"] == {"pool": "gpu"}
        big = builders.workload("big", 1, 100, namespace=NAMESPACE)
        await place.client.create(KUEUE_WORKLOADS, big)

        async def alone() -> bool:
            workloads = await place.workloads()
            return list(workloads) == ["big"] and is_true(workloads["big"], "Admitted")

        await eventually(alone, "the evicted pod is gone, and so is its workload")
        assert await gates(place) == {}


async def _free(place: Cluster, *names: str) -> bool:
    held = await gates(place)
    return all(held.get(name) is False for name in names)


async def test_pods_of_one_label_get_quota_together_and_give_it_back_one_by_one() -> None:
    async with cluster("one", controllers=True) as place:
        await place.furnish(cpu="3")
        place.start(quota.run(place.client))
        await place.client.create(PODS, asking("a", group="crew", total=2))
        await place.client.create(PODS, asking("single"))
        await eventually(lambda: _free(place, "single"), "a pod on its own")
        assert (await gates(place))["a"], "one of two waits for the other"
        await place.client.create(PODS, asking("b", group="crew", total=2))
        await eventually(lambda: _free(place, "a", "b"), "both got quota")
        assert set(await place.workloads()) >= {"crew"}
        done = {"status": {"phase": "Succeeded"}}
        await place.client.patch(PODS, "a", done, NAMESPACE, subresource="status")

        async def reclaimed() -> bool:
            status = (await place.workloads())["crew"].get("status") or {}
            return status.get("reclaimablePods") == [{"name": "main", "count": 1}]

        await eventually(reclaimed, "the pod that is done gives its quota back")
        await place.client.patch(PODS, "b", done, NAMESPACE, subresource="status")

        async def finished() -> bool:
            return is_true((await place.workloads())["crew"], "Finished")

        await eventually(finished, "the group is over")


async def test_a_kind_is_noticed_when_it_is_installed_and_forgotten_when_it_is_removed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(job_informers, "LOOK_AGAIN", 0.1)
    async with cluster("one", controllers=True) as place:
        await place.furnish()
        running = place.start(quota.run(place.client))
        await place.client.create(JOBS, job("first", cpu="1"), NAMESPACE)
        await eventually(lambda: _has(place, "job-first"), "a kind that every cluster has")
        open_ = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": open_, "status": open_}}}
        version = {"name": "v1alpha2", "served": True, "storage": True, "schema": schema}
        names = {"kind": "JobSet", "plural": "jobsets", "singular": "jobset", "listKind": "JobSetList"}
        spec = {"group": "jobset.x-k8s.io", "scope": "Namespaced", "names": names, "versions": [version]}
        meta = {
            "name": "jobsets.jobset.x-k8s.io",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        }
        await place.client.create(DEFINITIONS, {"metadata": meta, "spec": spec})
        await eventually(lambda: place.client.served(JOB_SETS), "it is served")
        template = {"spec": {"template": {"spec": {"containers": [builders.container(1)]}}}}
        jobs = [{"name": "workers", "replicas": 1, "template": template}]
        made = {
            "metadata": {"name": "set", "namespace": NAMESPACE, "labels": {QUEUE: "main"}},
            "spec": {"replicatedJobs": jobs},
        }
        await place.client.create(JOB_SETS, made)
        await eventually(lambda: _has(place, "jobset-set"), "a kind that was installed later")
        await place.client.delete(DEFINITIONS, "jobsets.jobset.x-k8s.io")

        await eventually(lambda: "JobSet is not served here any more" in caplog.text, "it is forgotten")
        await place.client.create(JOBS, job("second", cpu="1"), NAMESPACE)
        await eventually(lambda: _has(place, "job-second"), "the others are looked after")
        assert not running.done()


async def _has(place: Cluster, prefix: str) -> bool:
    return any(name.startswith(prefix) for name in await place.workloads())


async def test_a_runtime_class_counts_in_the_quota() -> None:
    async with cluster("one") as place:
        await place.furnish(cpu="2")
        await place.client.create(
            RUNTIME_CLASSES,
            {"metadata": {"name": "vm"}, "handler": "vm", "overhead": {"podFixed": {"cpu": "500m"}}},
        )
        place.start(quota.run(place.client))
        made = job("heavy", cpu="1", count=2)
        made["spec"]["template"]["spec"]["runtimeClassName"] = "vm"
        await place.client.create(JOBS, made, NAMESPACE)

        async def refused() -> bool:
            [workload] = (await place.workloads()).values()
            conditions = (workload.get("status") or {}).get("conditions") or ()
            return any("3" in each["message"] and each["status"] == "False" for each in conditions)

        async def listed() -> bool:
            return bool(await place.workloads())

        await eventually(listed, "its workload is made")
        await eventually(refused, "two pods of one cpu and a half do not fit into two cpus")


async def test_where_all_jobs_need_a_queue_the_selector_says_in_which_namespaces() -> None:
    selector = {"matchLabels": {"managed": "yes"}}
    config = Configuration.load(
        {"quota": {"manageJobsWithoutQueueName": True, "managedJobsNamespaceSelector": selector}}
    )
    async with cluster("one") as place:
        for name, labels in (("in", {"managed": "yes"}), ("out", {})):
            await place.client.create(NAMESPACES, {"metadata": {"name": name, "labels": labels}})
        place.start(quota.run(place.client, config))
        for name in ("out", "in"):
            made = builders.job("j", cpu=1, namespace=name, suspend=False)
            await place.client.create(JOBS, made)

        async def held(namespace: str) -> bool:
            return bool((await place.client.get(JOBS.raw(), "j", namespace))["spec"].get("suspend"))

        await eventually(lambda: held("in"), "a job in a namespace that is meant waits for a queue")
        assert not await held("out"), "it was created before the other one"


async def test_quota_for_a_pod_that_no_node_could_hold_is_said_on_the_workload() -> None:
    async with cluster("one") as place:
        await place.furnish(cpu="64")
        await place.client.create(NODES, builders.node("small", 4, labels={"pool": "gpu"}))
        await place.client.create(NODES, builders.node("other", 64))
        place.start(quota.run(place.client))
        await place.client.create(JOBS, job("large", cpu="16", count=2), NAMESPACE)
        await place.client.create(JOBS, job("fits", cpu="4", count=2), NAMESPACE)

        async def said() -> list[str]:
            found = await place.workloads()
            conditions = [each for item in found.values() for each in item["status"].get("conditions", ())]
            return [each["message"] for each in conditions if each["type"] == "reprieve.dev/NoNodeFits"]

        async def admitted() -> bool:
            found = await place.workloads()
            return len(found) == 2 and all(is_true(each, "Admitted") for each in found.values())

        await eventually(admitted, "quota counts amounts")
        [message] = await eventually(said, "one of the two has no place")
        assert message.startswith("no node could ever hold a pod of pod set main: none of the 2 nodes")
        await place.client.create(NODES, builders.node("large", 16, labels={"pool": "gpu"}))
        await eventually(lambda: _says(said, "there is a node that could hold it"), "a node came")


async def _says(said: Any, message: str) -> bool:
    return await said() == [message]
