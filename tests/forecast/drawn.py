"""Drawn days, cut at a moment: what `when` says about a job that waits, and when it really starts.

What is known at the cut is what a live cluster knows: pods as they are, some runs of earlier days, and what
the controllers noted of this day (`records`): runs that ended, and how long those had run that were evicted.
"""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from reprieve.forecast import FEWEST_FUTURES, Forecast, when
from reprieve.forecast.chances import Chances
from reprieve.forecast.run_times import History, Likeness, run_time
from reprieve.records import Run
from reprieve.simulate import Job, Scene, Settings, Simulation, instant, policy, ticks
from tests.forecast.cuts import NAMESPACE, as_documents, now
from tests.simulate.runs import gpu_nodes

EARLIER = 30
"""Runs that have ended before, of the same distribution."""
PRIORITIES = (0, 0, 0, 100)
LIKE = Likeness("Job", NAMESPACE, "job")
Lengths = Callable[[Random], float]

LENGTHS: dict[str, Lengths] = {
    # A median of an hour, one of ten above three and a half.
    "lognormal": lambda random: random.lognormvariate(8.2, 1.0),
    "exponential": lambda random: random.expovariate(1 / 5000),
    # The mean is finite, the variance is not.
    "pareto": lambda random: 1200 * random.paretovariate(1.5),
    # Half of them are tests that end at once.
    "two humps": lambda random: random.lognormvariate(*random.choice(((4.5, 0.5), (9.0, 0.4)))),
}


class Outcome(NamedTuple):
    said: Forecast
    truth: float
    """Seconds until it started."""

    @property
    def side(self) -> int:
        """-1: it was earlier than the interval says, 1: later, 0: neither."""
        start = self.said.start
        if start is None or start.low is None:
            return -1  # it has started, and nothing was said, or not within the horizon
        return -1 if self.truth < start.low else start.high is not None and self.truth > start.high


def length(random: Random, lengths: str = "lognormal") -> int:
    """Run times with tails, as they have them."""
    return ticks(1 + LENGTHS[lengths](random))


def drawn_jobs(random: Random, number: int, lengths: str) -> list[Job]:
    submits = sorted(random.uniform(0, 3600) for _ in range(number))
    return [
        Job(
            name=f"job-{index}",
            submit=ticks(submit),
            duration=length(random, lengths),
            gpu=1000 * random.choice((1, 2, 4, 8)),
            priority=random.choice(PRIORITIES),
        )
        for index, submit in enumerate(submits)
    ]


def cut(random: Random, nodes: int, number: int, lengths: str) -> tuple[Simulation, int] | None:
    """A run after its last arrival, and a job that waits; None if nobody does."""
    jobs = drawn_jobs(random, number, lengths)
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


def noted(run: Simulation) -> list[Run]:
    """What controllers would have noted by now."""
    return [
        Run(
            ran=f"Job/{NAMESPACE}/{run.jobs[each.job].name}",
            uid=run.jobs[each.job].name,
            time=instant(each.end),
            seconds=(each.end - each.start) / 1e6,
            end="ended" if each.why == "ended" else "stopped",
        )
        for each in run.lives.stretches
    ]


def ask(
    seed: int,
    nodes: int = 1,
    number: int = 10,
    lengths: str = "lognormal",
    earlier: int = EARLIER,
    **more: Any,
) -> Outcome | None:
    random = Random(f"drawn {seed}")
    found = cut(random, nodes, number, lengths)
    if found is None:
        return None
    run, index = found
    history = [
        Job(name=f"job-{1000 + n}", submit=0, duration=length(random, lengths)) for n in range(earlier)
    ]
    documents, moment, begun, runs = as_documents(run, announced=False), now(run), run.now, noted(run)
    for each in history:
        runs.append(_earlier(each))
    said = when(documents, f"Job/{NAMESPACE}/job-{index}", now=moment, runs=runs, seed=seed, **more)
    before = sum(each.job == index for each in run.lives.stretches)
    starts = [each.start for each in run.run().stretches if each.job == index]
    return Outcome(said, (starts[before] - begun) / 1e6)


def _earlier(job: Job) -> Run:
    return Run(
        ran=f"Job/{NAMESPACE}/{job.name}",
        uid=job.name,
        time=instant(0),
        seconds=job.duration / 1e6,
        end="ended",
    )


def missed_by(seed: int, lengths: str, earlier: int, waiting: int) -> int | None:
    """What is asked about starts when one that runs, and so many after it, have ended one after another.

    -1: earlier than the interval says, 1: later, 0: neither; None: it cannot be said. From the lowest to the
    highest of the fewest futures are 80 %.
    """
    random = Random(f"few {seed}")
    history = History()
    for _ in range(earlier):
        history.add(LIKE, length(random, lengths))
    elapsed = round(length(random, lengths) * random.random())
    first = next(each for each in iter(lambda: length(random, lengths), 0) if each > elapsed)
    history.add_unfinished(LIKE, elapsed)
    known = [run_time(LIKE, history, elapsed=elapsed), *[run_time(LIKE, history)] * waiting]
    if not all(each.known == "history" for each in known):
        return None
    chances = Chances(known, seed)
    said = [sum(each or 0 for each in chances.drawn(future)) for future in range(FEWEST_FUTURES)]
    truth = first + sum(length(random, lengths) for _ in range(waiting))
    return -1 if truth < min(said) else int(truth > max(said))
