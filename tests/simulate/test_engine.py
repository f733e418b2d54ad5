"""The life of a job: arrival, waiting, running, eviction, lost work, restart, end; nodes that fail."""

import pytest

from reprieve.objects import ReprieveError
from reprieve.simulate import Decided, NodeEvent, Scene, seconds, ticks
from tests.builders import budget, document, node, views
from tests.simulate.runs import GPU, POLICIES, gpu_nodes, one, run, simulation, times


def lost(result):
    return [seconds(fate.lost) for fate in result.fates]


def test_a_job_starts_when_it_comes_and_ends_when_its_work_is_done():
    result = run([one("a", 5, 10), one("b", 7, 3)], gpu_nodes(1))
    assert times(result) == {"a": (5, 15), "b": (7, 10)}


def test_a_job_waits_for_a_place():
    result = run([one("a", 0, 10, 8), one("b", 1, 5, 8)], gpu_nodes(1))
    assert times(result)["b"] == (10, 15)


def test_a_gang_runs_whole_or_not_at_all():
    jobs = [one("a", 0, 10, 8), one("gang", 1, 5, 8, pods=2)]
    result = run(jobs, gpu_nodes(2))
    assert times(result)["gang"] == (10, 15)
    (stretch,) = [each for each in result.stretches if result.jobs[each.job].name == "gang"]
    assert sorted(stretch.nodes) == ["n0", "n1"]


@pytest.mark.parametrize("name", POLICIES)
def test_a_job_may_have_the_name_that_a_pod_of_a_gang_would_get(name):
    jobs = [one("a", 0, 100, 1, pods=2), one("a-0", 0, 50, 1), one("a-0-", 1, 30, 1)]
    assert times(run(jobs, gpu_nodes(1), name)) == {"a": (0, 100), "a-0": (0, 50), "a-0-": (1, 31)}


def test_what_is_evicted_loses_its_work_since_the_last_checkpoint_and_does_it_again():
    jobs = [one("low", 0, 100, 8), one("high", 45, 10, 8, "high")]
    result = run(jobs, gpu_nodes(1), checkpoint=20)
    assert times(result) == {"low": (0, 45 + 10 + 60), "high": (45, 55)}
    assert lost(result) == [5, 0]
    assert result.fates[0].preempted == 1
    assert [(each.why, each.by) for each in result.stretches] == [
        ("preempted", 1),
        ("ended", -1),
        ("ended", -1),
    ]


def test_without_checkpoints_everything_is_done_again():
    jobs = [one("low", 0, 100, 8), one("high", 45, 10, 8, "high")]
    result = run(jobs, gpu_nodes(1), checkpoint=0)
    assert times(result)["low"] == (0, 155)
    assert lost(result) == [45, 0]


def test_restoring_counts_as_lost_and_is_no_progress():
    jobs = [one("low", 0, 100, 8), one("high", 45, 10, 8, "high"), one("again", 60, 10, 8, "high")]
    result = run(jobs, gpu_nodes(1), checkpoint=20, restore=30)
    # Evicted at 45 with 40 s saved, back at 55, evicted again at 60 while it restores, back at 70.
    assert times(result)["low"] == (0, 70 + 30 + 60)
    assert lost(result)[0] == 5 + 5 + 30


def test_evicted_pods_hold_their_place_for_their_grace_period():
    jobs = [one("low", 0, 100, 8), one("high", 45, 10, 8, "high")]
    result = run(jobs, gpu_nodes(1), checkpoint=20, grace=30)
    assert times(result) == {"low": (0, 85 + 60), "high": (75, 85)}
    assert lost(result)[0] == 5 + 30


def test_a_gang_that_loses_a_pod_stops_whole_and_starts_again_whole():
    jobs = [one("gang", 0, 100, 4, pods=4), one("high", 30, 10, 8, "high")]
    result = run(jobs, gpu_nodes(2), checkpoint=0)
    assert times(result) == {"gang": (0, 140), "high": (30, 40)}
    assert result.fates[0].preempted == 1


