"""`reprieve up --workers`: a manager and its workers in one process, with real pods on fake nodes."""

from reprieve.kube import JOBS, PODS, WORKLOAD_PRIORITY_CLASSES, Client
from reprieve.local.fleet import local_fleet
from reprieve.objects import NodeTemplate
from reprieve.server.fake_nodes import Habits
from tests import builders
from tests.builders import Document
from tests.waiting import eventually


def job_for(name: str, priority: str, run_for: str) -> Document:
    return builders.job(
        name,
        4,
        count=2,
        queue="main",
        labels={"kueue.x-k8s.io/priority-class": priority},
        annotations={"reprieve.dev/run-for": run_for},
        pod={"schedulerName": "reprieve"},
    )


async def test_a_job_given_to_the_manager_preempts_in_one_worker_runs_there_and_ends_here() -> None:
    nodes = [NodeTemplate.parse("node=2:cpu=4,memory=16Gi")]
    async with local_fleet(2, nodes, Habits(terminate_after=0.2)) as fleet:
        clients = {name: Client.from_kubeconfig(path) for name, path in fleet.kubeconfigs().items()}
        for client in clients.values():
            for name, value in (("low", 1), ("high", 10)):
                await client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
        for name in fleet.workers:
            await clients[name].create(JOBS, job_for("notebook", "low", "1h"))

        async def running(cluster: str, prefix: str) -> int:
            pods = (await clients[cluster].listing(PODS.raw(), "default")).items
            return sum(
                pod["metadata"]["name"].startswith(prefix) and pod["status"].get("phase") == "Running"
                for pod in pods
            )

        async def all_full() -> bool:
            return [await running(name, "notebook") for name in fleet.workers] == [2, 2]

        await eventually(all_full, "both workers are full of notebooks")
        await clients["manager"].create(JOBS, job_for("train", "high", "1s"))

        async def is_done() -> bool:
            status = (await clients["manager"].get(JOBS.raw(), "train", "default")).get("status") or {}
            return any(each["type"] == "Complete" for each in status.get("conditions") or ())

        await eventually(is_done, "the job is complete in the manager")
        await eventually(all_full, "the notebooks run again everywhere")
        for client in clients.values():
            await client.close()
