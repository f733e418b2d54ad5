"""Kubernetes' own kube-controller-manager, as it is, against the embedded server without our controllers.

Its Go clients send protobuf, stream their lists, hold leases and collect garbage. Where the program is comes
from REPRIEVE_KUBERNETES_BIN, a folder with Kubernetes' programs.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprieve.server import EmbeddedServer, FakeKubelet, NodeTemplate
from reprieve.server.api import Api
from tests.server.kubectl_tool import Kubectl, find_kubectl
from tests.waiting import eventually_so

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
FOLDER = Path(os.environ.get("REPRIEVE_KUBERNETES_BIN", "/nonexistent"))


async def _fake_node(api: Api) -> None:
    await FakeKubelet(api, [NodeTemplate.parse("n=1:cpu=8,memory=32Gi")], None).run()


@pytest.fixture
def kubectl(tmp_path: Path) -> Iterator[Kubectl]:
    manager = FOLDER / "kube-controller-manager"
    if not manager.exists():
        pytest.skip("REPRIEVE_KUBERNETES_BIN names no folder with kube-controller-manager")
    with EmbeddedServer(controllers=False, background=(_fake_node,)) as server:
        config = str(server.kubeconfig)
        access = [f"--{use}={config}" for use in ("kubeconfig", "authentication-kubeconfig")]
        command = [str(manager), *access, f"--authorization-kubeconfig={config}", "--secure-port=0"]
        with (tmp_path / "manager.log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield Kubectl(find_kubectl(), server.kubeconfig, tmp_path, "default")
        finally:
            process.terminate()
            process.wait(20)


def test_a_deployment_rolls_out_and_its_pods_go_with_it(kubectl: Kubectl) -> None:
    eventually_so(lambda: "default" in kubectl("get", "serviceaccounts"), seconds=60)
    kubectl("create", "deployment", "web", "--image=i", "--replicas=2")
    names = "jsonpath={.items[*].metadata.name}"
    eventually_so(lambda: len(kubectl("get", "pods", "-o", names).split()) == 2, seconds=60)
    for name in kubectl("get", "pods", "-o", names).split():
        binding = f'{{"metadata":{{"name":"{name}"}},"target":{{"kind":"Node","name":"n-0"}}}}'
        path = f"/api/v1/namespaces/default/pods/{name}/binding"
        kubectl("create", "--raw", path, "-f", "-", stdin=binding)
    kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    kubectl("delete", "deployment", "web")
    eventually_so(lambda: kubectl("get", "pods,replicasets", "-o", names) == "", seconds=60)


def test_a_namespace_is_emptied_and_goes(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "team")
    kubectl("create", "configmap", "c", "--namespace=team")
    kubectl("delete", "namespace", "team", "--timeout=60s")
    assert "not found" in kubectl.fails("get", "namespace", "team")
