"""Sessions of real clients against a real API server, taken down as scenes: what kubectl and the client
libraries send when people do everyday things with them.

Nothing runs there but etcd and kube-apiserver, so that what is answered is the API server's doing.
"""

import asyncio
import importlib
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tools.fidelity import talk
from tools.fidelity.kubectl_session import COMMANDS
from tools.fidelity.player import Player
from tools.fidelity.recorder import Recorder
from tools.real_cluster import binaries

Session = Callable[[Path, str], Awaitable[None]]
"""What somebody does with a kubeconfig in a namespace."""


async def kubectl(kubeconfig: Path, namespace: str) -> None:
    program = binaries.find("kubectl")
    with tempfile.TemporaryDirectory(prefix="reprieve-kubectl-") as home:
        environment = {"KUBECONFIG": str(kubeconfig), "HOME": home, "PATH": os.environ["PATH"]}
        for command, given in COMMANDS:
            process = await asyncio.create_subprocess_exec(
                str(program),
                "--namespace",
                namespace,
                *command,
                env=environment | {"KUBE_EDITOR": "sed -i -e s/red/green/"},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await process.communicate(given.encode())
            lines = said.decode().splitlines()
            print(f"{process.returncode} {' '.join(command)}: {lines[0] if lines else ''}", flush=True)


async def kubernetes(kubeconfig: Path, namespace: str) -> None:
    await asyncio.to_thread(_kubernetes, kubeconfig, namespace)


def _kubernetes(kubeconfig: Path, namespace: str) -> None:
    library: Any = importlib.import_module("kubernetes")
    client, config = library.client, library.config
    api = config.new_client_from_config(str(kubeconfig))
    core, apps, batch = client.CoreV1Api(api), client.AppsV1Api(api), client.BatchV1Api(api)
    container = client.V1Container(
        name="main", image="busybox:1", resources=client.V1ResourceRequirements(requests={"cpu": "500m"})
    )
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "a"}), spec=client.V1PodSpec(containers=[container])
    )
    pod = client.V1Pod(metadata=client.V1ObjectMeta(name="p", labels={"app": "a"}), spec=template.spec)
    core.create_namespaced_pod(namespace, pod)
    core.list_namespaced_pod(namespace, label_selector="app=a", field_selector="status.phase=Pending")
    core.patch_namespaced_pod("p", namespace, {"metadata": {"labels": {"b": "c"}}})
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    core.patch_namespaced_pod_status("p", namespace, {"status": {"conditions": [condition]}})
    read = core.read_namespaced_pod("p", namespace)
    read.metadata.annotations = {"note": "x"}
    core.replace_namespaced_pod("p", namespace, read)
    _refused(core.replace_namespaced_pod, "p", namespace, read)
    _refused(core.create_namespaced_pod, namespace, pod)
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="p", namespace=namespace))
    core.create_namespaced_pod_eviction("p", namespace, eviction)
    _refused(core.read_namespaced_pod, "p", namespace)
    deployment = client.V1Deployment(
        metadata=client.V1ObjectMeta(name="d"),
        spec=client.V1DeploymentSpec(
            replicas=2, selector=client.V1LabelSelector(match_labels={"app": "a"}), template=template
        ),
    )
    apps.create_namespaced_deployment(namespace, deployment)
    scale = apps.read_namespaced_deployment_scale("d", namespace)
    scale.spec.replicas = 3
    apps.replace_namespaced_deployment_scale("d", namespace, scale)
    apps.patch_namespaced_deployment_scale("d", namespace, {"spec": {"replicas": 4}})
    apps.list_namespaced_deployment(namespace, limit=1)
    apps.delete_namespaced_deployment("d", namespace, propagation_policy="Foreground")
    template.spec.restart_policy = "Never"
    job = client.V1Job(metadata=client.V1ObjectMeta(name="j"), spec=client.V1JobSpec(template=template))
    batch.create_namespaced_job(namespace, job)
    batch.patch_namespaced_job("j", namespace, [{"op": "add", "path": "/spec/suspend", "value": True}])
    batch.delete_namespaced_job("j", namespace, body=client.V1DeleteOptions(propagation_policy="Background"))
    core.delete_collection_namespaced_pod(namespace, label_selector="app=a")


