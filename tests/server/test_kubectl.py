"""What people type: the real kubectl drives a server with fake nodes."""

import itertools
import json
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprieve.local import local_cluster
from reprieve.objects import NodeTemplate
from reprieve.server.embedded import EmbeddedServer
from reprieve.server.fake_nodes import Habits
from tests.server.kubectl_tool import Kubectl, find_kubectl
from tests.waiting import PATIENCE, eventually_so

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def binary() -> str:
    return find_kubectl()


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedServer]:
    nodes = [NodeTemplate.parse("n=2:cpu=8,memory=32Gi,nvidia.com/gpu=8;zones=a,b")]
    with local_cluster(nodes=nodes, habits=Habits(run_for=0.5, terminate_after=0.2)) as server:
        yield server


_numbers = itertools.count(1)


@pytest.fixture
def kubectl(binary: str, cluster: EmbeddedServer, tmp_path: Path) -> Iterator[Kubectl]:
    """One namespace for each test."""
    name = f"test-{next(_numbers)}"
    tool = Kubectl(binary, cluster.kubeconfig, tmp_path, name)
    tool("create", "namespace", name)
    yield tool
    tool("delete", "namespace", name, "--wait=false")


def pod_yaml(name: str = "p", extra: str = "") -> str:
    return textwrap.dedent(f"""\
        apiVersion: v1
        kind: Pod
        metadata:
          name: {name}
          labels: {{app: x}}
        spec:
          nodeName: n-0
          terminationGracePeriodSeconds: 5
          containers:
          - name: c
            image: i:1
            resources: {{requests: {{cpu: 100m}}}}
        """) + textwrap.indent(extra, "  ")


def test_get_shows_nodes_with_state_and_version(kubectl: Kubectl) -> None:
    header, *rows = kubectl.rows("nodes")
    assert header == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row[:2] for row in rows] == [["n-0", "Ready"], ["n-1", "Ready"]]
    assert "INTERNAL-IP" in kubectl("get", "nodes", "-o", "wide")


def test_api_resources_and_versions_list_what_is_served(kubectl: Kubectl) -> None:
    listed = kubectl("api-resources", "--no-headers")
    for kind in ("Pod", "Job", "PodGroup", "ClusterQueue", "PodDisruptionBudget", "CustomResourceDefinition"):
        assert f" {kind}\n" in listed.replace("  ", " ") + "\n"
    versions = kubectl("api-versions").split()
    assert {"v1", "batch/v1", "kueue.x-k8s.io/v1beta2", "scheduling.k8s.io/v1beta1"} <= set(versions)


@pytest.mark.parametrize(
    ("what", "fields"),
    [
        ("pod.spec.schedulingGroup", ["podGroupName"]),
        ("podgroup.spec.schedulingPolicy", ["basic", "gang"]),
        ("clusterqueue.spec.preemption", ["withinClusterQueue", "reclaimWithinCohort"]),
        ("job.spec", ["backoffLimit", "parallelism", "suspend"]),
        ("pdb.status", ["disruptionsAllowed"]),
    ],
)
def test_explain_knows_fields(kubectl: Kubectl, what: str, fields: list[str]) -> None:
    text = kubectl("explain", what)
    assert "DESCRIPTION" in text
    assert all(f"{field}\t" in text for field in fields)


def test_explain_goes_all_the_way_down(kubectl: Kubectl) -> None:
    assert "containerPort" in kubectl("explain", "pods", "--recursive")


def test_create_get_describe_delete(kubectl: Kubectl) -> None:
    assert kubectl("create", "-f", "-", stdin=pod_yaml()) == "pod/p created\n"
    assert "AlreadyExists" in kubectl.fails("create", "-f", "-", stdin=pod_yaml())
    kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=100s")
    _, row = kubectl.rows("pods", "-o", "wide")
    assert row[:4] == ["p", "1/1", "Running", "0"]
    assert "n-0" in row
    described = kubectl("describe", "pod", "p")
    assert "Node:" in described
    assert "n-0/" in described
    assert "Ready             True" in described
    assert kubectl("delete", "pod", "p", "--wait=true", "--timeout=100s").startswith('pod "p" deleted')
    assert "NotFound" in kubectl.fails("get", "pod", "p")


