"""What the report draws is what the simulation measured."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprieve.report.columns import Columns
from reprieve.report.flows import flows, largest
from reprieve.report.gantt import HEIGHT, node_bars
from reprieve.report.lanes import Lanes
from reprieve.report.over_time import over_time
from reprieve.report.waiting import axis, longest, percentiles, started_within
from reprieve.simulate import Result, measure
from tests.report.studies import large, small
from tests.scale import scaled
from tests.simulate.runs import gpu_nodes, one, run, workloads


def columns(result: Result) -> Columns:
    return Columns(result, by_gpu=True)


@settings(max_examples=scaled(60), deadline=None)
@given(workloads(), st.sampled_from((0, 50, 5000)), st.sampled_from((0, 7)))
def test_the_parts_add_up_to_the_metrics(jobs, checkpoint, grace):
    result = run(jobs, gpu_nodes(2), checkpoint=checkpoint, grace=grace, restore=3)
    found, metrics = columns(result), measure(result)
    lost: dict[int, int] = {}
    for stretch in result.stretches:
        lost[stretch.job] = lost.get(stretch.job, 0) + stretch.lost
    assert [lost.get(index, 0) for index in range(len(jobs))] == [fate.lost for fate in result.fates]
    end = result.end / 1e6
    series = over_time(found, end)
    assert series.used.sum() * end / len(series.used) / 3600 == pytest.approx(metrics.held_hours)
    flowed = flows(found, lambda job: job.klass)
    assert sum(each.evictions for each in flowed) == metrics.preemptions
    held = sum((s.end - s.start) * found.size[s.job] for s in result.stretches)
    bars = node_bars(found, {"n0": 8000, "n1": 8000})
    drawn = sum(
        (result.stretches[s].end - result.stretches[s].start) * (high - low) * 8 / HEIGHT
        for each in bars
        for s, low, high in each
    )
    assert drawn == pytest.approx(held)


@settings(max_examples=scaled(60), deadline=None)
@given(workloads())
def test_no_two_bars_lie_on_each_other(jobs):
    result = run(jobs, gpu_nodes(2))
    for bars in node_bars(columns(result), {"n0": 8000, "n1": 8000}):
        for place, (one_, low, high) in enumerate(bars):
            assert 0 <= low < high <= HEIGHT
            for other, other_low, other_high in bars[:place]:
                a, b = result.stretches[one_], result.stretches[other]
                apart = a.end <= b.start or b.end <= a.start or high <= other_low or other_high <= low
                assert apart, (a, b)


@given(st.lists(st.integers(1, 9), max_size=12))
def test_lanes_give_each_what_it_needs_or_all_that_is_left(needs):
    lanes = Lanes(20)
    given_: list[list[tuple[int, int]]] = []
    for need in needs:
        free = 20 - sum(high - low for pieces in given_ for low, high in pieces)
        pieces = lanes.take(need)
        assert sum(high - low for low, high in pieces) == min(need, free)
        given_.append(pieces)
    taken = sorted(piece for pieces in given_ for piece in pieces)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(taken))
    for pieces in given_:
        lanes.put_back(pieces)
    assert lanes.take(20) == [(0, 20)]


def test_the_queue_counts_who_waits_and_nobody_who_cannot_run():
    jobs = [one("a", 0, 100, gpus=8), one("b", 20, 10, gpus=8), one("huge", 0, 10, gpus=9)]
    series = over_time(columns(run(jobs, gpu_nodes(1), "fifo-skip")), 110, buckets=11)
    assert series.waiting.tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0]
    assert series.used.tolist() == [8.0] * 11


def test_an_evicted_job_waits_again():
    jobs = [one("low", 0, 100, gpus=8), one("high", 20, 30, gpus=8, klass="high")]
    series = over_time(columns(run(jobs, gpu_nodes(1))), 150, buckets=15)
    assert series.waiting.tolist()[:5] == [0, 0, 1, 1, 1]
    assert series.waiting[5:].max() == 0


def test_who_never_started_keeps_the_curve_below_one():
    jobs = [one("a", 0, 50, gpus=8), one("b", 0, 50, gpus=8), one("huge", 0, 10, gpus=9)]
    found = columns(run(jobs, gpu_nodes(1), "fifo", until=40))
    assert started_within(found, "low", np.array([1.0, 1e9])).tolist() == [0.5, 0.5]
    assert percentiles(found, "low", (0.5, 0.99)) == [0.0, None]
    assert longest([found]) == 40
    assert axis(0)[[0, -1]].tolist() == [1.0, 10.0]


def test_nodes_that_fail_are_a_source_of_their_own():
    result = run([one("a", 0, 100, gpus=8)], gpu_nodes(1), node_events=_failure())
    (flow,) = flows(columns(result), lambda job: job.klass)
    assert (flow.by, flow.victim, flow.evictions) == ("a node failed", "low", 1)


def _failure():
    from reprieve.simulate import NodeEvent, ticks

    return [NodeEvent(ticks(50), "fail", "n0"), NodeEvent(ticks(60), "return", "n0")]


def test_small_queues_are_taken_together():
    jobs = [one(f"{queue}-{n}", n, queue=queue) for n, queue in enumerate("aaabbc")]
    group = largest(jobs, 2)
    assert [group(job) for job in jobs] == ["a", "a", "a", "others", "others", "others"]
    assert large(count=100, nodes=1).classes == ["high", "normal", "low"]
    assert [run.name for run in small().runs] == ["kubernetes", "minimal-cost"]


def test_who_comes_after_the_end_has_not_waited_in_vain():
    """A curve of a run that was cut early stayed near zero: most jobs of the trace were still to come."""
    jobs = [one("a", 0, 10), one("b", 0, 10, gpus=8), *(one(f"later-{n}", 90 + n, 10) for n in range(9))]
    found = columns(run(jobs, gpu_nodes(1), until=50))
    assert found.later.tolist() == [False, False] + [True] * 9
    assert started_within(found, "low", np.array([1.0, 1e9])).tolist() == [0.5, 1.0]
