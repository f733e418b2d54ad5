"""Every metric, worked out again from who ran when: plain sums over jobs and stretches, no arrays.

The formulas are those of docs/simulate.md, written a second time.
"""

import math
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reprieve.simulate import Metrics, Result, measure, ticks
from reprieve.simulate.lives import CUT, DRAINED, ENDED, NODE, PREEMPTED, QUOTA
from tests.scale import examples
from tests.simulate.runs import gpu_nodes, queue, queues, simulation, workloads
from tests.simulate.test_properties import HABITS, NODES, POLICY, RECLAIM, trouble

SECOND = 1e6
GPUS = 8
COUNTED = {"decisions", "cycles", "admissions", "quota_preemptions", "budget_violations"}
"""Counted while it runs, by the scheduler and the quota cycle."""


def percentile(values: list[float], share: float) -> float:
    values = sorted(values)
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def spread(values: list[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {
        "mean": sum(values) / len(values),
        "p50": percentile(values, 0.5),
        "p99": percentile(values, 0.99),
    }


class Naive:
    """One job: what became of it, in seconds."""

    def __init__(self, result: Result, index: int, habits: dict[str, Any]) -> None:
        self.job = job = result.jobs[index]
        runs = sorted(each for each in result.stretches if each.job == index)
        self.size = job.gpus / 1000
        self.submit, self.duration = job.submit / SECOND, job.duration / SECOND
        self.runs = [(each.start / SECOND, each.end / SECOND) for each in runs]
        self.first = self.runs[0][0] if runs else None
        self.end = self.runs[-1][1] if runs and runs[-1].why == ENDED else None
        self.preempted = sum(each.why in (PREEMPTED, QUOTA) for each in runs)
        self.failures = sum(each.why in (NODE, DRAINED) for each in runs)
        self.held = sum(end - start for start, end in self.runs)
        kept = [self._kept(number, each, habits) for number, each in enumerate(runs)]
        self.useful = self.duration if self.end is not None else sum(kept)
        self.lost = self.held - sum(kept)

    @staticmethod
    def _kept(number: int, run: Any, habits: dict[str, Any]) -> float:
        """What a stretch of running was good for."""
        restoring = habits["restore"] if number else 0
        stopped = run.end / SECOND - (habits["grace"] if run.why in (PREEMPTED, QUOTA, DRAINED) else 0)
        worked = max(0.0, stopped - run.start / SECOND - restoring)
        if run.why in (ENDED, CUT):
            return worked
        return worked // habits["checkpoint"] * habits["checkpoint"] if habits["checkpoint"] else 0.0

    def within(self, begin: float, end: float) -> float:
        return sum(max(0.0, min(last, end) - max(first, begin)) for first, last in self.runs)

    @property
    def jct(self) -> float:
        assert self.end is not None
        return self.end - self.submit


def size_class(size: float) -> str:
    return next(
        (name for most, name in ((1, "1"), (4, "2-4"), (8, "5-8"), (16, "9-16")) if size <= most), "more"
    )


def group(jobs: list[Naive]) -> dict[str, Any]:
    ended = [each for each in jobs if each.end is not None]
    useful, lost = (sum(each.size * amount(each) for each in jobs) / 3600 for amount in (_useful, _lost))
    return {
        "jobs": len(jobs),
        "ended": len(ended),
        "jct": spread([each.jct for each in ended]),
        "delay": spread([each.first - each.submit for each in ended if each.first is not None]),
        "preemptionsPerJob": sum(each.preempted for each in jobs) / len(jobs),
        "lostHours": lost,
        "goodput": useful / (useful + lost) if useful + lost else None,
    }


def _useful(job: Naive) -> float:
    return job.useful


def _lost(job: Naive) -> float:
    return job.lost


def groups(jobs: list[Naive], label: Any) -> dict[str, Any]:
    return {name: group([each for each in jobs if label(each) == name]) for name in set(map(label, jobs))}


def jain(jobs: list[Naive]) -> float | None:
    ended = [each for each in jobs if each.end is not None]
    speeds = []
    for name in {each.job.queue for each in ended}:
        mine = [each.duration / each.jct for each in ended if each.job.queue == name]
        if len(mine) >= 10:
            speeds.append(sum(mine) / len(mine))
    return sum(speeds) ** 2 / (len(speeds) * sum(x * x for x in speeds)) if speeds else None


def fairness(result: Result, jobs: list[Naive], capacity: float) -> dict[str, float] | None:
    left_out = {*result.too_large, *result.unqueued}
    there = [
        (each.submit, result.end / SECOND if each.end is None else each.end)
        for index, each in enumerate(jobs)
        if index not in left_out
    ]
    ratios = []
    for each in jobs:
        if each.end is None:
            continue
        crowd = (
            sum(max(0.0, min(last, each.end) - max(first, each.submit)) for first, last in there) / each.jct
        )
        ratios.append(each.jct / (each.duration * max(1.0, each.size * crowd / capacity)))
    if not ratios:
        return None
    above = sum(ratio > 1 + 1e-9 for ratio in ratios) / len(ratios)
    return {
        "p50": percentile(ratios, 0.5),
        "p99": percentile(ratios, 0.99),
        "max": max(ratios),
        "aboveOne": above,
    }


def worked_out(result: Result, habits: dict[str, Any]) -> dict[str, Any]:
    jobs = [Naive(result, index, habits) for index in range(len(result.jobs))]
    ended = [each for each in jobs if each.end is not None]
    whole, capacity, cut = group(jobs), result.gpus / 1000, result.end / SECOND
    first, last = min(each.submit for each in jobs), max(each.submit for each in jobs)
    over = max((each.end for each in ended if each.end is not None), default=first)
    possible = len(jobs) - len({*result.too_large, *result.unqueued})
    window_end = last if len(ended) == possible else min(last, cut)

    def used(begin: float, end: float) -> float | None:
        if end <= begin or not result.stretches:
            return None
        return sum(each.size * each.within(begin, end) for each in jobs) / (capacity * (end - begin))

    strict = [each.jct > each.job.deadline / SECOND for each in ended if each.job.deadline is not None]
    return whole | {
        "never": len(jobs) - len(ended),
        "makespanHours": (over - first) / 3600,
        "utilisationWindow": used(first, window_end),
        "utilisation": used(first, over),
        "usefulHours": sum(each.size * each.useful for each in jobs) / 3600,
        "heldHours": sum(each.size * each.held for each in jobs) / 3600,
        "preemptions": sum(each.preempted for each in jobs),
        "failures": sum(each.failures for each in jobs),
        "jain": jain(jobs),
        "fairness": fairness(result, jobs, capacity),
        "deadlinesMissed": sum(strict) / len(strict) if strict else None,
        "lateGangs": sum(
            each.job.pods > 1 and (cut if each.first is None else each.first) - each.submit > 1800
            for each in jobs
        ),
        "classes": groups(jobs, lambda each: each.job.klass),
        "queues": groups(jobs, lambda each: each.job.queue),
        "sizes": groups(jobs, lambda each: size_class(each.size)),
    }


def assert_same(found: Any, expected: Any, where: str = "") -> None:
    if isinstance(expected, dict):
        assert found is not None, where
        assert expected.keys() <= found.keys(), where
        for key, each in expected.items():
            assert_same(found[key], each, f"{where}.{key}")
    elif isinstance(expected, float) and found is not None:
        assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9), (where, found, expected)
    else:
        assert found == expected, where


def named(fields: dict[str, Any]) -> set[str]:
    return {each.encode_name for each in msgspec.structs.fields(Metrics)} - fields.keys()


@examples(60)
@given(
    workloads(25),
    NODES,
    POLICY,
    HABITS,
    trouble(),
    st.booleans(),
    st.sampled_from((None, 60, 700)),
    st.data(),
)
def test_every_metric_is_what_the_stretches_say(jobs, nodes, name, habits, events, quota, until, data):
    longer = data.draw(st.sampled_from((1, 20)), "how much longer they run")
    jobs = [
        msgspec.structs.replace(
            job, queue=f"q{at % 2}", duration=longer * job.duration, deadline=ticks(200) if at % 3 else None
        )
        for at, job in enumerate(jobs)
    ]
    objects = gpu_nodes(nodes, GPUS)
    if quota:
        objects += queues(*(queue(f"q{at}", 8, cohortName="c", preemption=RECLAIM) for at in range(2)))
    decided: list[str] = []
    result = simulation(
        jobs,
        objects,
        name,
        node_events=events,
        listener=lambda each: decided.append(each.unit),
        **habits,
        **({} if until is None else {"until": until}),
    ).run()
    expected = worked_out(result, habits)
    assert named(expected) == {"policy", "unit", "tooLarge", "notes", *map(_camel, COUNTED)}
    found = measure(result).to_dict()
    assert_same(found, expected)
    assert found["decisions"] == sum(not unit.startswith("Workload/") for unit in decided)
    assert found["tooLarge"] == len(result.too_large)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