def test_apply_changes_only_what_changed(kubectl: Kubectl) -> None:
    assert kubectl("apply", "-f", "-", stdin=pod_yaml()) == "pod/p created\n"
    assert kubectl("apply", "-f", "-", stdin=pod_yaml()) == "pod/p unchanged\n"
    assert kubectl("apply", "-f", "-", stdin=pod_yaml().replace("i:1", "i:2")) == "pod/p configured\n"
    assert kubectl("get", "pod", "p", "-o", "jsonpath={.spec.containers[0].image}") == "i:2"


def test_apply_removes_what_is_no_longer_said(kubectl: Kubectl) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1', b: '2'}\n"
    kubectl("apply", "-f", "-", stdin=manifest)
    kubectl("apply", "-f", "-", stdin=manifest.replace(", b: '2'", ""))
    assert json.loads(kubectl("get", "cm", "c", "-o", "jsonpath={.data}")) == {"a": "1"}


def test_server_side_apply_conflicts_and_force(kubectl: Kubectl) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1'}\n"
    kubectl("apply", "--server-side", "--field-manager=alice", "-f", "-", stdin=manifest)
    other = manifest.replace("'1'", "'2'")
    said = kubectl.fails("apply", "--server-side", "--field-manager=bob", "-f", "-", stdin=other)
    assert 'conflict with "alice": .data.a' in said
    kubectl("apply", "--server-side", "--field-manager=bob", "--force-conflicts", "-f", "-", stdin=other)
    assert kubectl("get", "cm", "c", "-o", "jsonpath={.data.a}") == "2"


def test_server_side_apply_after_client_side_apply(kubectl: Kubectl) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1'}\n"
    kubectl("apply", "-f", "-", stdin=manifest)
    kubectl("apply", "--server-side", "-f", "-", stdin=manifest.replace("'1'", "'2'"))
    assert kubectl("get", "cm", "c", "-o", "jsonpath={.data.a}") == "2"


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (
            "strategic",
            '{"metadata": {"labels": {"new": "1"}}, "spec": {"containers": [{"name": "c", "image": "i:9"}]}}',
        ),
        (
            "json",
            (
                '[{"op": "add", "path": "/metadata/labels/new", "value": "1"},'
                ' {"op": "replace", "path": "/spec/containers/0/image", "value": "i:9"}]'
            ),
        ),
    ],
)
def test_patches_of_the_kind_that_edit_sends(kubectl: Kubectl, kind: str, patch: str) -> None:
    kubectl("create", "-f", "-", stdin=pod_yaml())
    assert "patched" in kubectl("patch", "pod", "p", f"--type={kind}", "-p", patch)
    document = json.loads(kubectl("get", "pod", "p", "-o", "json"))
    assert document["metadata"]["labels"] == {"app": "x", "new": "1"}
    assert [c["image"] for c in document["spec"]["containers"]] == ["i:9"]


def test_edit_with_an_editor_that_changes_a_line(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=pod_yaml())
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/app: x/app: edited/' \"$1\"\n")
    editor.chmod(0o755)
    kubectl.environment["EDITOR"] = str(editor)
    assert "edited" in kubectl("edit", "pod", "p")
    assert kubectl("get", "pod", "p", "-o", "jsonpath={.metadata.labels.app}") == "edited"


def test_label_and_annotate(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_yaml())
    kubectl("label", "pod", "p", "tier=front")
    kubectl("annotate", "pod", "p", "note=hello")
    assert "--overwrite is false" in kubectl.fails("label", "pod", "p", "tier=back")
    kubectl("label", "pod", "p", "tier-")
    meta = json.loads(kubectl("get", "pod", "p", "-o", "jsonpath={.metadata}"))
    assert meta["labels"] == {"app": "x"}
    assert meta["annotations"]["note"] == "hello"


def test_wait_for_a_condition_and_a_phase(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_yaml())
    kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=100s")
    if kubectl.minor >= 23:
        ends = pod_yaml("ends").replace("labels: {app: x}", "annotations: {reprieve.dev/run-for: 1s}")
        kubectl("create", "-f", "-", stdin=ends)
        kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/ends", "--timeout=100s")


