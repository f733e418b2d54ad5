"""A training gang arrives in a full cluster: planned first, then submitted; and the queue goes on meanwhile."""

from reprieve.demo.stage import TERMINATE_SECONDS, Stage
from reprieve.demo.tour import MANIFESTS, Tour

TENANTS = ("etl-0", "etl-1", "notebook-0", "notebook-1", "web-0", "web-1")
GANG = ("train-0", "train-1", "train-2", "train-3")
SMALL = tuple(f"small-{i}" for i in range(5))


async def plan_it(tour: Tour, stage: Stage) -> None:
    await tour.scene(
        "Who would make way?",
        "Four GPU nodes are full: an ETL gang that is only useful whole, notebooks that can lose a worker, and a web\n"
        "service with a disruption budget. Somebody wants to start a training gang of four, all at once or not at all.",
    )
    path = await stage.apply("01-tenants.yaml")
    tour.command(f"kubectl apply -f {path}")
    await tour.until("the tenants run", lambda: stage.running(*TENANTS))
    tour.say(f"{len(TENANTS)} pods run on the four nodes, which are full.")
    training = str(MANIFESTS / "02-training.yaml")
    kubeconfig = str(stage.server.kubeconfig)
    await tour.reprieve("plan", "-f", training, "--for", "PodGroup/default/train", "--kubeconfig", kubeconfig)
    tour.because(
        "give the ETL gang or the notebook back, and the training gang no longer fits; this is what the scheduler would do now, "
        "and nothing was created yet."
    )


async def submit_it(tour: Tour, stage: Stage) -> None:
    await tour.scene(
        "The gang is submitted, and nobody else waits for it",
        f"Victims take {TERMINATE_SECONDS:.0f} s to stop. The scheduler has already promised their places to the gang, and goes on scheduling.",
    )
    path = await stage.apply("02-training.yaml")
    tour.command(f"kubectl apply -f {path}")
    await tour.until("victims are asked to go", lambda: _leaving(stage))
    victims = sorted(name for name, pod in (await stage.pods()).items() if pod.metadata.deletion_timestamp)
    tour.say(f"asked to go: {', '.join(victims)}")
    small = await stage.apply("03-small-pods.yaml")
    tour.command(f"kubectl apply -f {small}")
    async with tour.timed("five small pods run"):
        await tour.until("the small pods run", lambda: stage.running(*SMALL))
    still = [name for name, pod in (await stage.pods()).items() if pod.metadata.deletion_timestamp]
    tour.say(f"still leaving at that moment: {', '.join(sorted(still)) or 'nobody any more'}")
    tour.because(
        "preemption is asynchronous: deciding takes milliseconds, waiting for victims blocks only the gang itself."
    )
    await tour.until("the gang runs", lambda: stage.running(*GANG))
    pods = await stage.pods()
    tour.say(
        f"{', '.join(GANG)} run; stayed: {', '.join(name for name in TENANTS if name in pods)}; "
        f"gone: {', '.join(name for name in TENANTS if name not in pods)}"
    )
    tour.because(
        "etl is disrupted as a whole or not at all; the notebooks lose one worker only; the web service was reprieved in place."
    )


async def explain_it(tour: Tour, stage: Stage, controller: str) -> None:
    kubeconfig = str(stage.server.kubeconfig)
    await tour.reprieve(
        "explain", "pod/default/etl-0", "--controller", controller, "--kubeconfig", kubeconfig
    )
    tour.because(
        "every decision leaves a record, so that whoever lost a pod can ask who took its place, when, and at what cost."
    )


async def _leaving(stage: Stage) -> bool:
    return any(pod.metadata.deletion_timestamp for pod in (await stage.pods()).values())
