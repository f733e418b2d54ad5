"""Studies to report on: a small one that was simulated, and a large one that was made up."""

from functools import cache
from typing import Any

from reprieve.objects import NodeTemplate, decode_all
from reprieve.report import Study
from reprieve.simulate import (
    Fate,
    Job,
    Metrics,
    Result,
    Settings,
    Stretch,
    Task,
    Trace,
    measure,
    policy,
    simulate,
    ticks,
)
from tests.simulate.runs import gpu_nodes, one

EVIL = "<script>alert(1)<b>&'"
NAMES = ("kubernetes", "minimal-cost")


def study_of(
    jobs: list[Job], objects: list[Any], names: tuple[str, ...] = NAMES, record: bool = True, **settings: Any
) -> Study:
    """Settings in seconds."""
    trace = Trace(jobs=tuple(jobs), notes=("a note about the file",))
    times: dict[str, Any] = {key: ticks(value) for key, value in settings.items()}
    tasks = [
        Task(
            objects=tuple(objects),
            jobs=trace.jobs,
            settings=Settings(policy=policy(name), **times),
            record=record,
        )
        for name in names
    ]
    results = [simulate(task) for task in tasks]
    return Study("jobs.csv", trace, tasks, results, _measured(results))


@cache
def small() -> Study:
    """Two nodes, a hundred jobs of three classes, names that mean mischief, evictions and long waits."""
    jobs = [
        one(
            EVIL if number == 3 else f"job-{number}",
            submit=10 * number,
            duration=60 + 37 * (number % 9),
            gpus=(1, 2, 4, 8)[number % 4],
            klass=("low", "low", "normal", "high")[number * 7 % 4],
            queue=("research", "<b>product</b>")[number % 2],
            pods=2 if number % 10 == 7 else 1,
        )
        for number in range(100)
    ]
    return study_of(jobs, gpu_nodes(2), checkpoint=100)


@cache
def large(count: int = 100_000, nodes: int = 100) -> Study:
    """Jobs of one GPU, one after the other on every GPU; every fiftieth was evicted and came back."""
    jobs, fates, stretches = [], [], []
    places = nodes * 8
    for index in range(count):
        turn, place = divmod(index, places)
        start, klass = 100.0 * turn, ("low", "normal", "high")[index % 3]
        jobs.append(one(f"job-{index}", submit=max(0.0, start - index % 97), duration=90, klass=klass))
        evicted = index % 50 == 0
        where = (f"gpu-{place // 8}",)
        if evicted:
            by = (index + 1) % count
            stretches.append(
                Stretch(index, ticks(start), ticks(start + 30), "preempted", by, where, ticks(30))
            )
            start += 35
        end = start + 60 if evicted else start + 90
        stretches.append(Stretch(index, ticks(start), ticks(end), "ended", -1, where))
        lost, held = (30, 90) if evicted else (0, 90)
        first = ticks(100.0 * turn)
        fates.append(Fate(first, ticks(end), int(evicted), 0, ticks(lost), ticks(held), ticks(90), 0))
    trace = Trace(jobs=tuple(jobs))
    objects = tuple(decode_all(NodeTemplate.parse(f"gpu={nodes}:nvidia.com/gpu=8").nodes()))
    results = [_result(name, trace, fates, stretches, places) for name in NAMES]
    tasks = [Task(objects=objects, jobs=trace.jobs, settings=Settings(policy=policy(name))) for name in NAMES]
    return Study("large.csv", trace, tasks, results, _measured(results))


def _result(name: str, trace: Trace, fates: list[Fate], stretches: list[Stretch], gpus: int) -> Result:
    end = max(each.end for each in stretches)
    return Result(
        policy=name,
        jobs=trace.jobs,
        fates=tuple(fates),
        stretches=tuple(stretches),
        end=end,
        gpus=1000 * gpus,
        cores=0,
    )


def _measured(results: list[Result]) -> dict[str, Metrics]:
    return {each.policy: measure(each) for each in results}