def test_wait_for_a_deletion(kubectl: Kubectl, cluster: EmbeddedServer) -> None:
    """The pod goes when kubectl watches, however long kubectl takes to come so far."""
    held = pod_yaml().replace("labels: {app: x}", "finalizers: [example.com/held]")
    kubectl("create", "-f", "-", stdin=held)
    kubectl("delete", "pod", "p", "--wait=false")
    command = kubectl.command("wait", "--for=delete", "pod/p", "--timeout=100s")
    watchers = cluster.backend.hub.count
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=kubectl.environment) as waiting:
        eventually_so(lambda: cluster.backend.hub.count > watchers, "kubectl watches")
        kubectl("patch", "pod", "p", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        said, _ = waiting.communicate(timeout=PATIENCE)
    assert said == "pod/p condition met\n"
    if kubectl.minor >= 21:  # kubernetes/kubernetes#96676: before, "nothing left" was a failure
        assert kubectl("wait", "--for=delete", "pod/p", "--timeout=100s") == ""
    else:
        assert "no matching resources" in kubectl.fails("wait", "--for=delete", "pod/p", "--timeout=100s")


def test_create_job_runs_to_completion(kubectl: Kubectl) -> None:
    assert kubectl("create", "job", "pi", "--image=perl", "--", "perl", "-e", "1") == "job.batch/pi created\n"
    ((name, *_),) = eventually_so(lambda: kubectl.rows("pods", "--no-headers"), "the Job has a pod")
    server_binds(kubectl, name)
    kubectl("wait", "--for=condition=complete", "job/pi", "--timeout=100s")
    header, row = kubectl.rows("jobs")
    assert header[:4] == ["NAME", "STATUS", "COMPLETIONS", "DURATION"]
    assert row[:3] == ["pi", "Complete", "1/1"]
    assert "Pods Statuses:" in kubectl("describe", "job", "pi")


def server_binds(kubectl: Kubectl, name: str) -> None:
    """There is no scheduler here: bind as one would."""
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n-1"},
    }
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/{name}/binding"
    kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(binding))


@pytest.mark.parametrize(
    "arguments",
    [
        ("configmap", "x", "--from-literal=a=b"),
        ("secret", "generic", "x", "--from-literal=a=b"),
        ("serviceaccount", "x"),
        ("deployment", "x", "--image=i"),
        ("poddisruptionbudget", "x", "--selector=a=b", "--min-available=1"),
        ("quota", "x", "--hard=cpu=1"),
        ("service", "clusterip", "x", "--tcp=80:80"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_create_by_command(kubectl: Kubectl, arguments: tuple[str, ...]) -> None:
    if arguments[0] == "poddisruptionbudget" and kubectl.minor < 21:
        pytest.skip(
            "this kubectl creates budgets only in policy/v1beta1, which Kubernetes stopped serving in 1.25"
        )
    assert "x created" in kubectl("create", *arguments)
    assert "x" in kubectl("get", arguments[0], "--no-headers")


def test_scale_a_deployment_and_roll_it_out(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=one")
    kubectl("scale", "deployment", "web", "--replicas=3")
    eventually_so(lambda: len(kubectl.rows("pods", "--no-headers")) == 3)
    assert kubectl.rows("deployment", "web")[1][:2] == ["web", "0/3"]
    assert len(kubectl.rows("rs", "--no-headers")) == 1
    kubectl("delete", "deployment", "web", "--wait", "--timeout=100s")
    eventually_so(lambda: not kubectl("get", "pods", "--no-headers", "--ignore-not-found"))


def test_get_watch_streams_rows_as_things_happen(kubectl: Kubectl, cluster: EmbeddedServer) -> None:
    command = kubectl.command("get", "pods", "-w", "--no-headers")
    watchers = cluster.backend.hub.count
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=kubectl.environment) as watching:
        assert watching.stdout is not None
        try:
            # A pod that runs before kubectl watches would be one line, not two.
            eventually_so(lambda: cluster.backend.hub.count > watchers, "kubectl watches")
            kubectl("create", "-f", "-", stdin=pod_yaml())
            lines = [watching.stdout.readline().split() for _ in range(2)]
        finally:
            watching.terminate()
    assert lines[0][:3] == ["p", "0/1", "Pending"]
    assert lines[1][:3] == ["p", "1/1", "Running"]


def test_unknown_fields_are_refused_by_name(kubectl: Kubectl) -> None:
    said = kubectl.fails("create", "-f", "-", stdin=pod_yaml(extra="shinyNewField: 1\n"))
    assert "shinyNewField" in said
    kubectl("create", "--validate=false", "-f", "-", stdin=pod_yaml(extra="shinyNewField: 1\n"))


def test_a_dry_run_stores_nothing(kubectl: Kubectl) -> None:
    assert "dry run" in kubectl("apply", "--dry-run=server", "-f", "-", stdin=pod_yaml())
    assert "NotFound" in kubectl.fails("get", "pod", "p")


def test_selectors_and_output_forms(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_yaml("a"))
    kubectl("create", "-f", "-", stdin=pod_yaml("b").replace("app: x", "app: other"))
    assert [row[0] for row in kubectl.rows("pods", "-l", "app in (other)", "--no-headers")] == ["b"]
    assert [row[0] for row in kubectl.rows("pods", "--field-selector=metadata.name=a", "--no-headers")] == [
        "a"
    ]
    assert kubectl("get", "pods", "-o", "name").split() == ["pod/a", "pod/b"]
    assert kubectl("get", "pods", "--sort-by=.metadata.name", "--show-labels").count("app=") == 2
    assert kubectl("get", "pods", "-o", "custom-columns=N:.metadata.name").split() == ["N", "a", "b"]
    assert "kind: List" in kubectl("get", "pods", "-o", "yaml")


def test_cordon_taint_and_drain(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_yaml())
    kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=100s")
    try:
        kubectl("taint", "nodes", "n-0", "busy=yes:NoSchedule")
        kubectl("drain", "n-0", "--force", "--pod-selector=app=x", "--timeout=100s")
        assert kubectl.rows("node", "n-0")[1][1] == "Ready,SchedulingDisabled"
        assert "NotFound" in kubectl.fails("get", "pod", "p")
    finally:
        kubectl("uncordon", "n-0")
        kubectl("taint", "nodes", "n-0", "busy-")


def test_a_budget_stops_an_eviction(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=pod_yaml())
    kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=100s")
    budget = (
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, "
        "selector: {matchLabels: {app: x}}}\n"
    )
    kubectl("create", "-f", "-", stdin=budget)
    eventually_so(lambda: kubectl("get", "pdb", "b", "-o", "jsonpath={.status.currentHealthy}") == "1")
    assert kubectl.rows("pdb", "b")[1][:4] == ["b", "1", "N/A", "0"]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "p", "namespace": kubectl.namespace},
    }
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/p/eviction"
    assert "disruption budget" in kubectl.fails(
        "create", "--raw", path, "-f", "-", stdin=json.dumps(eviction)
    )


def test_a_custom_kind_from_definition_to_deletion(kubectl: Kubectl) -> None:
    definition = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.kubectl.example.com}
