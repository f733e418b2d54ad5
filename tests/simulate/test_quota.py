"""Quota in the simulation: jobs wait for it, lose it and get it again; Kueue's load gives its numbers."""

import msgspec
import pytest

from reprieve.objects import ReprieveError
from reprieve.simulate import Generator, generated, read_generator, ticks
from tests.builders import document, node, reserved, views, workload
from tests.simulate.runs import GPU, gpu_nodes, one, queue, queues, run, simulation, times

BASELINE = {
    "cohorts": [
        {
            "className": "cohort",
            "count": 5,
            "queuesSets": [
                {
                    "className": "cq",
                    "count": 6,
                    "nominalQuota": 20,
                    "borrowingLimit": 100,
                    "reclaimWithinCohort": "Any",
                    "withinClusterQueue": "LowerPriority",
                    "workloadsSets": [
                        {
                            "count": count,
                            "creationIntervalMs": interval,
                            "workloads": [
                                {"className": name, "runtimeMs": runs, "priority": priority, "request": cpu}
                            ],
                        }
                        for name, count, interval, runs, priority, cpu in (
                            ("small", 350, 100, 200, 50, 1),
                            ("medium", 100, 500, 500, 100, 5),
                            ("large", 50, 1200, 1000, 200, 20),
                        )
                    ],
                }
            ],
        }
    ]
}
"""The baseline load of Kueue's performance tests (© The Kubernetes Authors, Apache-2.0)."""


STRICT = {"withinClusterQueue": "LowerPriority"}


def test_kueues_baseline_load_gives_kueues_numbers():
    trace, objects = generated(msgspec.convert(BASELINE, Generator))
    result = run(trace.jobs, objects, checkpoint=0, cycle_every=0.01)
    assert (result.cycles, result.admissions, result.quota_preemptions) == (1003, 21075, 6075)
    assert all(fate.finish >= 0 for fate in result.fates)


def test_a_job_waits_for_quota_although_there_is_room():
    jobs = [one("a", 0, 10, 4, queue="q"), one("b", 1, 10, 4, queue="q")]
    result = run(jobs, [*gpu_nodes(1), *queues(queue("q", 4))])
    assert times(result) == {"a": (0, 10), "b": (10, 20)}


def test_a_job_with_quota_waits_for_room():
    jobs = [one("a", 0, 10, 8, queue="q"), one("b", 1, 10, 8, queue="q")]
    result = run(jobs, [*gpu_nodes(1), *queues(queue("q", 100))])
    assert times(result) == {"a": (0, 10), "b": (10, 20)}
    assert result.admissions == 2


def test_what_quota_evicts_stops_and_queues_again():
    jobs = [one("low", 0, 100, 8, queue="q"), one("high", 30, 10, 8, "high", queue="q")]
    result = run(jobs, [*gpu_nodes(2), *queues(queue("q", 8, preemption=STRICT))], checkpoint=20, grace=5)
    assert times(result) == {"low": (0, 45 + 80), "high": (35, 45)}
    assert (result.stretches[0].why, result.stretches[0].by) == ("quota", 1)
    assert (result.quota_preemptions, result.admissions) == (1, 3)


def test_without_nodes_a_job_runs_as_soon_as_it_has_quota():
    jobs = [one("a", 0, 10, 4, queue="q"), one("b", 1, 10, 4, queue="q")]
    assert times(run(jobs, queues(queue("q", 4)))) == {"a": (0, 10), "b": (10, 20)}


def test_a_job_in_no_queue_is_counted_and_the_run_goes_on():
    jobs = [one("a", 0, 10, 1, queue="nowhere"), one("b", 1, 5, 1, queue="ns/q"), one("c", 1, 5, 1)]
    result = run(jobs, [*gpu_nodes(1), *queues(queue("q", 4))])
    assert set(result.unqueued) == {0, 2}
    assert "'nowhere', which does not exist" in result.unqueued[0]
    assert times(result)["b"] == (1, 6)


def test_a_job_that_never_gets_quota_keeps_nobody_behind_it():
    jobs = [one("huge", 0, 10, 8, queue="q"), one("a", 1, 100, 4, queue="q")]
    jobs += [one("b", 2, 10, 2, queue="q"), one("c", 3, 10, 4, queue="q")]
    result = run(jobs, [*gpu_nodes(2), *queues(queue("q", 4))])
    assert times(result) == {"huge": (-1e-6, -1e-6), "a": (1, 101), "b": (101, 111), "c": (111, 121)}


def test_a_gang_asks_for_the_quota_of_all_its_pods_and_no_more():
    jobs = [one("three", 0, 10, 4, queue="q", pods=3), one("two", 1, 10, 4, queue="q", pods=2)]
    result = run(jobs, [*gpu_nodes(2), *queues(queue("q", 8))])
    assert times(result) == {"three": (-1e-6, -1e-6), "two": (1, 11)}


def test_cycles_take_place_at_multiples_of_the_given_time():
    jobs = [one("a", 0.3, 10, 4, queue="q"), one("b", 2.1, 10, 4, queue="q")]
    running = simulation(jobs, queues(queue("q", 8)), cycle_every=1)
    assert times(running.run()) == {"a": (1, 11), "b": (3, 13)}


def test_what_a_generator_file_says_beyond_what_is_understood_is_refused(tmp_path):
    path = tmp_path / "generator.yaml"
    path.write_text("cohorts: [{className: c, count: 1, topology: x}]\n")
    with pytest.raises(ReprieveError, match=r"generator.yaml: not understood.*topology"):
        read_generator(path)


