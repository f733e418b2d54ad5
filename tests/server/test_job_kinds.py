"""Jobs of other projects on the embedded server: their pods are made, made anew, taken away, and they end."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from reprieve.objects import ReprieveError, read_documents
from reprieve.server import EmbeddedServer, JobKindControllers, kinds_of
from tests.jobs.test_kinds import GANGS, PODS
from tests.waiting import eventually

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"


@pytest.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(background=(JobKindControllers(kinds_of(["all"])),)) as server:
        await server.api.create("namespaces", {"metadata": {"name": "ml"}})
        await server.api.create(
            "priorityclasses.scheduling.k8s.io", {"metadata": {"name": "training"}, "value": 1000}
        )
        yield server


async def served(server: EmbeddedServer, resource: str) -> None:
    await eventually(lambda: server.api.registry.by_storage_key(resource), f"{resource} is served")


async def submit(server: EmbeddedServer, name: str) -> tuple[str, dict[str, Any]]:
    """The resource and the job."""
    made = {}
    for source in read_documents(FOLDER / f"{name}.yaml"):
        group = source.document["apiVersion"].rpartition("/")[0]
        resource = f"{source.document['kind'].lower()}s.{group}"
        await served(server, resource)
        made = await server.api.create(resource, source.document)
    return resource, made


def names(server: EmbeddedServer) -> set[str]:
    return {pod["metadata"]["name"] for pod in server.api.select("pods", "ml")}


async def succeed(server: EmbeddedServer, *pods: str) -> None:
    for name in pods:
        pod = server.api.peek("pods", name, "ml")
        assert pod is not None
        await server.api.update_status("pods", {**pod, "status": {**pod["status"], "phase": "Succeeded"}})


def ended(server: EmbeddedServer, resource: str, name: str) -> list[str]:
    job = server.api.peek(resource, name, "ml") or {}
    return [each["type"] for each in (job.get("status") or {}).get("conditions") or ()]


@pytest.mark.parametrize(
    "name", ["jobset", "rayjob", "trainjob", "leaderworkerset", "sparkapplication", "mpijob"]
)
async def test_the_pods_of_a_job_are_made_with_their_gangs(server: EmbeddedServer, name: str) -> None:

    await submit(server, name)
    await eventually(lambda: names(server) == set(PODS[name]), f"pods of {name}")
    groups = server.api.select("podgroups.scheduling.k8s.io", "ml")
    least = [each["spec"]["schedulingPolicy"]["gang"]["minCount"] for each in groups]
    assert least == GANGS.get(name, [])


async def test_a_pod_that_is_gone_or_has_failed_is_made_anew(server: EmbeddedServer) -> None:
    await submit(server, "jaxjob")
    await eventually(lambda: len(names(server)) == 2, "two pods")
    old = {pod["metadata"]["uid"] for pod in server.api.select("pods", "ml")}
    await server.api.delete("pods", "jax-worker-0", "ml", grace=0)
    failed = server.api.peek("pods", "jax-worker-1", "ml")
    assert failed is not None
    await server.api.update_status("pods", {**failed, "status": {**failed["status"], "phase": "Failed"}})

    def renewed() -> bool:
        pods = server.api.select("pods", "ml")
        return len(pods) == 2 and not {pod["metadata"]["uid"] for pod in pods} & old

    await eventually(renewed, "two new pods")


async def test_a_job_ends_when_all_its_pods_have_succeeded(server: EmbeddedServer) -> None:
    resource, made = await submit(server, "jaxjob")
    await eventually(lambda: len(names(server)) == 2, "two pods")
    await succeed(server, "jax-worker-0", "jax-worker-1")
    await eventually(lambda: ended(server, resource, made["metadata"]["name"]) == ["Succeeded"], "its end")


async def test_a_ray_job_ends_with_its_submitter_and_takes_its_cluster_along(server: EmbeddedServer) -> None:
    resource, _ = await submit(server, "rayjob")
    await eventually(lambda: "tune-submitter" in names(server), "its submitter")
    await succeed(server, "tune-submitter")
    await eventually(lambda: ended(server, resource, "tune") == ["Complete"], "its end")
    await eventually(lambda: names(server) == {"tune-submitter"}, "its cluster gone")


async def test_a_suspended_job_has_no_pods(server: EmbeddedServer) -> None:
    resource, _ = await submit(server, "jobset")
    await eventually(lambda: len(names(server)) == 9, "its pods")
    await server.api.patch(resource, "pretrain", {"spec": {"suspend": True}}, "ml")
    await eventually(lambda: not names(server), "no pods")
    await server.api.patch(resource, "pretrain", {"spec": {"suspend": False}}, "ml")
    await eventually(lambda: len(names(server)) == 9, "its pods again")


async def test_a_job_that_cannot_be_read_says_so_in_an_event(server: EmbeddedServer) -> None:
    kind = {"apiVersion": "kubeflow.org/v1", "kind": "JAXJob", "metadata": {"name": "j", "namespace": "ml"}}
    await served(server, "jaxjobs.kubeflow.org")
    await server.api.create(
        "jaxjobs.kubeflow.org", {**kind, "spec": {"jaxReplicaSpecs": {"Worker": {"replicas": 1}}}}
    )

    def said() -> bool:
        events = server.api.select("events.events.k8s.io", "ml") or server.api.select("events", "ml")
        return any("Worker.template" in str(each.get("note") or each.get("message")) for each in events)

    await eventually(said, "an event")


def test_an_unknown_project_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ReprieveError, match="--kinds nomad: not known; known are jobset, kubeflow"):
        kinds_of(["nomad"])