def test_jobs_that_never_fit_are_counted_and_named_and_the_run_goes_on():
    jobs = [one("huge", 0, 10, 9), one("wide", 0, 10, 8, pods=3), one("a", 1, 5)]
    result = run(jobs, gpu_nodes(2), "fifo")
    assert result.too_large == (0, 1)
    assert times(result)["a"] == (1, 6)
    assert "2 jobs can never run here, larger than the cluster: huge, wide" in result.notes


def test_a_node_that_fails_takes_its_jobs_with_it_and_they_start_elsewhere():
    events = [NodeEvent(ticks(30), "fail", "n0")]
    result = run([one("a", 0, 100, 8)], gpu_nodes(2), checkpoint=20, node_events=events)
    assert times(result)["a"] == (0, 30 + 80)
    assert [each.why for each in result.stretches] == ["node", "ended"]
    assert [each.nodes for each in result.stretches] == [("n0",), ("n1",)]
    assert result.fates[0].preempted == 0


def test_a_node_that_returns_is_used_again():
    events = [NodeEvent(ticks(30), "fail", "n0"), NodeEvent(ticks(90), "return", "n0")]
    result = run([one("a", 0, 100, 8)], gpu_nodes(1), checkpoint=20, node_events=events)
    assert times(result)["a"] == (0, 90 + 80)


def test_a_drained_node_lets_its_pods_end_in_their_grace_period():
    events = [NodeEvent(ticks(30), "drain", "n0")]
    result = run([one("a", 0, 100, 8)], gpu_nodes(2), checkpoint=20, grace=5, node_events=events)
    assert times(result)["a"] == (0, 35 + 80)
    assert [each.why for each in result.stretches] == ["drained", "ended"]


def test_nodes_that_fail_by_chance_fail_alike_for_the_same_seed():
    jobs = [one(f"j{number}", number, 500, 8) for number in range(8)]
    results = [run(jobs, gpu_nodes(4), mean_failure=400, repair=60, seed=seed) for seed in (1, 1, 2)]
    assert results[0].stretches == results[1].stretches
    assert results[0].stretches != results[2].stretches
    assert any(each.why == "node" for each in results[0].stretches)


def test_until_cuts_what_runs_and_counts_it_so_far():
    result = run([one("a", 0, 100), one("b", 60, 10)], gpu_nodes(1), until=50)
    assert [fate.finish for fate in result.fates] == [-1, -1]
    assert result.fates[0].held == result.fates[0].useful == ticks(50)
    assert [each.why for each in result.stretches] == ["cut"]


def test_a_grace_period_that_goes_beyond_the_end_is_held_until_the_end_only():
    jobs = [one("low", 0, 1000, 8), one("high", 60, 10, 8, "high")]
    result = run(jobs, gpu_nodes(1), grace=3600, checkpoint=50, until=100)
    low = result.fates[0]
    assert [seconds(each) for each in (low.held, low.useful, low.lost)] == [100, 50, 50]
    assert [(seconds(each.end), seconds(each.lost)) for each in result.stretches] == [(100, 50)]


def test_who_can_never_be_placed_does_not_keep_the_clock_running_for_ever():
    events = [NodeEvent(ticks(5), "fail", "n0")]
    result = run([one("a", 0, 10), one("b", 6, 10)], gpu_nodes(1), node_events=events)
    assert [fate.finish for fate in result.fates] == [-1, -1]


def test_in_fifo_everybody_waits_behind_the_first_one():
    jobs = [one("a", 0, 10, 6), one("large", 1, 10, 8), one("small", 2, 1, 1)]
    assert times(run(jobs, gpu_nodes(1), "fifo"))["small"] == (20, 21)
    assert times(run(jobs, gpu_nodes(1), "fifo-skip"))["small"] == (2, 3)


def test_jobs_of_one_moment_keep_the_order_of_their_rows():
    jobs = [one(name, 0, 10, 8) for name in ("z", "b", "a")]
    for name in ("fifo", "fifo-skip", "kep-5710"):
        assert times(run(jobs, gpu_nodes(1), name)) == {"z": (0, 10), "b": (10, 20), "a": (20, 30)}


