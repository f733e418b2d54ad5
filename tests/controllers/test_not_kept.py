"""API servers that drop fields which they do not know, without a word: what that means for a job is said."""

from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.controllers.quota.jobs import Jobs
from reprieve.controllers.quota.owners import OwnerId
from reprieve.jobs import JobKind, JobKinds
from reprieve.kube import Change, Client
from reprieve.objects import ResourceFlavor, Workload, decode
from tests import builders
from tests.controllers.clusters import NAMESPACE, job
from tests.kube.apiserver import Script, ok

Document = dict[str, Any]


def kind_of(document: Document) -> JobKind:
    found = JobKinds().find(document)
    assert found is not None
    return found


async def test_a_job_that_cannot_be_suspended_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """Before 1.21 an API server drops `spec.suspend`, and the job runs."""
    document = {**job("a"), "spec": {"suspend": False}}
    document["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    client = Script(ok({"metadata": document["metadata"], "spec": {}})).client()
    controller = quota.QuotaController(client, Configuration.load({}))
    controller.seen.owners.job_changed(kind_of(document), Change("ADDED", None, document))
    await controller.jobs.reconcile(OwnerId("jobs.batch", NAMESPACE, "a"))
    assert "runs without quota: this API server does not keep spec.suspend" in caplog.text


TRAINER = "trainer.kubeflow.org/v1alpha1"
STEP: Document = {
    "name": "node",
    "template": {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}},
}


def train_job() -> Document:
    metadata = {"name": "t", "namespace": NAMESPACE, "uid": "u", "resourceVersion": "1"}
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    spec = {"runtimeRef": {"name": "torch"}, "suspend": True}
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {**metadata, "labels": labels},
        "spec": spec,
    }


async def start(client: Client, document: Document) -> list[tuple[str, str]]:
    """Start the job, whose workload was admitted; what was told of it."""
    controller = quota.QuotaController(client, Configuration.load({}))
    seen, told = controller.seen, list[tuple[str, str]]()
    jobs = Jobs(client, seen, controller.managed, lambda job, reason, text: told.append((reason, text)))
    seen.owners.job_changed(kind_of(document), Change("ADDED", None, document))
    runtime: Document = {
        "apiVersion": TRAINER,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
    }
    seen.owners.runtimes["torch"] = {**runtime, "spec": {"template": {"spec": {"replicatedJobs": [STEP]}}}}
    flavor = decode(builders.flavor("stable", nodeLabels={"pool": "stable"}))
    assert isinstance(flavor, ResourceFlavor)
    seen.quota.cache.flavors["stable"] = flavor
    id = OwnerId("trainjobs.trainer.kubeflow.org", NAMESPACE, "t")
    asker = seen.owners.get(id)
    assert asker is not None
    key = seen.owners.key(asker)
    namespace, name = key.split("/")
    admitted = builders.workload(name, namespace=namespace)
    admitted["metadata"]["ownerReferences"] = [
        {"kind": "TrainJob", "name": "t", "uid": "u", "controller": True}
    ]
    admitted["spec"]["podSets"] = [
        {"name": "node", "count": 1, "template": STEP["template"]["spec"]["template"]}
    ]
    assignment = {"name": "node", "count": 1, "flavors": {"cpu": "stable"}}
    admitted["status"] = {
        "admission": {"clusterQueue": "q", "podSetAssignments": [assignment]},
        "conditions": [{"type": "Admitted", "status": "True"}],
    }
    typed = decode(admitted)
    assert isinstance(typed, Workload)
    seen.raw[key], seen.workloads[key] = admitted, typed
    await jobs.reconcile(id)
    return told


async def test_flavors_that_a_server_drops_are_said(caplog: pytest.LogCaptureFixture) -> None:
    """Kubeflow Trainer before 2.2 has no `runtimePatches`: the pods may run on nodes of another flavor."""
    document = train_job()
    told = await start(
        Script(ok({**document, "spec": {**document["spec"], "suspend": False}})).client(), document
    )
    [(reason, text)] = told
    assert reason == "NotKept"
    assert text.endswith("flavors: this API server drops spec.runtimePatches")
    assert f"TrainJob/{NAMESPACE}/t runs without the node labels" in caplog.text


async def test_nothing_is_said_where_they_are_kept() -> None:
    script = Script(lambda request: ok({**train_job(), "spec": request.json()["spec"]}))
    assert await start(script.client(), train_job()) == []
    [request] = script.requests
    [patch] = request.json()["spec"]["runtimePatches"]
    [step] = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert step["template"]["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "stable"}
