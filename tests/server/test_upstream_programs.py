"""Kubernetes' own programs, as they are, against the embedded server in place of ours.

Their Go clients send protobuf, stream their lists, hold leases and collect garbage. Where the programs are
comes from REPRIEVE_KUBERNETES_BIN, a folder.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reprieve.objects import NodeTemplate
from reprieve.server import EmbeddedServer, FakeKubelet
from reprieve.server.api import Api
from tests.server.kubectl_tool import Kubectl, find_kubectl
from tests.waiting import eventually_so

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
FOLDER = Path(os.environ.get("REPRIEVE_KUBERNETES_BIN", "/nonexistent"))
NAMES = "jsonpath={.items[*].metadata.name}"


async def _fake_node(api: Api) -> None:
    await FakeKubelet(api, [NodeTemplate.parse("n=1:cpu=8,memory=32Gi")], None).run()


@contextmanager
def running(name: str, folder: Path, controllers: bool) -> Iterator[Kubectl]:
    program = FOLDER / name
    if not program.exists():
        pytest.skip(f"REPRIEVE_KUBERNETES_BIN names no folder with {name}")
    with EmbeddedServer(controllers=controllers, background=(_fake_node,)) as server:
        access = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
        command = [str(program), "--secure-port=0", *(f"--{use}={server.kubeconfig}" for use in access)]
        with (folder / "program.log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield Kubectl(find_kubectl(), server.kubeconfig, folder, "default")
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture
def managed(tmp_path: Path) -> Iterator[Kubectl]:
    with running("kube-controller-manager", tmp_path, controllers=False) as kubectl:
        yield kubectl


@pytest.fixture
def scheduled(tmp_path: Path) -> Iterator[Kubectl]:
    with running("kube-scheduler", tmp_path, controllers=True) as kubectl:
        yield kubectl


def test_a_deployment_rolls_out_and_its_pods_go_with_it(managed: Kubectl) -> None:
    kubectl = managed
    eventually_so(lambda: "default" in kubectl("get", "serviceaccounts"), seconds=60)
    kubectl("create", "deployment", "web", "--image=i", "--replicas=2")
    eventually_so(lambda: len(kubectl("get", "pods", "-o", NAMES).split()) == 2, seconds=60)
    for name in kubectl("get", "pods", "-o", NAMES).split():
        binding = f'{{"metadata":{{"name":"{name}"}},"target":{{"kind":"Node","name":"n-0"}}}}'
        path = f"/api/v1/namespaces/default/pods/{name}/binding"
        kubectl("create", "--raw", path, "-f", "-", stdin=binding)
    kubectl("rollout", "status", "deployment/web", "--timeout=100s")
    kubectl("delete", "deployment", "web")
    eventually_so(lambda: kubectl("get", "pods,replicasets", "-o", NAMES) == "", seconds=60)


def test_a_namespace_is_emptied_and_goes(managed: Kubectl) -> None:
    managed("create", "namespace", "team")
    managed("create", "configmap", "c", "--namespace=team")
    managed("delete", "namespace", "team", "--timeout=100s")
    assert "not found" in managed.fails("get", "namespace", "team")


def test_kube_scheduler_finds_nodes_for_pods(scheduled: Kubectl) -> None:
    scheduled("create", "deployment", "web", "--image=i", "--replicas=2")
    scheduled("rollout", "status", "deployment/web", "--timeout=100s")
    events = scheduled("get", "events", "--sort-by=.lastTimestamp")
    assert events.count("Successfully assigned default/web-") == 2