def test_the_jobs_of_a_generator_come_one_interval_after_the_other():
    trace, _ = generated(msgspec.convert(BASELINE, Generator))
    large = [job for job in trace.jobs if job.queue == "cq-0-0" and job.klass == "large"]
    assert [job.submit for job in large[:2]] == [ticks(1.2), ticks(2.4)]
    assert len(trace.jobs) == 15_000


def test_jobs_that_no_queue_takes_are_counted_and_named_with_the_reason():
    jobs = [one("a", queue="nowhere"), one("b", queue="q"), one("c")]
    notes = run(jobs, [*gpu_nodes(1), *queues(queue("q", 4))]).notes
    assert notes == (
        "2 jobs left out, no queue takes them: a, c; of a: its row names the LocalQueue 'nowhere', "
        "which does not exist",
    )


def test_a_name_that_several_local_queues_have_is_told_apart_from_one_that_none_has():
    objects = queues(queue("q", 4), queue("r", 4))
    double = document("LocalQueue", "q", "other", spec={"clusterQueue": "r"})
    result = run([one("a", queue="q"), one("b", queue="ns/q")], [*gpu_nodes(1), *objects, *views(double)])
    assert result.fates[1].finish >= 0
    assert (
        "'q', and several LocalQueues or ClusterQueues are called so; write namespace/name"
        in result.unqueued[0]
    )


@pytest.mark.parametrize("nodes", [[], gpu_nodes(2)])
def test_a_job_larger_than_its_quota_is_counted_and_named_with_the_reason(nodes):
    jobs = [one("a", queue="q"), one("large", gpus=6, queue="q")]
    result = run(jobs, [*nodes, *queues(queue("q", 4))])
    (note,) = result.notes
    assert note.startswith(
        "1 job still waits when nothing changes any more: large; of large: couldn't assign"
    )
    assert "maximum capacity" in note


def test_jobs_that_wait_when_the_run_is_cut_are_not_said_to_wait_for_ever():
    jobs = [one("a", 0, 1000, 4, queue="q"), one("b", 0, 10, 4, queue="q")]
    assert run(jobs, [*gpu_nodes(1), *queues(queue("q", 4))], until=100).notes == ()
    assert run(jobs, [*gpu_nodes(1), *queues(queue("q", 4))]).notes == ()


HOLDS = {"containers": [{"name": "main", "resources": {"requests": {GPU: "3"}}}]}
OLD = workload(
    "old", namespace="ns", queue="q", podSets=[{"name": "main", "count": 1, "template": {"spec": HOLDS}}]
)


@pytest.mark.parametrize("nodes", [0, 1])
@pytest.mark.parametrize("there", [OLD, reserved(OLD, "q", "f")], ids=["waiting", "admitted"])
def test_workloads_that_the_manifests_hold_are_left_out_and_it_is_said(nodes, there):
    """As a live cluster with queues has them: it begins empty, of workloads as of pods."""
    scenery = [*gpu_nodes(nodes), *queues(queue("q", 4)), *views(there)]
    result = run([one("a", 0, 10, 4, queue="q"), one("b", 1, 10, 4, queue="q")], scenery)
    assert times(result) == {"a": (0, 10), "b": (10, 20)}
    assert "the manifests hold workloads (1); the cluster begins empty, they are not counted" in result.notes


def pool(name, taints=(), tolerations=()):
    """A flavor and its only node, of eight GPUs."""
    labels = {"pool": name}
    spec = {"nodeLabels": labels, "tolerations": [*tolerations]}
    there = node(f"{name}-0", 1000, labels=labels, allocatable={GPU: "8"}, taints=[*taints])
    return views(document("ResourceFlavor", name, spec=spec), there)


def two_flavors():
    """A queue with quota of spot first, then of on-demand."""
    resources = [{"name": GPU, "nominalQuota": 8}]
    flavors = [{"name": name, "resources": resources} for name in ("spot", "on-demand")]
    group = {"coveredResources": [GPU], "flavors": flavors}
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    local = document("LocalQueue", "q", "ns", spec={"clusterQueue": "q"})
    return views(document("ClusterQueue", "q", spec=spec), local)


@pytest.mark.parametrize("name", ["kep-5710", "fifo"])
@pytest.mark.parametrize("pods", [1, 2])
def test_a_job_runs_on_the_nodes_of_the_flavors_that_it_has_quota_of(name, pods):
    scenery = [*two_flavors(), *pool("on-demand"), *pool("spot")]
    jobs = [one(each, at, 10, 8 / pods, queue="q", pods=pods) for at, each in enumerate("abc")]
    result = run(jobs, scenery, name)
    assert times(result) == {"a": (0, 10), "b": (1, 11), "c": (10, 20)}
    assert [{*each.nodes} for each in result.stretches] == [{"spot-0"}, {"on-demand-0"}, {"spot-0"}]


def test_a_job_with_quota_of_a_flavor_tolerates_the_taints_that_the_flavor_does():
    spot = pool("spot", [{"key": "spot", "effect": "NoSchedule"}], [{"key": "spot", "operator": "Exists"}])
    jobs = [one("a", 0, 10, 8, queue="q"), one("b", 1, 10, 8, queue="q")]
    result = run(jobs, [*two_flavors(), *pool("on-demand"), *spot])
    assert times(result) == {"a": (0, 10), "b": (1, 11)}


def test_a_flavor_of_which_there_is_no_node_ties_nobody_down_and_it_is_said():
    flavors = views(
        document("ResourceFlavor", "spot", spec={"nodeLabels": {"pool": "spot"}}),
        document("ResourceFlavor", "on-demand", spec={}),
    )
    result = run([one("a", 0, 10, 8, queue="q")], [*two_flavors(), *flavors, *gpu_nodes(1)])
    assert times(result) == {"a": (0, 10)}
    assert [note for note in result.notes if "spot (pool=spot), so jobs with its quota run" in note]
