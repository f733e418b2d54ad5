"""On one node as large as the pool, the plain queues give the reference's times of every job, exactly."""

import importlib.util
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.simulate import SCENARIOS, measure, read_trace, ticks
from tests.builders import node, views
from tests.scale import examples
from tests.simulate.runs import GPU, one, run

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[2]
SHARED = next((each for each in (ROOT.parent / "shared", ROOT.parents[1] / "shared") if each.is_dir()), None)
QUEUES = {"fifo": False, "fifo-skip": True}


def plain_queue(jobs, capacity, *, skip):
    """First start and end by walking the whole queue at every moment. Sizes and times in whole numbers."""
    todo = list(range(len(jobs)))
    queue: list[int] = []
    ends: dict[int, int] = {}
    first: dict[int, int] = {}
    finish: dict[int, int] = {}
    while todo or queue or ends:
        moments = [jobs[i].submit for i in todo] + list(ends.values())
        if not moments:
            break
        now = min(moments)
        for i in [i for i, end in ends.items() if end <= now]:
            finish[i] = ends.pop(i)
        queue += [i for i in todo if jobs[i].submit <= now]
        todo = [i for i in todo if jobs[i].submit > now]
        for i in list(queue):
            if jobs[i].gpus <= capacity - sum(jobs[j].gpus for j in ends):
                queue.remove(i)
                first[i], ends[i] = now, now + jobs[i].duration
            elif not skip:
                break
    return [(first[i], finish[i]) for i in range(len(jobs))]


def pool(gpus):
    """One node that states GPUs alone: the reference counts neither cores nor memory."""
    return views(node("pool", status={"allocatable": {GPU: str(gpus), "pods": "100000"}}))


def found(result):
    return [(fate.first, fate.finish) for fate in result.fates]


@pytest.mark.parametrize("name", QUEUES)
@pytest.mark.parametrize(("trace", "gpus"), [("philly", 48), ("chronus-mix1", 40)])
def test_the_sample_of_a_trace_runs_as_in_a_plain_queue(trace, gpus, name):
    jobs = [job for job in read_trace(DATA / f"{trace}.csv").jobs if job.gpu]
    result = run(jobs, pool(gpus), name)
    assert found(result) == plain_queue(jobs, gpus * 1000, skip=QUEUES[name])
    assert any(fate.first > job.submit for job, fate in zip(jobs, result.fates, strict=True)), "nobody waited"


@st.composite
def drawn(draw):
    number = draw(st.integers(1, 15))
    submits = sorted(draw(st.lists(st.integers(0, 40), min_size=number, max_size=number)))
    size = st.sampled_from((1, 1, 2, 4, 8))
    return [
        one(f"j{at}", submit, draw(st.integers(1, 30)), draw(size), pods=draw(st.sampled_from((1, 1, 2))))
        for at, submit in enumerate(submits)
    ]


@examples(60)
@given(drawn(), st.sampled_from((16, 18, 32)), st.sampled_from(tuple(QUEUES)))
def test_any_jobs_run_as_in_a_plain_queue(jobs, gpus, name):
    assert found(run(jobs, pool(gpus), name)) == plain_queue(jobs, gpus * 1000, skip=QUEUES[name])


def reference():
    if SHARED is None:
        pytest.skip("the reference (../shared/traces) is not here; the samples above were compared")
    spec = importlib.util.spec_from_file_location("reference_fifo", SHARED / "traces" / "reference_fifo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, SHARED / "traces"


@pytest.mark.slow
@pytest.mark.parametrize("name", QUEUES)
def test_a_whole_scenario_gives_the_reference_and_its_metrics(name):
    """The others: python bench/simulate.py --reference."""
    module, folder = reference()
    scenario = SCENARIOS["openb-60"]
    trace = scenario.cut(read_trace(folder / scenario.trace, drawn=True))
    result = run(trace.jobs, pool(scenario.gpus), name)
    window, source, _ = module.SCENARIOS["openb"]
    jobs = module.load(**source)
    expected = module.simulate(jobs, scenario.gpus * module.UNIT, *module.POLICIES[name])
    assert [job.name for job in trace.jobs] == [job.name for job in jobs]
    ends = zip(expected.first, expected.finish, strict=True)
    assert found(result) == [(ticks(first), ticks(finish)) for first, finish in ends]
    ours = measure(result, scenario.window)
    theirs = module.metrics(jobs, expected, scenario.gpus * module.UNIT, window)
    high, low = ours.classes["high"], ours.classes["low"]
    assert ours.fairness is not None
    assert ours.jct is not None
    assert ours.delay is not None
    assert high.jct is not None
    assert low.delay is not None
    for mine, other in (
        (ours.jct.mean, theirs["jct"]["avg"]),
        (ours.jct.p99, theirs["jct"]["p99"]),
        (ours.delay.p99, theirs["delay"]["p99"]),
        (ours.makespan_hours, theirs["makespan_h"]),
        (ours.utilisation_window, theirs["utilisation_window"]),
        (ours.utilisation, theirs["utilisation_makespan"]),
        (ours.jain, theirs["jain"]),
        (ours.fairness.p99, theirs["ftf"]["p99"]),
        (ours.fairness.max, theirs["ftf"]["max"]),
        (ours.fairness.above_one, theirs["ftf"]["above_1"]),
        (high.jct.p99, theirs["by_class"]["high"]["jct"]["p99"]),
        (low.delay.mean, theirs["by_class"]["low"]["delay"]["avg"]),
    ):
        assert mine is not None
        assert math.isclose(mine, other, rel_tol=1e-12)
