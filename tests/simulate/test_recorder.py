"""Why jobs waited and made way, for whoever asks afterwards; nothing when nobody does."""

import pytest

from reprieve.simulate import Decided, Job, Recorder
from reprieve.simulate.scheduling import Scheduling
from tests.simulate.runs import gpu_nodes, one, queue, queues, run, simulation


def recorded(jobs, objects, **more):
    recorder = Recorder(jobs)
    run(jobs, objects, listener=recorder, **more)
    return recorder.record


def test_a_victim_knows_for_whom_and_why():
    jobs = [one("low", 0, 100, gpus=8), one("high", 20, 30, gpus=8, klass="high")]
    record = recorded(jobs, gpu_nodes(1))
    (made_way,) = record.evictions[0]
    assert (made_way.time, made_way.unit, made_way.by) == (
        20_000_000,
        "Pod/simulate/low",
        "Pod/simulate/high",
    )
    assert "short for simulate/high" in made_way.why
    assert record.refusals[0].times >= 1
    assert 1 not in record.refusals


def test_a_gang_is_one_victim():
    jobs = [one("gang", 0, 100, gpus=8, pods=2), one("high", 20, 30, gpus=8, klass="high")]
    (made_way,) = recorded(jobs, gpu_nodes(2)).evictions[0]
    assert made_way.unit == "PodGroup/simulate/gang"


def test_quota_says_who_waits_and_who_loses_it():
    preemption = {"withinClusterQueue": "LowerPriority"}
    objects = [*queues(queue("q", 8, preemption=preemption)), *gpu_nodes(1)]
    jobs = [one("low", 0, 100, gpus=8, queue="q"), one("high", 20, 30, gpus=8, klass="high", queue="q")]
    record = recorded(jobs, objects)
    (made_way,) = record.evictions[0]
    assert (made_way.unit, made_way.by) == ("Workload/ns/low", "Workload/ns/high")
    assert made_way.why == "due to prioritization in the ClusterQueue"
    assert record.refusals[0].unit == "Workload/ns/low"


def test_memory_grows_with_jobs_not_with_decisions():
    jobs = [one("a"), one("b")]
    recorder = Recorder(jobs)
    for time in range(1000):
        recorder(Decided(time, "Pod/simulate/a", "unschedulable", {}, (), (f"reason {time}",)))
        recorder(Decided(time, "Pod/simulate/b", "preempts", {}, (), ("it fits",), {"Pod/simulate/a": "why"}))
    refusals, evictions = recorder.record.refusals[0], recorder.record.evictions[0]
    assert (refusals.times, refusals.first_reasons, refusals.last_reasons) == (
        1000,
        ("reason 0",),
        ("reason 999",),
    )
    assert [each.time for each in evictions] == [0, 1, 999]


def test_without_a_listener_no_decision_is_described(monkeypatch: pytest.MonkeyPatch):
    def never(*_: object) -> None:
        raise AssertionError("nobody listens")

    monkeypatch.setattr(Scheduling, "_decided", never)
    jobs: list[Job] = [one("low", 0, 100, gpus=8), one("high", 20, 30, gpus=8, klass="high")]
    assert simulation(jobs, gpu_nodes(1)).run().record is None
