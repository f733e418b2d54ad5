"""Commands of the first hour: rights, tokens, events, rollouts, resizes, and what fake nodes do not have."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from reprieve.local import local_cluster
from reprieve.objects import NodeTemplate
from reprieve.server import Habits
from reprieve.server.embedded import EmbeddedServer
from reprieve.server.resources import STORED
from tests.server.kubectl_tool import Kubectl, find_kubectl
from tests.waiting import eventually_so

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedServer]:
    with local_cluster(nodes=[NodeTemplate.parse("n=1:cpu=8,memory=32Gi")], habits=Habits()) as server:
        yield server


_numbers = itertools.count(1)


@pytest.fixture
def kubectl(cluster: EmbeddedServer, tmp_path: Path) -> Iterator[Kubectl]:
    name = f"commands-{next(_numbers)}"
    tool = Kubectl(find_kubectl(), cluster.kubeconfig, tmp_path, name)
    tool("create", "namespace", name)
    yield tool
    tool("delete", "namespace", name, "--wait=false")


SIDECAR = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeName: n-0
  initContainers: [{name: side, image: i, restartPolicy: Always}]
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
"""


def started(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=SIDECAR)
    kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=100s")


def test_somebody_else_is_shown_as_who_they_are_with_their_rights(kubectl: Kubectl) -> None:
    assert "bob" in kubectl("auth", "whoami", "--as=bob", "--as-group=team")
    assert "team" in kubectl("auth", "whoami", "--as=bob", "--as-group=team")
    assert "no" in kubectl.run("auth", "can-i", "list", "pods", "--as=bob").stdout
    assert "cannot list resource" in kubectl.fails("get", "pods", "--as=bob")
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods")
    kubectl("create", "rolebinding", "reader", "--role=reader", "--user=bob")
    assert "yes" in kubectl("auth", "can-i", "list", "pods", "--as=bob")
    kubectl("get", "pods", "--as=bob")
    listed = kubectl("auth", "can-i", "--list", "--as=bob")
    assert any(line.split()[0] == "pods" and "[get list]" in line for line in listed.splitlines())
    assert "*.*" in kubectl("auth", "can-i", "--list")


def test_a_token_of_a_service_account_is_that_account(
    kubectl: Kubectl, cluster: EmbeddedServer, tmp_path: Path
) -> None:
    kubectl("create", "serviceaccount", "robot")
    token = kubectl("create", "token", "robot", "--duration=1h").strip()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    (tmp_path / "robot").write_text(yaml.safe_dump(config))
    robot = Kubectl(find_kubectl(), tmp_path / "robot", tmp_path, kubectl.namespace)
    assert f"system:serviceaccount:{kubectl.namespace}:robot" in robot("auth", "whoami")
    assert "cannot list resource" in robot.fails("get", "pods")


def test_events_sort_by_the_time_they_were_seen_last(kubectl: Kubectl) -> None:
    for number, second in ((1, "30"), (2, "10"), (3, "20")):
        event = f"""
            apiVersion: v1
            kind: Event
            metadata: {{name: e{number}}}
            involvedObject: {{kind: Pod, name: p, namespace: {kubectl.namespace}}}
            reason: R{number}
            lastTimestamp: "2026-01-01T00:00:{second}Z"
        """
        kubectl("create", "-f", "-", stdin=event)
    modern = f"""
        apiVersion: events.k8s.io/v1
        kind: Event
        metadata: {{name: e4}}
        regarding: {{kind: Pod, name: p, namespace: {kubectl.namespace}}}
        eventTime: "2026-01-01T00:00:00.000000Z"
        reason: R4
        action: A
        type: Normal
        reportingController: c
        reportingInstance: i
    """
    kubectl("create", "-f", "-", stdin=modern)
    sorted_rows = kubectl("get", "events", "--sort-by=.lastTimestamp", "-o", "name").split()
    assert [row.partition("/")[2] for row in sorted_rows] == ["e4", "e2", "e3", "e1"]


def test_a_sidecar_counts_among_the_ready_containers(kubectl: Kubectl) -> None:
    started(kubectl)
    assert kubectl.rows("pod", "p")[1][1] == "2/2"


def test_a_running_pod_is_resized(kubectl: Kubectl) -> None:
    started(kubectl)
    patch = '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"%s"}}}]}}'
    kubectl("patch", "pod", "p", "--subresource=resize", "-p", patch % "2")
    path = "jsonpath={.spec.containers[0].resources.requests.cpu}"
    assert kubectl("get", "pod", "p", "-o", path) == "2"
    said = kubectl.fails("patch", "pod", "p", "--subresource=resize", "-p", patch % "20")
    assert "more cpu, and node n-0 has" in said


def test_what_needs_a_container_says_that_there_is_none(kubectl: Kubectl) -> None:
    started(kubectl)
    assert "Error from server (NotImplemented)" in kubectl.fails("logs", "p")
    assert "no containers that could write a log; `kubectl describe pod p`" in kubectl.fails("logs", "p")
    assert "pods on fake nodes have no containers" in kubectl.fails("exec", "p", "--", "ls")
    assert "pods on fake nodes have no containers" in kubectl.fails("attach", "p")
    assert "pods on fake nodes have no containers" in kubectl.fails("debug", "p", "--image=i")
    assert 'pods "nobody" not found' in kubectl.fails("logs", "nobody")
    assert "Metrics API not available" in kubectl.fails("top", "pods")
    said = kubectl.fails("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes")
    assert "pods on fake nodes use nothing that could be measured" in said


def test_a_rollout_is_undone(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=i:1")

    def revisions() -> list[str]:
        return [word for word in kubectl("rollout", "history", "deployment/web").split() if word.isdigit()]

    eventually_so(lambda: revisions() == ["1"])
    kubectl("set", "image", "deployment/web", "i=i:2")
    eventually_so(lambda: revisions() == ["1", "2"])
    kubectl("rollout", "undo", "deployment/web", "--to-revision=1")
    image = "jsonpath={.spec.template.spec.containers[0].image}"
    assert kubectl("get", "deployment", "web", "-o", image) == "i:1"


def test_what_nothing_acts_on_is_stored_and_said_to_be_so(kubectl: Kubectl) -> None:
    done = kubectl.run("create", "ingress", "web", "--rule=a.example/*=web:80")
    assert f"Warning: Ingress: {STORED}" in done.stderr
    assert kubectl.rows("ingress")[1][0] == "web"


def test_a_gang_that_lost_its_pods_is_not_shown_as_scheduled(kubectl: Kubectl) -> None:
    group = """
        apiVersion: scheduling.k8s.io/v1beta1
        kind: PodGroup
        metadata: {name: g}
        spec: {schedulingPolicy: {gang: {minCount: 2}}}
    """
    kubectl("create", "-f", "-", stdin=group)
    for name in ("a", "b"):
        pod = f"""
            apiVersion: v1
            kind: Pod
            metadata: {{name: {name}}}
            spec:
              schedulingGroup: {{podGroupName: g}}
              terminationGracePeriodSeconds: 0
              containers: [{{name: c, image: i}}]
              nodeName: n-0
        """
        kubectl("create", "-f", "-", stdin=pod)
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": "True",
        "reason": "Scheduled",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    patch = json.dumps({"status": {"conditions": [condition]}})
    kubectl("patch", "podgroup", "g", "--subresource=status", "--type=merge", "-p", patch)
    assert "Scheduled" in kubectl.rows("podgroup", "g")[1]
    kubectl("delete", "pod", "a", "--wait=true")
    assert "1/2 placed" in kubectl("get", "podgroup", "g")
