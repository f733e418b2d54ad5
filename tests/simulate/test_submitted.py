"""Jobs from manifests that say when they arrive, and the commands' other inputs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.objects import NodeTemplate, ReprieveError, Source
from reprieve.objects.documents import read_documents
from reprieve.server import EmbeddedServer
from reprieve.server.security import kubeconfig
from reprieve.simulate import read_submitted, ticks
from tests.builders import document, node, views

EXAMPLE = Path(__file__).parents[2] / "examples" / "40-simulate"
URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}}


def template(gpus=1, cpu="2", **spec):
    requests = {"cpu": cpu, "memory": "1Gi", "nvidia.com/gpu": str(gpus)}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return {"spec": {"containers": [container], "restartPolicy": "Never", **spec}}


def submitted_job(name="a", *, notes=None, labels=None, pods=1, **spec):
    meta = {"name": name, "namespace": "ml", "annotations": notes or {}, "labels": labels or {}}
    body = {"parallelism": pods, "completions": pods, "template": template(**spec)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": body}


def read(*documents, objects=()):
    sources = [Source("jobs.yaml", str(number), each) for number, each in enumerate(documents, 1)]
    return read_submitted(sources, objects)


def when(after, runs):
    return {"reprieve.dev/arrives-after": after, "reprieve.dev/expected-runtime": runs}


def test_a_job_comes_when_its_annotation_says_so_and_asks_for_what_its_pods_do():
    queue = {"kueue.x-k8s.io/queue-name": "main"}
    late = submitted_job(
        "late", notes=when("1h30m", "10m"), labels=queue, pods=3, gpus=2, priorityClassName="urgent"
    )
    early = submitted_job("early", notes={"reprieve.dev/expected-runtime": "5s"})
    first, second = read(late, early, {**URGENT, "value": 700}).jobs
    assert (first.name, first.submit, first.duration, first.priority) == ("ml.early", 0, ticks(5), 0)
    assert (second.name, second.submit, second.duration) == ("ml.late", ticks(5400), ticks(600))
    assert (second.pods, second.cpu, second.memory, second.gpu) == (3, 2000, 1024, 2000)
    assert (second.priority, second.klass, second.queue) == (700, "urgent", "ml/main")


def test_the_classes_of_the_cluster_count_too():
    urgent = submitted_job(notes=when("0s", "1s"), priorityClassName="urgent")
    assert read(urgent, objects=views({**URGENT, "value": 5})).jobs[0].priority == 5


def test_what_pods_ask_for_and_no_simulation_counts_is_named():
    zone = submitted_job("zone", notes=when("0s", "1s"), nodeSelector={"zone": "mars"})
    other = submitted_job("other", notes=when("0s", "1s"), labels={"kueue.x-k8s.io/priority-class": "prod"})
    (container,) = other["spec"]["template"]["spec"]["containers"]
    container["resources"]["requests"]["amd.com/gpu"] = "4"
    never = submitted_job("never", notes=when("0s", "1s"), priorityClassName="urgent")
    plain = submitted_job("plain", notes=when("0s", "1s"))
    found = read(zone, other, never, plain, {**URGENT, "value": 5, "preemptionPolicy": "Never"})
    assert len(found.jobs) == 4
    assert found.notes == (
        "3 jobs ask for what is not simulated: amd.com/gpu, kueue.x-k8s.io/priority-class, nodeSelector, "
        "preemptionPolicy",
    )
    assert read(plain).notes == ()


def test_objects_beside_the_jobs_that_are_not_used_are_named():
    there = document("ClusterQueue", "q", spec={})
    found = read(submitted_job(notes=when("0s", "1s")), node("n"), there, {**URGENT, "value": 5})
    (note,) = found.notes
    assert note.startswith("ignored: 1 Node; 1 ClusterQueue")


def test_pods_of_different_sizes_count_as_the_largest_and_it_is_said():
    specs = {
        "Launcher": {"replicas": 1, "template": template(0, "4")},
        "Worker": {"replicas": 2, "template": template(8, "1")},
    }
    meta = {"name": "mpi", "namespace": "ml", "annotations": when("0s", "1m")}
    kind = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob"}
    trace = read({**kind, "metadata": meta, "spec": {"mpiReplicaSpecs": specs}})
    assert [(each.pods, each.cpu, each.gpu) for each in trace.jobs] == [(3, 4000, 8000)]
    assert trace.notes == ("1 job with pods of different sizes: each pod counts as the largest",)


WRONG = {
    "no run time": ((submitted_job(),), "jobs.yaml:1: Job/ml/a: how long does it run?"),
    "no duration": ((submitted_job(notes=when("soon", "1m")),), "arrives-after is 'soon'; write a duration"),
    "a negative time": ((submitted_job(notes=when("-5m", "1m")),), "arrives-after is '-5m'"),
    "a class": (
        (submitted_job(notes=when("0s", "1m"), priorityClassName="none"),),
        "there is no PriorityClass none",
    ),
    "twice": (
        (submitted_job(notes=when("0s", "1m")), submitted_job(notes=when("0s", "1m"))),
        "ml.a is there twice, first in ",
    ),
}


@pytest.mark.parametrize(("documents", "problem"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_right_is_named(documents, problem):
    with pytest.raises(ReprieveError) as error:
        read(*documents)
    assert problem in str(error.value)


def simulate(*line):
    return CliRunner().invoke(main, ["simulate", *map(str, line)])


def test_a_folder_of_manifests_is_simulated():
    result = simulate(
        "--trace", EXAMPLE / "manifests", "--nodes", "gpu=2:nvidia.com/gpu=8,cpu=64", "-o", "json"
    )
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["configurations"]
    assert (found["jobs"], found["ended"], found["preemptions"]) == (2, 2, 1)
    assert set(found["classes"]) == {"normal", "urgent"}


FLEET = (
    *("--trace", EXAMPLE / "jobs.csv", "-f", EXAMPLE / "queues.yaml", "--until", "2h", "-o", "json"),
    *("--cluster", "eu=gpu=2:nvidia.com/gpu=8"),
)


def test_several_clusters_are_simulated_as_a_fleet(tmp_path):
    (tmp_path / "events.csv").write_text(
        "time_s,event,node\n600,fail,us\n1200,return,us\n1300,fail,eu/gpu-0\n"
    )
    events = ("--node-events", tmp_path / "events.csv")
    result = simulate(*FLEET, "--cluster", "us=gpu=2:nvidia.com/gpu=8", *events)
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["configurations"]
    assert found["admissions"] > 0
    assert found["failures"] > 0


def test_what_is_wrong_about_clusters_is_said(tmp_path):
    for more, problem in {
        ("--cluster", "us"): "write NAME=DIR or NAME=SPEC",
        ("--cluster", "eu=gpu=2:cpu=8"): "there are two clusters of this name",
        ("--cluster", "us=nodes"): "no resources",
    }.items():
        result = simulate(*FLEET, *more)
        assert result.exit_code == 2
        assert problem in result.stderr
    for row, problem in {"5,fail,gpu-0": "there is no node 'gpu-0'", "5,drain,eu": "eu is a cluster"}.items():
        (tmp_path / "events.csv").write_text(f"time_s,event,node\n{row}\n")
        result = simulate(*FLEET, "--node-events", tmp_path / "events.csv")
        assert result.exit_code == 2
        assert problem in result.stderr


def test_nodes_and_queues_come_from_a_live_cluster(tmp_path):
    nodes = NodeTemplate.parse("gpu=4:nvidia.com/gpu=8").nodes()
    with EmbeddedServer(controllers=False) as server:
        for name in ("lab", "shop"):
            server.run(server.api.create("namespaces", {"metadata": {"name": name}}))
        for each in (*nodes, *(source.document for source in read_documents(EXAMPLE / "queues.yaml"))):
            resource = server.api.registry.by_kind(each["apiVersion"], each["kind"])
            assert resource is not None
            server.run(server.api.create(resource, each, each["metadata"].get("namespace", "")))
        path = tmp_path / "config"
        path.write_text(kubeconfig(server.url, server.reader_token, server.ca))
        line = ("--trace", EXAMPLE / "jobs.csv", "--until", "2h", "-o", "json")
        live = simulate(*line, "--kubeconfig", path)
    files = simulate(*line, "-f", EXAMPLE / "queues.yaml", "--nodes", "gpu=4:nvidia.com/gpu=8")
    assert live.exit_code == 0, live.output
    found, expected = (json.loads(each.stdout)["configurations"][0] for each in (live, files))
    for key in ("ended", "admissions", "decisions", "lostHours", "classes"):
        assert found[key] == expected[key]