def test_shares_of_gpus_add_up_in_thousandths():
    result = run([one("a", 0, 10, 0.46), one("b", 0, 10, 0.54), one("c", 0, 10, 0.01)], gpu_nodes(1, 1))
    assert times(result) == {"a": (0, 10), "b": (0, 10), "c": (10, 20)}
    assert any("thousandths" in note for note in result.notes)


def test_what_no_node_states_is_not_counted_and_said():
    bare = node("n", status={"allocatable": {"nvidia.com/gpu": "8", "pods": "10"}})
    result = run([one("a", 0, 10, 1, cpu=4000)], views(bare))
    assert times(result)["a"] == (0, 10)
    assert "no node states cpu, so it is not counted" in result.notes


def test_without_nodes_and_queues_there_is_nothing_to_run_on():
    with pytest.raises(ReprieveError, match="nothing to run on"):
        Scene([], [one("a")])


def test_jobs_that_announce_their_checkpoints_let_minimal_cost_take_the_one_that_loses_less():
    # `old` has just saved its work, `young` has not yet: without being told, the younger one seems cheaper.
    jobs = [one("old", 0, 1000, 8), one("young", 60, 1000, 8), one("high", 101, 10, 8, "high")]
    for announce, victim in ((False, "young"), (True, "old")):
        result = run(jobs, gpu_nodes(2), "minimal-cost", checkpoint=100, announce=announce)
        evicted = [result.jobs[each.job].name for each in result.stretches if each.why == "preempted"]
        assert evicted == [victim]


def test_a_listener_hears_every_decision():
    heard: list[Decided] = []
    result = simulation([one("a", 0, 10, 8), one("b", 1, 5, 8)], gpu_nodes(1), listener=heard.append).run()
    assert [each.outcome for each in heard] == ["scheduled", "unschedulable", "scheduled"]
    assert result.decisions == 3
    assert heard[0].placements == {"simulate/a": "n0"}


def test_nodes_that_take_no_job_are_named():
    taints = [{"key": "gpu", "effect": "NoSchedule"}]
    closed = views(
        node("tainted", 1000, allocatable={GPU: "8"}, taints=taints),
        node("cordoned", 1000, allocatable={GPU: "8"}, unschedulable=True),
        node("rather-not", 1000, allocatable={GPU: "8"}, taints=[{"key": "x", "effect": "PreferNoSchedule"}]),
    )
    note = (
        "2 nodes take no job, cordoned or with a taint that no job tolerates; they count as capacity all the "
        "same: tainted, cordoned"
    )
    assert note in run([one("a")], [*gpu_nodes(1), *closed]).notes
    tolerant = document("ResourceFlavor", "f", spec={"tolerations": [{"key": "gpu", "operator": "Exists"}]})
    (said,) = Scene([*closed, *views(tolerant)]).notes
    assert said.startswith("1 node takes no job")
    assert said.endswith("it counts as capacity all the same: cordoned")


def test_budgets_that_protect_no_job_are_counted_and_it_is_said():
    everybody = budget("all", match={}, namespace="simulate")
    budgets = [everybody, budget("web", namespace="simulate"), budget("other", match={}, namespace="ml")]
    note = "the manifests hold budgets that protect no job (2): pods of a trace have no labels"
    assert note in run([one("a")], [*gpu_nodes(1), *views(*budgets)]).notes
    assert run([one("a")], [*gpu_nodes(1), *views(everybody)]).notes == ()


def test_two_nodes_of_one_name_are_refused():
    """They would count twice and be one."""
    with pytest.raises(ReprieveError, match="there are two nodes of the name n0"):
        run([one("a")], [*gpu_nodes(1), *gpu_nodes(1)])


def test_jobs_one_after_the_other_do_not_leave_the_calendar():
    century = 100 * 366 * 86_400
    jobs = [one(f"j{number:02}", number * century) for number in range(90)]
    with pytest.raises(ReprieveError, match="goes on after the year 9000"):
        run(jobs, gpu_nodes(1))


def test_more_failures_than_can_be_simulated_are_refused():
    with pytest.raises(ReprieveError, match=r"--mtbf: nodes would fail 20,000,000 times; at most 1,000,000"):
        run([one("a")], gpu_nodes(1), mean_failure=0.000001, repair=0)
