"""Questions to a running cluster, as people ask them: a process of its own, over HTTP, with the right to read
and no more.

The answers are those of the same manifests in files, and nothing on the server changes.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import reprieve
from reprieve.objects.documents import read_documents
from reprieve.server import EmbeddedServer
from reprieve.server.security import kubeconfig
from reprieve.whatif import sentences
from tests.waiting import PATIENCE

EXAMPLES = Path(__file__).parents[2] / "examples"
GANG, QUEUES = EXAMPLES / "01-first-plan", EXAMPLES / "10-flavors-preempt-before-spot"
FIRST = ("PriorityClass", "WorkloadPriorityClass", "PodGroup")
"""Kinds that others refer to when they are created."""


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    """Without controllers, so that nothing happens by itself."""
    with EmbeddedServer(controllers=False) as server:
        for document in sorted(documents(GANG, QUEUES), key=lambda each: each["kind"] not in FIRST):
            submit(server, document)
        yield server


@pytest.fixture(scope="module")
def reader(server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("reader") / "kubeconfig"
    path.write_text(kubeconfig(server.url, server.reader_token, server.ca))
    return str(path)


def documents(*folders: Path) -> list[dict[str, Any]]:
    return [source.document for folder in folders for source in read_documents(folder)]


def submit(server: EmbeddedServer, document: dict[str, Any]) -> None:
    resource = server.api.registry.by_kind(document["apiVersion"], document["kind"])
    assert resource is not None
    namespace = document["metadata"].get("namespace", "default") if resource.namespaced else ""
    if namespace and server.api.peek("namespaces", namespace) is None:
        server.run(server.api.create("namespaces", {"metadata": {"name": namespace}}))
    name = document["metadata"]["name"]
    server.run(server.api.create(resource, document, namespace))
    if "status" in document and resource.has_status:
        patch = {"status": document["status"]}
        server.run(server.api.patch(resource, name, patch, namespace, subresource="status"))


def state(server: EmbeddedServer) -> dict[str, Any]:
    """The version of every object of every kind, and of the server as a whole."""
    api = server.api
    found: dict[str, Any] = {"": api.backend.store.revision}
    for resource in api.registry:
        if "list" in resource.verbs:
            for document in api.select(resource):
                meta = document["metadata"]
                key = f"{resource.storage_key}/{meta.get('namespace', '')}/{meta['name']}"
                found[key] = meta["resourceVersion"]
    return found


def ask(*arguments: str, code: int = 0, unfit: Sequence[str] = ()) -> Any:
    """`unfit`: workloads of which is said that no node here could hold them, and nothing else is said."""
    done = subprocess.run(
        [sys.executable, "-m", "reprieve", *arguments, "-o", "json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    said = done.stderr.splitlines()
    why = "no node could ever hold a pod of"
    told = [sentences.gets_quota_but(f"Workload/{name}", why).removesuffix(".") for name in unfit]
    begin = [text.replace("Warning", "warning", 1) for text in told]
    assert (done.returncode, len(said)) == (code, len(begin)), done.stderr
    assert all(line.startswith(text) for line, text in zip(said, begin, strict=True)), done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "question",
    [
        ["plan", "--for=Workload/jobs/training"],
        ["when", "podgroup/ml/train"],
        ["explain", "podgroup/ml/train"],
        ["explain", "node/node-1"],
        ["explain", "workload/jobs/training"],
        ["explain", "clusterqueue/team"],
    ],
    ids=" ".join,
)
def test_the_right_to_read_is_enough_and_nothing_is_touched(
    server: EmbeddedServer, reader: str, question: list[str]
) -> None:
    before = state(server)
    assert len(before) > 40
    answer = ask(*question, f"--kubeconfig={reader}")
    assert answer["apiVersion"] == "reprieve.dev/v1alpha1"
    assert state(server) == before


def test_a_plan_on_a_cluster_is_the_plan_on_its_manifests(server: EmbeddedServer, reader: str) -> None:
    before = state(server)
    live = ask("plan", "--for=PodGroup/ml/train", f"--kubeconfig={reader}")
    filed = reprieve.plan(documents(GANG), "PodGroup/ml/train").to_dict()
    assert live["outcome"] == "preempts"
    for field in ("outcome", "placements", "pdbViolations", "cost"):
        assert live[field] == filed[field]
    assert {v["pod"] for v in live["victims"]} == {v["pod"] for v in filed["victims"]}
    assert state(server) == before


def test_a_job_that_is_there_and_has_no_pods_yet_is_planned(server: EmbeddedServer, reader: str) -> None:
    """'there is no Job ml/report in the input' was said of a Job that everybody could see."""
    pods = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    for name in ("report", "other"):
        metadata = {"name": name, "namespace": "ml"}
        spec = {"suspend": True, "template": {"spec": pods}}
        submit(server, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    answer = ask("plan", "--for=Job/ml/report", f"--kubeconfig={reader}", code=1)
    assert (answer["for"], answer["outcome"]) == ("Job/ml/report", "gated")
    assert [*answer["plans"][0]["placements"]] == ["ml/report-0"]
    assert "ignored" not in answer


def test_a_forecast_on_a_cluster_is_the_forecast_on_its_manifests(
    server: EmbeddedServer, reader: str, tmp_path: Path
) -> None:
    before, now = state(server), "2026-11-15T12:00:00Z"
    live = ask("when", "podgroup/ml/train", f"--kubeconfig={reader}", f"--now={now}")
    filed = reprieve.when(documents(GANG), "PodGroup/ml/train", now=now).to_dict()
    assert live["outcome"] == "now"
    assert (live["sentence"], set(live["victims"])) == (filed["sentence"], set(filed["victims"]))
    text = (EXAMPLES / "41-when" / "job.yaml").read_text().replace("name: train,", "name: alone,")
    job = tmp_path / "job.yaml"
    job.write_text(text)
    unplaced = ask("when", f"--filename={job}", f"--kubeconfig={reader}", f"--now={now}", code=1)
    assert "Insufficient nvidia.com/gpu" in unplaced["sentence"]
    assert state(server) == before


def test_admissions_on_a_cluster_are_those_of_its_manifests(server: EmbeddedServer, reader: str) -> None:
    before = state(server)
    # The flavors name nodes that this cluster does not have.
    live = ask("admit", f"--kubeconfig={reader}", unfit=["jobs/batch", "jobs/training"])
    filed = reprieve.admit(documents(QUEUES)).to_dict()
    assert live["evicted"] == filed["evicted"] == ["jobs/batch"]
    assert live["admitted"] == filed["admitted"]
    assert state(server) == before


def test_manifests_on_top_of_a_cluster_stay_out_of_it(server: EmbeddedServer, tmp_path: Path) -> None:
    """Not even with every right."""
    bigger = next(d for d in documents(QUEUES) if d["metadata"]["name"] == "training")
    bigger["metadata"] |= {"name": "bigger", "uid": "uid-bigger"}
    (tmp_path / "bigger.json").write_text(json.dumps(bigger))
    before = state(server)
    run = ask(
        "admit",
        f"--kubeconfig={server.kubeconfig}",
        f"--filename={tmp_path / 'bigger.json'}",
        unfit=["jobs/batch", "jobs/bigger", "jobs/training"],
    )
    assert "jobs/bigger" in run["admitted"]
    assert state(server) == before
