"""Benchmark scenarios: a window of a public trace, and a cluster of three sizes. See docs/simulate.md.

Everywhere: jobs that ask for no GPU, and rows without a run time, are left out; a job saves its work every
half hour; where the trace has no classes they are drawn. Load is what would run on average in the window if
nobody ever waited, over the size of the cluster.
"""

import msgspec

from reprieve.objects import ReprieveError, nearest
from reprieve.simulate.jobs import TICKS, Job, Trace

DAY = 86_400


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    trace: str
    """The file it is about."""
    begin: float = 0
    """Seconds from the beginning of the trace."""
    length: float
    nodes: tuple[str, ...]
    """As for --nodes."""
    gpus: int

    @property
    def window(self) -> int:
        return round(self.length * TICKS)

    def cut(self, trace: Trace) -> Trace:
        """The jobs of the window, the clock at 0 where it begins."""
        begin, end = round(self.begin * TICKS), round((self.begin + self.length) * TICKS)
        jobs = [
            msgspec.structs.replace(job, submit=job.submit - begin)
            for job in trace.jobs
            if begin <= job.submit < end and job.gpu
        ]
        return msgspec.structs.replace(trace, jobs=tuple(jobs))


def _eights(count: int) -> tuple[str, ...]:
    return (f"gpu={count}:nvidia.com/gpu=8",)


def _of(
    trace: str, begin: float, length: float, clusters: dict[int, tuple[tuple[str, ...], int]]
) -> list[Scenario]:
    name = trace.split("-")[0]
    return [
        Scenario(
            name=f"{name}-{load}", trace=f"{trace}.csv.gz", begin=begin, length=length, nodes=nodes, gpus=gpus
        )
        for load, (nodes, gpus) in clusters.items()
    ]


_SMALL = "small={}:nvidia.com/gpu=2"
SCENARIOS = {
    each.name: each
    for each in (
        *_of(
            "philly",
            3_590_959,
            14 * DAY,
            {60: (_eights(106), 848), 90: (_eights(70), 560), 110: (_eights(58), 464)},
        ),
        *_of(
            "chronus-mix1",
            0,
            14 * DAY,
            {60: (_eights(218), 1744), 90: (_eights(145), 1160), 110: (_eights(120), 960)},
        ),
        *_of(
            "openb",
            115 * DAY,
            34.33 * DAY,
            {
                60: (_eights(4), 32),
                90: ((*_eights(2), _SMALL.format(3)), 22),
                110: ((*_eights(2), _SMALL.format(1)), 18),
            },
        ),
    )
}


def scenario(name: str) -> Scenario:
    if name not in SCENARIOS:
        hint = nearest(name, SCENARIOS) or f"; known are {', '.join(SCENARIOS)}"
        raise ReprieveError(f"--scenario {name}: unknown{hint}")
    return SCENARIOS[name]


def demand(jobs: tuple[Job, ...], window: int) -> float:
    """GPUs wanted on average in the window if nobody ever waited."""
    inside = sum((min(job.submit + job.duration, window) - job.submit) * job.gpus for job in jobs)
    return inside / window / 1000
