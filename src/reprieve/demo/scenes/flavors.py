"""Flavor order: the same job with both fungibility settings preempts on stable nodes or goes to spot."""

from reprieve.demo.stage import Stage
from reprieve.demo.tour import Tour
from reprieve.kube import KUEUE_WORKLOADS
from reprieve.objects import find_condition, kueue


async def choose(tour: Tour, stage: Stage) -> None:
    await tour.scene(
        "Preempt on stable nodes, or spare everybody and take spot?",
        "Two queues own 8 stable and 8 spot CPUs each, and a nightly job fills the stable ones. They differ in one word:\n"
        "whenCanPreempt is MayStopSearch in one (preempt before trying the next flavor) and TryNextFlavor in the other.",
    )
    tour.command(f"kubectl apply -f {await stage.apply('04-queues.yaml')}")
    tour.say("insists-on-stable takes the jobs -a, prefers-to-spare the jobs -b")
    tour.command(f"kubectl apply -f {await stage.apply('05-nightly.yaml')}")
    await tour.until("both nightly jobs are admitted", lambda: _admitted(stage, "nightly-a", "nightly-b"))
    tour.say(await _where(stage, "nightly-a", "nightly-b"))
    tour.because("stable comes first in both queues, and had room.")
    tour.command(f"kubectl apply -f {await stage.apply('06-release.yaml')}")
    await tour.until("both releases are admitted", lambda: _admitted(stage, "release-a", "release-b"))
    tour.say(await _where(stage, "release-a", "release-b", "nightly-a", "nightly-b"))
    tour.because(
        "the same job, the same quota: one queue pays with a victim for stable nodes, the other pays with spot nodes."
    )


async def _workloads(stage: Stage) -> dict[str, kueue.Workload]:
    """By the name of the job that owns them."""
    items = (await stage.client.listing(KUEUE_WORKLOADS, "default")).items
    return {owner.name: w for w in items for owner in w.metadata.owner_references if owner.kind == "Job"}


def _flavor(workload: kueue.Workload) -> str:
    was_preempted = find_condition(workload.status.conditions, "Preempted") is not None
    admission = workload.status.admission
    if admission is None:
        return "waits again: it was preempted" if was_preempted else "waits"
    flavors = ", ".join(f for a in admission.pod_set_assignments for f in a.flavors.values())
    return f"was preempted and came back on {flavors}" if was_preempted else f"runs on {flavors}"


async def _admitted(stage: Stage, *jobs: str) -> bool:
    found = await _workloads(stage)
    return all(job in found and found[job].status.admission is not None for job in jobs)


async def _where(stage: Stage, *jobs: str) -> str:
    found = await _workloads(stage)
    return "\n".join(f"{job:<10} {_flavor(found[job])}" for job in jobs)
