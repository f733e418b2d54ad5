"""A manager and a worker, both real API servers: a Job, a JobSet and a gang are dispatched, run on the worker
and are seen at home, while the manager is killed. The worker lets the manager do what docs/fleet.md says, and
nothing else.
"""

import base64
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import yaml
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import (
    ADMISSION_CHECKS,
    JOBS,
    MULTIKUEUE_CLUSTERS,
    MULTIKUEUE_CONFIGS,
    POD_GROUPS,
    PODS,
    Resource,
)
from tests.builders import Document
from tests.real.cluster import Mortal, Place, Run, install, kubectl, needs_native_groups, place
from tests.real.job_sets import JobSetController
from tests.real.queues import (
    CONFIGURATION,
    JOB_SETS,
    QUEUE,
    conditions,
    define_job_sets,
    job_set,
    queued_job,
    queues,
)
from tests.scale import scaled

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(1500)]

SECRETS = Resource("", "v1", "Secret", "secrets")
CHECK, NAME = "sent-away", "fleet"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
SIZE = 2
GATED: Document = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}


@pytest.fixture(scope="module")
def worker(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A second control plane; the first one is the manager's."""
    needs_native_groups(plane)
    with ControlPlane(tmp_path_factory.mktemp("worker")) as running:
        yield running


def _access(worker: ControlPlane) -> bytes:
    """A kubeconfig with the rights on a worker that docs/fleet.md names."""
    everything = ["get", "list", "watch", "create", "delete"]
    rules = [
        {"apiGroups": [group], "resources": [plural], "verbs": everything}
        for group, plural in (
            ("kueue.x-k8s.io", "workloads"), ("batch", "jobs"), ("", "pods"),
            (JOB_SETS.group, JOB_SETS.plural), ("scheduling.k8s.io", "podgroups"),
        )
    ]  # fmt: skip
    rules.append({"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads", "workloads/status"],
                  "verbs": ["update"]})  # fmt: skip
    rbac, api = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
    named = {"name": "manager"}
    subject = {"kind": "ServiceAccount", "name": "manager", "namespace": "default"}
    role = {"apiGroup": rbac, "kind": "ClusterRole", "name": "manager"}
    documents: list[Document] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**named, "namespace": "default"}},
        {"apiVersion": api, "kind": "ClusterRole", "metadata": named, "rules": rules},
        {"apiVersion": api, "kind": "ClusterRoleBinding", "metadata": named, "roleRef": role,
         "subjects": [subject]},
    ]  # fmt: skip
    kubectl(worker, "apply", "-f", "-", given=documents)
    token = kubectl(worker, "create", "token", "manager", "-n", "default", "--duration=2h").strip()
    return worker.kubeconfig_for_token("manager", token).read_bytes()


async def _join(home: Place, kubeconfig: bytes) -> None:
    data = {"kubeconfig": base64.b64encode(kubeconfig).decode()}
    secret = {"metadata": {"name": "far", "namespace": "kueue-system"}, "data": data}
    source = {"kubeConfig": {"location": "far", "locationType": "Secret"}}
    await home.create(SECRETS, secret)
    await home.create(MULTIKUEUE_CLUSTERS, {"metadata": {"name": "far"}, "spec": {"clusterSource": source}})
    await home.create(MULTIKUEUE_CONFIGS, {"metadata": {"name": "far"}, "spec": {"clusters": ["far"]}})
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "far"}
    check = {"controllerName": MULTIKUEUE, "parameters": parameters}
    await home.create(ADMISSION_CHECKS, {"metadata": {"name": CHECK}, "spec": check})


async def _leave(home: Place) -> None:
    await home.client.delete(SECRETS, "far", "kueue-system")
    for kind, name in ((ADMISSION_CHECKS, CHECK), (MULTIKUEUE_CONFIGS, "far"), (MULTIKUEUE_CLUSTERS, "far")):
        await home.client.delete(kind, name)


@asynccontextmanager
async def clusters(manager: ControlPlane, worker: ControlPlane) -> AsyncIterator[tuple[Place, Place]]:
    """Home and far, with the same namespace and queue; nobody makes pods of JobSets at home."""
    checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": CHECK}]}}
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(place(manager, NAME, nodes=1))
        far = await stack.enter_async_context(place(worker, NAME, nodes=2))
        for here in (home, far):
            await define_job_sets(here)
        await _join(home, _access(worker))
        stack.push_async_callback(_leave, home)
        await stack.enter_async_context(queues(home, "main", pods=3 * SIZE, **checks))
        await stack.enter_async_context(queues(far, "main", pods=3 * SIZE))
        await stack.enter_async_context(JobSetController(far).running())
        yield home, far


async def _submit(home: Place) -> None:
    away = queued_job(home, "job", "main", SIZE, managedBy=MULTIKUEUE)
    away["spec"]["template"]["metadata"] = {"annotations": {"reprieve.dev/run-for": "3s"}}
    await home.create(JOBS, away)
    await home.create(JOB_SETS, job_set(home, "set", "main", SIZE))
    gang = home.own_group("gang", SIZE)
    gang["metadata"]["labels"] = {QUEUE: "main"}
    await home.create(POD_GROUPS, gang)
    await home.create(PODS, *(home.own_pod(f"gang-{i}", group="gang", **GATED) for i in range(SIZE)))


async def test_a_job_a_jobset_and_a_gang_run_on_the_worker_although_the_manager_is_killed(
    plane: ControlPlane, worker: ControlPlane, tmp_path: Path, dice: random.Random
) -> None:
    at_home, away = ("quota", "fleet"), ("scheduler", "quota")
    accounts = install(plane, at_home), install(worker, away)
    config = tmp_path / "config.yaml"
    gates = {"featureGates": {"MultiKueueOrchestratedPreemption": True}}
    config.write_text(yaml.safe_dump(CONFIGURATION | gates), encoding="utf-8")

    def given(controllers: tuple[str, ...]) -> list[str]:
        return ["--controllers", ",".join(controllers), "--config", str(config), "--no-leader-elect"]

    async with clusters(plane, worker) as (home, far):
        there = Run(accounts[1], tmp_path / "worker.log", *given(away))
        manager = Mortal(dice, accounts[0], tmp_path / "manager.log", *given(at_home))
        try:
            await _submit(home)
            await manager.die(scaled(2, least=1))
            await far.until_bound("gang", SIZE)
            await far.until_bound("set", SIZE)
            await home.until(lambda: _complete(home))
            await home.until(lambda: _seen_at_home(home))
            assert await home.bound() == [], "what runs away is placed nowhere at home"
        finally:
            assert manager.run.stop() == 0
            assert there.stop() == 0
        assert there.complaints() == []
        assert [line for line in manager.run.complaints() if " E " in line or "403" in line] == []


async def _complete(home: Place) -> bool:
    return conditions(await home.client.get(JOBS.raw(), "job", home.name)).get("Complete") == "True"


async def _seen_at_home(home: Place) -> bool:
    """The gang's pods at home say how those on the worker are."""
    phases = {pod["metadata"]["name"]: pod["status"].get("phase") for pod in await home.pods()}
    return {name: phase for name, phase in phases.items() if phase == "Running"}.keys() == {
        f"gang-{i}" for i in range(SIZE)
    }