spec:
  group: kubectl.example.com
  scope: Namespaced
  names: {plural: lamps, singular: lamp, kind: Lamp, shortNames: [lp]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.bulbs, statusReplicasPath: .status.bulbs}
    additionalPrinterColumns:
    - {name: Bulbs, type: integer, jsonPath: .spec.bulbs}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What the lamp should do.
            properties:
              bulbs: {type: integer, minimum: 0}
              colour: {type: string, default: white}
          status: {type: object, properties: {bulbs: {type: integer}}}
"""
    kubectl("apply", "-f", "-", stdin=definition)
    kubectl("wait", "--for=condition=Established", "crd/lamps.kubectl.example.com", "--timeout=100s")
    lamp = "apiVersion: kubectl.example.com/v1\nkind: Lamp\nmetadata: {name: l}\nspec: {bulbs: 2}\n"
    kubectl("apply", "-f", "-", stdin=lamp)
    assert kubectl.rows("lp") == [["NAME", "BULBS"], ["l", "2"]]
    assert kubectl("get", "lamp", "l", "-o", "jsonpath={.spec.colour}") == "white"
    kubectl("scale", "lamp/l", "--replicas=5")
    assert kubectl.rows("lamps")[1] == ["l", "5"]
    assert "greater than or equal to 0" in kubectl.fails("apply", "-f", "-", stdin=lamp.replace("2", "-2"))
    assert "What the lamp should do." in kubectl("explain", "lamp.spec")
    kubectl("delete", "crd", "lamps.kubectl.example.com", "--wait", "--timeout=100s")
    kubectl.fails("get", "lamps")


def test_deleting_a_namespace_waits_until_it_is_empty(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "short-lived")
    kubectl("create", "configmap", "c", "-n", "short-lived")
    kubectl("delete", "namespace", "short-lived", "--wait", "--timeout=100s")
    assert "NotFound" in kubectl.fails("get", "namespace", "short-lived")
