"""Drawn days, cut at a moment: what `when` says about a job that waits, and when it really starts."""

from random import Random
from typing import Any, NamedTuple

from reprieve.forecast import Forecast, when
from reprieve.simulate import Job, Scene, Settings, Simulation, policy, ticks
from tests.forecast.cuts import NAMESPACE, as_documents, now
from tests.simulate.runs import gpu_nodes

EARLIER = 30
"""Runs that have ended before, of the same distribution."""
PRIORITIES = (0, 0, 0, 100)


class Outcome(NamedTuple):
    said: Forecast
    truth: float
    """Seconds until it started."""

    @property
    def holds(self) -> bool:
        start = self.said.start
        assert start is not None
        assert start.low is not None
        return start.low <= self.truth <= (float("inf") if start.high is None else start.high)


def drawn_jobs(random: Random, number: int, gpus: tuple[int, ...] = (1, 2, 4, 8)) -> list[Job]:
    submits = sorted(random.uniform(0, 3600) for _ in range(number))
    return [
        Job(
            name=f"job-{index}",
            submit=ticks(submit),
            duration=length(random),
            gpu=1000 * random.choice(gpus),
            priority=random.choice(PRIORITIES),
        )
        for index, submit in enumerate(submits)
    ]


def length(random: Random) -> int:
    """Heavy tails, as run times have them: a median of an hour, one of ten above three and a half."""
    return ticks(1 + random.lognormvariate(8.2, 1.0))


def cut(random: Random, nodes: int, number: int) -> tuple[Simulation, int] | None:
    """A run after its last arrival, and a job that waits; None if nobody does."""
    jobs = drawn_jobs(random, number)
    run = Simulation(Scene(gpu_nodes(nodes), jobs), jobs, Settings(policy=policy("kep-5710"), checkpoint=0))
    while run._arrivals and run.step():
        pass
    for _ in range(random.randrange(number // 4)):
        run.step()
    waiting = [
        index
        for index, life in enumerate(run.lives.all)
        if life.finish < 0 and index not in {*run.lives.running, *run.too_large}
    ]
    return (run, random.choice(waiting)) if waiting else None


def ask(seed: int, nodes: int = 2, number: int = 24, **more: Any) -> Outcome | None:
    random = Random(f"drawn {seed}")
    found = cut(random, nodes, number)
    if found is None:
        return None
    run, index = found
    history = [Job(name=f"h{n}", submit=0, duration=length(random)) for n in range(EARLIER)]
    documents, moment, begun = as_documents(run, announced=False), now(run), run.now
    said = when(documents, f"Job/{NAMESPACE}/job-{index}", now=moment, history=history, seed=seed, **more)
    before = sum(each.job == index for each in run.lives.stretches)
    starts = [each.start for each in run.run().stretches if each.job == index]
    return Outcome(said, (starts[before] - begun) / 1e6)