async def kubernetes_asyncio(kubeconfig: Path, namespace: str) -> None:
    library: Any = importlib.import_module("kubernetes_asyncio")
    client, config = library.client, library.config
    configuration = client.Configuration()
    await config.load_kube_config(str(kubeconfig), client_configuration=configuration)
    async with client.ApiClient(configuration) as connection:
        core, custom = client.CoreV1Api(connection), client.CustomObjectsApi(connection)
        settings = client.V1ConfigMap(metadata=client.V1ObjectMeta(generate_name="s-"), data={"a": "1"})
        made = await core.create_namespaced_config_map(namespace, settings)
        name = made.metadata.name
        await core.patch_namespaced_config_map(name, namespace, {"data": {"b": "2"}})
        await core.patch_namespaced_config_map(name, namespace, [{"op": "remove", "path": "/data/a"}])
        await core.list_namespaced_config_map(namespace, limit=1)
        await core.delete_namespaced_config_map(name, namespace, body=client.V1DeleteOptions())
        secret = client.V1Secret(metadata=client.V1ObjectMeta(name="s"), string_data={"k": "v"})
        await core.create_namespaced_secret(namespace, secret)
        service = client.V1Service(
            metadata=client.V1ObjectMeta(name="web"),
            spec=client.V1ServiceSpec(selector={"app": "a"}, ports=[client.V1ServicePort(port=80)]),
        )
        await core.create_namespaced_service(namespace, service)
        place = ("coordination.k8s.io", "v1", namespace, "leases")
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}}
        await custom.create_namespaced_custom_object(*place, lease | {"spec": {"holderIdentity": "me"}})
        await custom.get_namespaced_custom_object(*place, "l")
        merge = "application/merge-patch+json"
        change = {"spec": {"holderIdentity": "you"}}
        await custom.patch_namespaced_custom_object(*place, "l", change, _content_type=merge)
        await custom.delete_namespaced_custom_object(*place, "l")


async def lightkube(kubeconfig: Path, namespace: str) -> None:
    await asyncio.to_thread(_lightkube, kubeconfig, namespace)


def _lightkube(kubeconfig: Path, namespace: str) -> None:
    from lightkube import ApiError, Client, KubeConfig
    from lightkube.models.core_v1 import Container, PodSpec
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import ConfigMap, Node, Pod
    from lightkube.types import PatchType

    client: Any = Client(config=KubeConfig.from_file(kubeconfig), namespace=namespace, trust_env=False)
    spec = PodSpec(containers=[Container(name="main", image="busybox:1")])
    client.create(Pod(metadata=ObjectMeta(name="p", namespace=namespace), spec=spec))
    client.get(Pod, "p")
    client.patch(Pod, "p", {"metadata": {"labels": {"a": "b"}}}, patch_type=PatchType.MERGE)
    client.patch(Pod, "p", {"metadata": {"labels": {"c": "d"}}})
    list(client.list(Pod, labels={"a": "b"}))
    client.delete(Pod, "p")
    for manager, value in (("one", "1"), ("one", "2"), ("two", "3")):
        settings = ConfigMap(metadata=ObjectMeta(name="m", namespace=namespace), data={"n": value})
        try:
            client.apply(settings, field_manager=manager)
        except ApiError:
            client.apply(settings, field_manager=manager, force=True)
    list(client.list(Node))


async def kr8s(kubeconfig: Path, namespace: str) -> None:
    import kr8s as library
    from kr8s.asyncio.objects import ConfigMap, Deployment, Pod

    api = await library.asyncio.api(kubeconfig=str(kubeconfig), namespace=namespace)
    container = {"name": "main", "image": "busybox:1"}
    where = {"namespace": namespace}
    pod = await Pod({"metadata": {"name": "p", **where}, "spec": {"containers": [container]}}, api=api)
    await pod.create()
    await pod.label(tier="web")
    await pod.annotate(note="x")
    [each async for each in api.get("pods", namespace=namespace, label_selector={"tier": "web"})]
    await pod.delete()
    await pod.exists()
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "d"}}, "template": template}
    deployment = await Deployment({"metadata": {"name": "d", **where}, "spec": spec}, api=api)
    await deployment.create()
    await deployment.patch({"spec": {"replicas": 2}}, subresource="scale")
    await deployment.delete(propagation_policy="Background")
    settings = await ConfigMap({"metadata": {"name": "m", **where}, "data": {"n": "1"}}, api=api)
    await settings.create()
    await settings.patch({"data": {"n": "2"}})
    await settings.patch([{"op": "add", "path": "/data/o", "value": "3"}], type="json")
    await settings.delete()


def _refused(call: Callable[..., Any], *arguments: Any) -> None:
    library: Any = importlib.import_module("kubernetes")
    try:
        call(*arguments)
    except library.client.ApiException as error:
        print(f"refused: {error.status} {error.reason}", flush=True)


SESSIONS: dict[str, Session] = {
    "kubectl": kubectl,
    "kubernetes": kubernetes,
    "kubernetes-asyncio": kubernetes_asyncio,
    "lightkube": lightkube,
    "kr8s": kr8s,
}


async def take_down(player: Player, upstream: Path, name: str) -> None:
    """Play a session against the server behind a kubeconfig and write it down as a scene."""
    namespace = f"fidelity-{name}"
    await player.prepare(namespace)
    recorder = Recorder(upstream)
    with tempfile.TemporaryDirectory(prefix="reprieve-recorder-") as home:
        async with recorder.running(Path(home)) as kubeconfig:
            await SESSIONS[name](kubeconfig, namespace)
    about = f"A session of {name}, recorded by tools.fidelity.sessions."
    talk.save(talk.HERE / f"{name}.yaml", recorder.scene(about))
