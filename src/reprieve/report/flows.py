"""Who made way for whom: evictions and the work they cost, from one group of jobs to another."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from reprieve.report.columns import EVICTED, Columns
from reprieve.simulate import Job

NODES = {"node": "a node failed", "drained": "a node was drained"}
"""What a stretch is over for when no job is behind it."""
REST = "others"


class Flow(NamedTuple):
    by: str
    victim: str
    evictions: int
    lost: float
    """GPU-hours or core-hours."""


def flows(columns: Columns, group: Callable[[Job], str]) -> list[Flow]:
    """The most expensive first."""
    jobs = columns.result.jobs
    count: Counter[tuple[str, str]] = Counter()
    lost: Counter[tuple[str, str]] = Counter()
    for stretch, hours in zip(columns.result.stretches, columns.stretch_lost.tolist(), strict=True):
        if stretch.why in EVICTED:
            by = group(jobs[stretch.by]) if stretch.by >= 0 else REST
        elif stretch.why in NODES:
            by = NODES[stretch.why]
        else:
            continue
        pair = by, group(jobs[stretch.job])
        count[pair] += 1
        lost[pair] += hours
    found = [Flow(*pair, number, lost[pair]) for pair, number in count.items()]
    return sorted(found, key=lambda each: (-each.lost, -each.evictions, each.by, each.victim))


def largest(jobs: Sequence[Job], most: int) -> Callable[[Job], str]:
    """Jobs by their queue; small queues are taken together."""
    sizes = Counter(job.queue for job in jobs)
    names = sorted(sizes, key=lambda name: (-sizes[name], name))
    shown = set(names if len(names) <= most else names[: most - 1])
    return lambda job: (job.queue or "no queue") if job.queue in shown else REST
