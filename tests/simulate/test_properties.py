"""What every simulation keeps, whatever the jobs, the nodes and the policy."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.simulate import NodeEvent, Task, compare, measure, resume, snapshot, ticks
from tests.scale import examples
from tests.simulate.runs import (
    POLICIES,
    gpu_nodes,
    overcommitted,
    queue,
    queues,
    run,
    simulation,
    workloads,
)

POLICY = st.sampled_from(POLICIES)
HABITS = st.fixed_dictionaries(
    {
        "checkpoint": st.sampled_from((0, 20, 60)),
        "restore": st.sampled_from((0, 15)),
        "grace": st.sampled_from((0, 5, 30)),
        "announce": st.booleans(),
    }
)
NODES = st.integers(1, 3)
RECLAIM = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}


@st.composite
def trouble(draw: st.DrawFn) -> list[NodeEvent]:
    """One node may fail or drain, and comes back."""
    if draw(st.booleans()):
        return []
    time = draw(st.integers(1, 300))
    what: Any = draw(st.sampled_from(("fail", "drain")))
    return [
        NodeEvent(ticks(time), what, "n0"),
        NodeEvent(ticks(time + draw(st.integers(1, 200))), "return", "n0"),
    ]


@examples(60)
@given(workloads(), NODES, POLICY, HABITS, trouble())
def test_what_was_held_is_what_was_useful_and_what_was_lost(jobs, nodes, name, habits, events):
    result = run(jobs, gpu_nodes(nodes), name, node_events=events, **habits)
    for job, fate in zip(result.jobs, result.fates, strict=True):
        assert fate.held == fate.useful + fate.lost
        assert fate.useful in (0, job.duration), "it ended, or could never run"
    found = measure(result)
    assert found.held_hours == pytest.approx(found.useful_hours + found.lost_hours, rel=1e-12, abs=1e-12)


@examples(60)
@given(workloads(), NODES, POLICY, HABITS, trouble())
def test_what_runs_fits_and_every_job_that_can_ends(jobs, nodes, name, habits, events):
    result = run(jobs, gpu_nodes(nodes), name, node_events=events, **habits)
    assert overcommitted(result, 8000) == []
    ended = {index for index, fate in enumerate(result.fates) if fate.finish >= 0}
    assert ended == set(range(len(jobs))) - set(result.too_large)
    for stretch in result.stretches:
        assert len(stretch.nodes) == jobs[stretch.job].pods


@examples(40)
@given(workloads(), NODES, POLICY, HABITS, st.sampled_from((8, 16, 24)))
def test_with_quota_the_same_is_kept_and_quota_is_never_exceeded(jobs, nodes, name, habits, quota):
    halves = [msgspec.structs.replace(job, queue=f"q{at % 2}") for at, job in enumerate(jobs)]
    shared = queues(*(queue(f"q{at}", quota // 2, cohortName="c", preemption=RECLAIM) for at in range(2)))
    result = run(halves, [*gpu_nodes(nodes), *shared], name, **habits)
    assert overcommitted(result, 8000) == []
    for job, fate in zip(result.jobs, result.fates, strict=True):
        assert fate.held == fate.useful + fate.lost
        assert fate.useful in (0, job.duration)
    possible = {at for at, job in enumerate(halves) if job.gpus <= quota * 1000} - set(result.too_large)
    assert {at for at, fate in enumerate(result.fates) if fate.finish >= 0} == possible
    most, held = 0, 0
    for _, change in sorted(
        change
        for stretch in result.stretches
        for size in (result.jobs[stretch.job].gpus,)
        for change in ((stretch.start, size), (stretch.end, -size))
    ):
        held += change
        most = max(most, held)
    assert most <= quota * 1000


@examples(30)
@given(workloads(), NODES, POLICY, HABITS, trouble())
def test_time_never_goes_back(jobs, nodes, name, habits, events):
    moments = []
    running = simulation(jobs, gpu_nodes(nodes), name, node_events=events, **habits)
    running_decisions = []
    if running.scheduling is not None:
        running.scheduling.listener = lambda decided: running_decisions.append(decided.time)
    while running.step():
        moments.append(running.now)
    assert moments == sorted(moments)
    assert running_decisions == sorted(running_decisions)
    for stretch in running.result().stretches:
        assert jobs[stretch.job].submit <= stretch.start <= stretch.end


@examples(40)
@given(workloads(), NODES, POLICY, HABITS, trouble(), st.integers(0, 40))
def test_a_run_cut_at_any_point_and_resumed_from_its_snapshot_ends_the_same(
    jobs, nodes, name, habits, events, cut
):
    whole = run(jobs, gpu_nodes(nodes), name, node_events=events, **habits)
    running = simulation(jobs, gpu_nodes(nodes), name, node_events=events, **habits)
    for _ in range(cut):
        running.step()
    assert comparable(resume(snapshot(running)).run()) == comparable(whole)


@examples(20)
@given(workloads(), NODES, POLICY, HABITS)
def test_the_same_input_gives_the_same_bytes(jobs, nodes, name, habits):
    first, second = (comparable(run(jobs, gpu_nodes(nodes), name, **habits)) for _ in range(2))
    assert first == second


def test_processes_give_what_one_process_gives():
    from reprieve.simulate import Settings, policy
    from tests.simulate.runs import one

    jobs = tuple(one(f"j{n}", n, 50 + n, 1 + n % 8, ("low", "high")[n % 2]) for n in range(20))
    tasks = [
        Task(objects=tuple(gpu_nodes(1)), jobs=jobs, settings=Settings(policy=policy(n)))
        for n in POLICIES[:2]
    ]
    together, apart = compare(tasks, processes=2), compare(tasks, processes=1)
    assert [*map(comparable, together)] == [*map(comparable, apart)]
    assert [each.policy for each in together] == ["kubernetes", "kep-5710"]


def comparable(result) -> bytes:
    """Everything but how long this machine took."""
    return msgspec.json.encode(msgspec.structs.replace(result, seconds=(0.0, 0.0)))
