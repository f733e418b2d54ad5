"""The scenes of the tour, in the order of `show`: a gang preempts, flavors are chosen, one cluster of a fleet
preempts.

A scene submits manifests, waits until the cluster reports that it happened, and gives the reason in one
sentence.
"""

import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reprieve.demo.stage import TERMINATE_SECONDS, Stage, stage
from reprieve.demo.tour import MANIFESTS, Tour
from reprieve.kube import KUEUE_WORKLOADS, PODS, Client
from reprieve.local import local_fleet, stop_signal
from reprieve.objects import NodeTemplate, find_condition, kueue, well_known
from reprieve.quota import is_true
from reprieve.server import EmbeddedServer, Habits

if TYPE_CHECKING:
    from rich.console import Console

WORKERS = 3
TENANTS = ("etl-0", "etl-1", "notebook-0", "notebook-1", "web-0", "web-1")
GANG = ("train-0", "train-1", "train-2", "train-3")
SMALL = tuple(f"small-{i}" for i in range(5))


async def show(console: "Console", pause: Callable[[], Awaitable[None]], keep: bool, port: int) -> None:
    """The whole tour; with `keep` it stays until it is cancelled."""
    async with AsyncExitStack() as stack:
        clusters, controller = await stack.enter_async_context(stage(port))
        console.print(
            "[bold]Reprieve[/]: an API server, fake nodes, a scheduler and a quota controller run on this "
            "machine.\nWith --keep you can type every command below in a second terminal, after this:"
        )
        programs = Path(sys.executable).parent
        console.print(f"  export KUBECONFIG={clusters.server.kubeconfig} PATH={programs}:$PATH", markup=False)
        tour = Tour(console, clusters.server.kubeconfig, pause)
        await plan_the_gang(tour, clusters)
        await submit_the_gang(tour, clusters)
        await explain_a_victim(tour, clusters, controller)
        await choose_flavors(tour, clusters)
        await preempt_in_one_cluster(tour, stack)
        if keep:
            console.print(f"\nEverything goes on until Ctrl-C. Dashboard: {controller}/", markup=False)
            await stop_signal().wait()


async def plan_the_gang(tour: Tour, stage: Stage) -> None:
    await tour.scene(
        "Who would make way?",
        "Four GPU nodes are full: an ETL gang that is only useful whole, notebooks that can lose a worker, "
        "and\n"
        "a web service with a disruption budget. A training gang of four wants to start, all at once or not "
        "at all.",
    )
    path = await stage.apply("01-tenants.yaml")
    tour.command(f"kubectl apply -f {path}")
    await tour.until("the tenants run", lambda: stage.running(*TENANTS))
    tour.say(f"{len(TENANTS)} pods run on the four nodes, which are full.")
    training = str(MANIFESTS / "02-training.yaml")
    kubeconfig = str(stage.server.kubeconfig)
    await tour.reprieve("plan", "-f", training, "--for", "PodGroup/default/train", "--kubeconfig", kubeconfig)
    tour.because(
        "without these victims the training gang does not fit; this is what the scheduler would do now, "
        "and nothing has been created yet."
    )


async def submit_the_gang(tour: Tour, stage: Stage) -> None:
    await tour.scene(
        "The gang is submitted, and other pods do not wait for it",
        f"Victims take {TERMINATE_SECONDS:.0f} s to stop. The gang is already nominated to their nodes, and "
        "the "
        "scheduler goes on with other pods.",
    )
    path = await stage.apply("02-training.yaml")
    tour.command(f"kubectl apply -f {path}")
    victims = await tour.until("every victim is terminating", lambda: _victims(stage))
    tour.say(f"told to stop: {', '.join(victims)}")
    small = await stage.apply("03-small-pods.yaml")
    tour.command(f"kubectl apply -f {small}")
    async with tour.timed("five small pods run"):
        pods = await tour.until("the small pods run", lambda: stage.running(*SMALL))
    still = [name for name, pod in pods.items() if pod.metadata.deletion_timestamp]
    tour.say(f"still leaving at that moment: {', '.join(sorted(still)) or 'nobody any more'}")
    tour.because(
        "preemption is asynchronous: deciding takes milliseconds, and only the gang itself waits for victims."
    )
    pods = await tour.until("the gang runs", lambda: stage.running(*GANG))
    tour.say(
        f"{', '.join(GANG)} run; stayed: {', '.join(name for name in TENANTS if name in pods)}; "
        f"gone: {', '.join(name for name in TENANTS if name not in pods)}"
    )
    tour.because(
        "etl is disrupted as a whole or not at all; the notebooks lose only one worker; "
        "the web service was reprieved."
    )


