"""Three clusters, all full: one preempts, the others keep their hands still."""

from contextlib import AsyncExitStack
from functools import partial

from reprieve.demo.stage import Stage
from reprieve.demo.tour import Tour
from reprieve.kube import KUEUE_WORKLOADS, PODS, Client
from reprieve.local import local_fleet
from reprieve.objects import find_condition
from reprieve.server import EmbeddedServer, Habits, NodeTemplate

WORKERS = 3


async def one_preempts(tour: Tour, stack: AsyncExitStack) -> None:
    """The clusters stay up as long as the stack does."""
    await tour.scene(
        "Three clusters, one preemption",
        "A manager cluster sends jobs to three workers. All are full of nightly work. Without gates each of them would make\n"
        "room for the same job, and two of the three evictions would be for nothing.",
    )
    nodes = [NodeTemplate.parse("node=2:cpu=4,memory=16Gi")]
    habits = Habits(run_for=None, terminate_after=1.0)
    fleet = await stack.enter_async_context(local_fleet(WORKERS, nodes, habits))
    manager = await _stage(fleet.manager, stack)
    workers = {name: await _stage(server, stack) for name, server in fleet.workers.items()}
    for name, worker in workers.items():
        path = await worker.apply("07-worker.yaml")
        tour.command(f"kubectl --kubeconfig {worker.server.kubeconfig} apply -f {path}")
        await tour.until(f"{name} is full", partial(_full, worker))
        tour.say(f"{name} is full: its nightly job holds all the quota there is")
    path = await manager.apply("08-manager.yaml")
    tour.command(f"kubectl --kubeconfig {manager.server.kubeconfig} apply -f {path}")
    await tour.until("the job has a cluster", lambda: _decided(manager))
    for name, worker in workers.items():
        tour.say(f"{name}: {await _preempted(worker)} preempted")
    tour.say(f"the job runs in {await _winner(manager)}")
    tour.because(
        "every copy of the job carries a closed preemption gate; the manager opens one at a time, the oldest signal first."
    )


async def _stage(server: EmbeddedServer, stack: AsyncExitStack) -> Stage:
    return Stage(server, await stack.enter_async_context(Client.from_kubeconfig(server.kubeconfig)))


async def _full(worker: Stage) -> bool:
    pods = (await worker.client.listing(PODS, "default")).items
    running = [pod for pod in pods if pod.status.phase == "Running"]
    return len(running) >= 2


async def _winner(manager: Stage) -> str:
    items = (await manager.client.listing(KUEUE_WORKLOADS, "default")).items
    return next((w.status.cluster_name for w in items if w.status.cluster_name), "")


async def _decided(manager: Stage) -> bool:
    return bool(await _winner(manager))


async def _preempted(worker: Stage) -> int:
    items = (await worker.client.listing(KUEUE_WORKLOADS, "default")).items
    return sum(find_condition(w.status.conditions, "Preempted") is not None for w in items)
