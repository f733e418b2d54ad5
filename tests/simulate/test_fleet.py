"""Several clusters in one run: the fleet's rules, one gate at a time, a job in one cluster at once."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.objects import ReprieveError, well_known
from reprieve.simulate import (
    FleetSimulation,
    Job,
    NodeEvent,
    Result,
    Scene,
    Settings,
    Stretch,
    policy,
    resume,
    snapshot,
    ticks,
)
from tests.scale import examples
from tests.simulate.runs import (
    gpu_nodes,
    one,
    overcommitted,
    queue,
    queues,
    run,
    times,
    workloads,
)

GATED = {"featureGates": {"MultiKueueOrchestratedPreemption": True}}
STRICT = {"withinClusterQueue": "LowerPriority"}


def cluster(nodes: int = 1, quota: int = 8, **more: Any) -> list[Any]:
    return [*gpu_nodes(nodes), *queues(queue("q", quota, **more))]


def fleet(
    jobs: list[Job],
    clusters: dict[str, list[Any]],
    *,
    config: dict[str, Any] | None = None,
    events: tuple[NodeEvent, ...] = (),
    name: str = "kep-5710",
    **times_: float,
) -> FleetSimulation:
    chosen = policy(name, Configuration.load(config or {}))
    settings: dict[str, Any] = {key: ticks(value) for key, value in times_.items()}
    scenes = {each: Scene(objects, jobs) for each, objects in clusters.items()}
    return FleetSimulation(scenes, jobs, Settings(policy=chosen, **settings), events)


def where(result: Result) -> dict[str, list[str]]:
    """The clusters of each run of each job."""
    found: dict[str, list[str]] = {}
    for stretch in result.stretches:
        found.setdefault(result.jobs[stretch.job].name, []).append(stretch.nodes[0].split("/")[0])
    return found


def test_a_job_goes_to_the_first_cluster_that_has_quota():
    jobs = [one(name, at, 100, 8, queue="q") for at, name in enumerate("abc")]
    result = fleet(jobs, {"eu": cluster(), "us": cluster()}).run()
    assert where(result) == {"a": ["eu"], "b": ["us"], "c": ["eu"]}
    assert times(result) == {"a": (0, 100), "b": (1, 101), "c": (100, 200)}


def urgent(duration: float = 1000) -> list[Job]:
    """Three full clusters, and one that is more important."""
    low = [one(name, at, duration, 8, queue="q") for at, name in enumerate("abc")]
    return [*low, one("high", 10, 100, 8, "high", queue="q")]


def three(**more: Any) -> dict[str, list[Any]]:
    return {name: cluster(preemption=STRICT, **more) for name in ("asia", "eu", "us")}


def test_with_gates_one_cluster_preempts_and_without_them_all_do():
    gated = fleet(urgent(), three(), config=GATED, checkpoint=0)
    result = gated.run()
    assert (result.quota_preemptions, gated.manager.opened) == (1, 1)
    assert times(result)["high"] == (10, 110)
    careless = fleet(urgent(), three(), checkpoint=0).run()
    assert careless.quota_preemptions == 3
    assert times(careless)["high"] == (10, 110)
    assert sum(fate.preempted for fate in careless.fates) == 3


def test_the_gate_of_the_cheapest_preemption_opens_first():
    config = {**GATED, "fleet": {"gatePolicy": "least-cost"}}
    jobs = [one("a", 0, 1000, 8, queue="q"), one("b", 300, 1000, 8, queue="q")]
    jobs.append(one("high", 400, 100, 8, "high", queue="q"))
    two = {name: cluster(preemption=STRICT) for name in ("eu", "us")}
    first = fleet(jobs, two, config=GATED, checkpoint=0).run()
    assert where(first)["high"] == ["eu"]
    cheapest = fleet(jobs, two, config=config, checkpoint=0).run()
    assert where(cheapest)["high"] == ["us"], "b has done less"


def test_what_quota_evicts_goes_to_another_cluster():
    jobs = [one("low", 0, 100, 8, queue="q"), one("high", 30, 100, 8, "high", queue="q")]
    jobs.append(one("other", 0, 40, 8, queue="q"))
    two = {name: cluster(preemption=STRICT) for name in ("eu", "us")}
    result = fleet(jobs, two, config=GATED, checkpoint=0, grace=5).run()
    assert where(result) == {"low": ["eu", "us"], "other": ["us"], "high": ["eu"]}
    assert times(result) == {"low": (0, 140), "high": (35, 135), "other": (0, 40)}


LOST = {"fleet": {"workerLostTimeout": "60s"}}


def test_a_lost_worker_is_waited_for_and_then_its_jobs_start_elsewhere():
    jobs = [one("a", 0, 100, 8, queue="q")]
    down = (NodeEvent(ticks(10), "fail", "eu"),)
    result = fleet(jobs, {"eu": cluster(), "us": cluster()}, config=LOST, events=down, checkpoint=0).run()
    assert where(result) == {"a": ["eu", "us"]}
    assert times(result)["a"] == (0, 10 + 60 + 1 + 100)


def test_a_worker_that_returns_in_time_keeps_its_jobs():
    jobs = [one("a", 0, 100, 8, queue="q")]
    down = (NodeEvent(ticks(10), "fail", "eu"), NodeEvent(ticks(40), "return", "eu"))
    result = fleet(jobs, {"eu": cluster(), "us": cluster()}, config=LOST, events=down, checkpoint=0).run()
    assert where(result) == {"a": ["eu", "eu"]}
    assert times(result)["a"] == (0, 140)


def test_a_worker_that_returns_late_keeps_nothing_that_runs_elsewhere():
    jobs = [one("a", 0, 100, 8, queue="q"), one("b", 200, 10, 8, queue="q")]
    down = (NodeEvent(ticks(10), "fail", "eu"), NodeEvent(ticks(90), "return", "eu"))
    result = fleet(jobs, {"eu": cluster(), "us": cluster()}, config=LOST, events=down, checkpoint=0).run()
    assert where(result) == {"a": ["eu", "us"], "b": ["eu"]}


def test_a_node_of_one_cluster_fails_by_its_full_name():
    jobs = [one("a", 0, 100, 8, queue="q")]
    down = (NodeEvent(ticks(10), "fail", "eu/n0"), NodeEvent(ticks(30), "return", "eu/n0"))
    result = fleet(jobs, {"eu": cluster(), "us": cluster()}, events=down, checkpoint=0).run()
    assert where(result) == {"a": ["eu", "eu"]}, "its quota is there"


def test_a_job_that_fits_in_no_cluster_or_no_queue_is_named():
    jobs = [one("huge", 0, 10, 9, queue="q"), one("lost", 0, 10, 1, queue="none")]
    result = fleet(jobs, {"eu": cluster(), "us": cluster(2)}).run()
    assert result.too_large == (0,)
    assert "'none', which does not exist" in result.unqueued[1]


def test_a_cluster_without_queues_is_refused():
    with pytest.raises(ReprieveError, match="cluster us: no ClusterQueue"):
        fleet([one("a", queue="q")], {"eu": cluster(), "us": gpu_nodes(1)})


# What always holds

CONFIGS = st.fixed_dictionaries(
    {
        "featureGates": st.sampled_from(({}, {"MultiKueueOrchestratedPreemption": True})),
        "fleet": st.fixed_dictionaries(
            {
                "gatePolicy": st.sampled_from(("first-come", "least-cost")),
                "dispatcher": st.sampled_from(("AllAtOnce", "Incremental")),
                "stepSize": st.just(1),
                "roundLength": st.just("20s"),
                "singleClusterPreemptionTimeout": st.just("15s"),
                "workerLostTimeout": st.sampled_from(("10s", "100s")),
            }
        ),
    }
)


@st.composite
def trouble(draw: st.DrawFn, names: tuple[str, ...] = ("c0", "c1", "c0/n0")) -> tuple[NodeEvent, ...]:
    """A cluster or a node may fail, and comes back."""
    if draw(st.booleans()):
        return ()
    time, name = draw(st.integers(1, 300)), draw(st.sampled_from(names))
    back = time + draw(st.integers(1, 200))
    return NodeEvent(ticks(time), "fail", name), NodeEvent(ticks(back), "return", name)


def queued(jobs: list[Job]) -> list[Job]:
    return [msgspec.structs.replace(job, queue="q") for job in jobs]


def at_once(stretches: tuple[Stretch, ...]) -> list[int]:
    """Jobs that held two places at one moment."""
    by_job: dict[int, list[Stretch]] = {}
    for stretch in stretches:
        by_job.setdefault(stretch.job, []).append(stretch)
    return [
        job for job, found in by_job.items() for before, after in pairwise(found) if after.start < before.end
    ]


def open_gates(running: FleetSimulation, job: int) -> int:
    copies = (running.copy_of(name, job) for name in running.workers)
    gates = [gate for copy in copies if copy is not None for gate in copy["status"]["preemptionGates"]]
    return sum(gate["position"] == well_known.GATE_OPEN for gate in gates)


@examples(40)
@given(workloads(8), CONFIGS, trouble(), st.sampled_from((0, 7)), st.sampled_from(("kep-5710", "fifo")))
def test_one_gate_at_a_time_and_every_job_in_one_cluster_at_once(jobs, config, events, grace, name):
    clusters = {f"c{number}": cluster(number + 1, 8, preemption=STRICT) for number in range(2)}
    running = fleet(queued(jobs), clusters, config=config, events=events, grace=grace, name=name)
    while running.step():
        assert all(open_gates(running, job) <= 1 for job in range(len(jobs)))
    result = running.result()
    assert at_once(result.stretches) == []
    assert overcommitted(result, 8000) == []
    possible = {at for at, job in enumerate(jobs) if job.gpus <= 8000} - set(result.too_large)
    assert {at for at, fate in enumerate(result.fates) if fate.finish >= 0} == possible
    for job, fate in zip(result.jobs, result.fates, strict=True):
        assert fate.held == fate.useful + fate.lost
        assert fate.useful in (0, job.duration)
    for stretch in result.stretches:
        assert len({node.split("/")[0] for node in stretch.nodes}) == 1


@examples(30)
@given(workloads(10), st.sampled_from((8, 16)), st.sampled_from(("kubernetes", "minimal-cost", "fifo")))
def test_a_fleet_of_one_cluster_is_that_cluster(jobs, quota, name):
    jobs = queued(jobs)
    alone = run(jobs, cluster(2, quota), name, grace=5)
    together = fleet(jobs, {"eu": cluster(2, quota)}, name=name, grace=5).run()
    assert together.fates == alone.fates
    named = [each._replace(nodes=tuple(f"eu/{node}" for node in each.nodes)) for each in alone.stretches]
    assert list(together.stretches) == named
    assert (together.decisions, together.cycles) == (alone.decisions, alone.cycles)


@examples(30)
@given(workloads(8), trouble(("c0", "c1")), st.sampled_from(("10s", "100s")), st.sampled_from((0, 7)))
def test_a_cluster_without_nodes_fails_as_one_with_nodes_for_everybody_does(jobs, events, timeout, grace):
    config = {"fleet": {"workerLostTimeout": timeout}}
    found = [
        fleet(
            queued(jobs),
            {name: [*nodes, *queues(queue("q", 8, preemption=STRICT))] for name in ("c0", "c1")},
            config=config,
            events=events,
            grace=grace,
            checkpoint=20,
        ).run()
        for nodes in ((), gpu_nodes(1, 1000))
    ]
    assert found[0].fates == found[1].fates
    assert all(fate.held == fate.useful + fate.lost for fate in found[0].fates)


@examples(15)
@given(workloads(8), trouble(), st.integers(0, 30))
def test_a_fleet_that_was_cut_and_resumed_ends_the_same(jobs, events, cut):
    clusters = {f"c{number}": cluster(preemption=STRICT) for number in range(2)}
    whole = fleet(queued(jobs), clusters, config=GATED, events=events).run()
    part = fleet(queued(jobs), clusters, config=GATED, events=events)
    for _ in range(cut):
        part.step()
    resumed = resume(snapshot(part)).run()
    assert (resumed.fates, resumed.stretches) == (whole.fates, whole.stretches)