async def explain_a_victim(tour: Tour, stage: Stage, controller: str) -> None:
    kubeconfig = str(stage.server.kubeconfig)
    await tour.reprieve(
        "explain", "pod/default/etl-0", "--controller", controller, "--kubeconfig", kubeconfig
    )
    tour.because(
        "every decision leaves a record: who lost a pod can find out who took its place, when, and at what "
        "cost."
    )


async def _victims(stage: Stage) -> list[str]:
    """Once all are told to stop: the scheduler marks every victim before it deletes the first."""
    pods = (await stage.pods()).values()
    marked = [pod for pod in pods if find_condition(pod.status.conditions, well_known.DISRUPTION_TARGET)]
    return sorted(pod.name for pod in marked) if all(p.metadata.deletion_timestamp for p in marked) else []


async def choose_flavors(tour: Tour, stage: Stage) -> None:
    await tour.scene(
        "Preempt on stable nodes, or spare everybody and take spot?",
        "Two queues own 8 stable and 8 spot CPUs each, and a nightly job fills the stable ones. They differ "
        "in\n"
        "one word: whenCanPreempt is MayStopSearch in one (preempt before trying the next flavor) and\n"
        "TryNextFlavor in the other.",
    )
    tour.command(f"kubectl apply -f {await stage.apply('04-queues.yaml')}")
    tour.say("insists-on-stable takes the jobs -a, prefers-to-spare the jobs -b")
    tour.command(f"kubectl apply -f {await stage.apply('05-nightly.yaml')}")
    nightly = ("nightly-a", "nightly-b")
    tour.say(_where(await tour.until("both nightly jobs are admitted", lambda: _admitted(stage, *nightly))))
    tour.because("stable comes first in both queues, and had free quota.")
    tour.command(f"kubectl apply -f {await stage.apply('06-release.yaml')}")
    # The preempted job is part of the picture: its queue has free spot quota, so it comes back.
    jobs = ("release-a", "release-b", *nightly)
    tour.say(_where(await tour.until("all four jobs are admitted", lambda: _admitted(stage, *jobs))))
    tour.because(
        "the same job, the same quota: one queue preempts to get stable nodes, the other settles for spot "
        "nodes."
    )


async def _workloads(stage: Stage) -> dict[str, kueue.Workload]:
    """By the name of the job that owns them."""
    items = (await stage.client.listing(KUEUE_WORKLOADS, "default")).items
    return {owner.name: w for w in items for owner in w.metadata.owner_references if owner.kind == "Job"}


async def _admitted(stage: Stage, *jobs: str) -> dict[str, kueue.Workload]:
    """The workloads of these jobs, once all are admitted to stay; nothing before. A workload that is being
    evicted keeps its admission until its pods are gone.
    """
    found = await _workloads(stage)
    staying = {
        job: found[job]
        for job in jobs
        if job in found and found[job].status.admission and not is_true(found[job], well_known.EVICTED)
    }
    return staying if len(staying) == len(jobs) else {}


def _where(admitted: dict[str, kueue.Workload]) -> str:
    return "\n".join(f"{job:<10} {_flavor(workload)}" for job, workload in admitted.items())


def _flavor(workload: kueue.Workload) -> str:
    was_preempted = find_condition(workload.status.conditions, well_known.PREEMPTED) is not None
    sets = workload.status.admission.pod_set_assignments if workload.status.admission else ()
    flavors = ", ".join(f for a in sets for f in a.flavors.values())
    return f"was preempted and came back on {flavors}" if was_preempted else f"runs on {flavors}"


async def preempt_in_one_cluster(tour: Tour, stack: AsyncExitStack) -> None:
    """The clusters stay up as long as the stack does."""
    await tour.scene(
        "Three clusters, one preemption",
        "A manager cluster sends jobs to three workers. All are full of nightly work. Without gates each of "
        "them\n"
        "would preempt for the same job, and two of the three preemptions would be for nothing.",
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
        "every copy of the job has a closed preemption gate; the manager opens one at a time, "
        "the oldest signal first."
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
    return sum(find_condition(w.status.conditions, well_known.PREEMPTED) is not None for w in items)
