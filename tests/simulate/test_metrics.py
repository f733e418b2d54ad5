"""Metrics of runs small enough to work out by hand; and what --assert makes of them."""

import pytest

from reprieve.objects import ReprieveError
from reprieve.simulate import check, measure, ticks, understood
from tests.simulate.runs import gpu_nodes, one, run


def evicted_once():
    """Eight GPUs: `low` runs 0-45 (40 s saved), `high` 45-55, `low` again 55-115."""
    jobs = [
        one("low", 0, 100, 8, queue="q", deadline=ticks(110)),
        one("high", 45, 10, 8, "high", queue="q", deadline=ticks(10)),
    ]
    return measure(run(jobs, gpu_nodes(1), checkpoint=20), window=ticks(90))


def test_times_work_and_use():
    found = evicted_once()
    assert (found.unit, found.jobs, found.ended, found.never) == ("gpu", 2, 2, 0)
    assert (found.jct.mean, found.jct.p50) == ((115 + 10) / 2, (115 + 10) / 2)
    assert found.jct.p99 == pytest.approx(10 + 0.99 * 105)
    assert found.delay.mean == 0
    assert found.makespan_hours == 115 / 3600
    assert found.useful_hours == 8 * 110 / 3600
    assert found.lost_hours == 8 * 5 / 3600
    assert found.held_hours == pytest.approx(8 * 115 / 3600)
    assert found.goodput == pytest.approx(110 / 115)
    assert (found.utilisation_window, found.utilisation) == (1.0, pytest.approx(1.0))
    assert (found.preemptions, found.preemptions_per_job) == (1, 0.5)
    assert found.deadlines_missed == 0.5


def test_classes_sizes_and_queues():
    found = evicted_once()
    assert list(found.classes) == ["high", "low"]
    assert found.classes["high"].goodput == 1
    assert found.classes["low"].lost_hours == found.lost_hours
    assert found.sizes["5-8"].jobs == found.queues["q"].jobs == 2


def test_fairness_is_the_time_it_took_over_the_time_of_an_even_share():
    jobs = [one("a", 0, 10, 8), one("b", 0, 10, 8)]
    found = measure(run(jobs, gpu_nodes(1)))
    # `a` shared with one other: an even share would have taken 20 s. `b` was alone half of its 20 s.
    assert found.fairness is not None
    assert found.fairness.max == pytest.approx(20 / (10 * 1.5))
    assert found.fairness.above_one == 0.5


def test_jain_is_over_queues_with_enough_jobs():
    jobs = [one(f"a{n}", 100 * n, 10, 8, queue="fast") for n in range(10)]
    jobs += [one(f"b{n}", 100 * n, 10, 8, queue="slow") for n in range(10)]
    jobs.sort(key=lambda job: job.submit)
    found = measure(run(jobs, gpu_nodes(1)))
    speeds = (1.0, 0.5)
    assert found.jain == pytest.approx(sum(speeds) ** 2 / (2 * sum(x * x for x in speeds)))
    assert measure(run(jobs[:4], gpu_nodes(1))).jain is None


def test_jobs_without_any_work_say_nothing_of_fairness():
    jobs = [one(f"a{n}", n, 0, 1, queue="q") for n in range(12)]
    assert measure(run(jobs, gpu_nodes(1))).jain is None


def test_a_gang_that_waits_for_more_than_half_an_hour_is_late():
    jobs = [one("a", 0, 1801, 8), one("gang", 0, 10, 4, pods=2), one("b", 0, 1, 8)]
    assert measure(run(jobs, gpu_nodes(1))).late_gangs == 1


def test_work_is_counted_in_cores_where_nobody_asks_for_a_gpu():
    found = measure(run([one("a", 0, 3600, 0, cpu=2000)], gpu_nodes(1)))
    assert (found.unit, found.useful_hours) == ("cpu", 2.0)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("lost_gpu_hours < 1000", True),
        ("lostHours > 1000", False),
        ("lost_hours<=1000", True),
        ("jct.p99 >= 100", True),
        ("high.delay.p99 == 0", True),
        ("low.goodput != 1", True),
        ("preemptions == 1", True),
        ("p:jct.mean <= 0.5 * q:jct.mean", False),
    ],
)
def test_an_assertion_compares_a_metric(expression, holds):
    found = evicted_once()
    assert [each.holds for each in check(expression, {"p": found, "q": found})] == [holds] * (
        1 if ":" in expression else 2
    )


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("lost_gpu_hours", "write METRIC < NUMBER"),
        ("lost_gpu_hous < 1", "there is no metric 'lost_gpu_hous'; did you mean 'lostHours'?"),
        ("jct < 1", "jct is no number; add .mean"),
        ("other:preemptions < 1", "'other' is not compared"),
        ("fairness.p49 < 1", "there is no metric 'fairness.p49'"),
        ("goodput > nan", "nan is no number to compare with"),
        ("goodput < 2 * 1e400", "1e400 is no number to compare with"),
        ("nobody.goodput < 2", "there is no metric 'nobody.goodput'"),
    ],
)
def test_an_assertion_that_makes_no_sense_is_an_error(expression, problem):
    with pytest.raises(ReprieveError) as error:
        check(expression, {"p": evicted_once()})
    assert problem in str(error.value)


def test_what_lies_behind_the_end_of_a_run_that_was_cut_is_no_idle_time():
    jobs = [one("a", 0, 100, 8), one("b", 1000, 100, 8)]
    assert measure(run(jobs, gpu_nodes(1), until=50)).utilisation_window == 1.0
    assert measure(run(jobs, gpu_nodes(1), until=50), window=ticks(1000)).utilisation_window == 1.0
    assert measure(run(jobs, gpu_nodes(1))).utilisation_window == pytest.approx(0.1)


def test_idle_time_before_a_job_that_is_too_large_is_idle_time():
    jobs = [one("a", 0, 100, 8), one("huge", 1000, 100, 9)]
    assert measure(run(jobs, gpu_nodes(1))).utilisation_window == pytest.approx(0.1)
    assert measure(run(jobs, gpu_nodes(1)), window=ticks(2000)).utilisation_window == pytest.approx(0.05)


def test_jobs_that_never_end_have_no_times_and_no_assertion_about_them_holds():
    jobs = [one("small", 0, 10, 1, "low"), one("huge", 0, 10, 99, "high")]
    found = measure(run(jobs, gpu_nodes(1)))
    assert found.classes["high"].jct is None
    assert found.classes["high"].delay is None
    with pytest.raises(ReprieveError, match=r"high\.delay\.p99 is not known here"):
        check("high.delay.p99 <= 60", {"kep-5710": found})


def test_use_over_the_makespan_is_never_more_than_there_is():
    """Held after the last end, by what was cut, lies outside of the makespan."""
    jobs = [one("short", 0, 10, 4), one("long", 0, 1000, 4)]
    found = measure(run(jobs, gpu_nodes(1), until=500))
    assert (found.makespan_hours, found.utilisation) == (10 / 3600, 1.0)
    assert found.held_hours == pytest.approx(4 * 510 / 3600)


def test_a_trace_that_does_not_begin_at_zero_has_the_same_use():
    """As somebody gets it who cuts the rows of some weeks out of a longer trace."""
    early, late = (
        measure(run([one("a", at, 100, 8), one("b", at + 50, 100, 8)], gpu_nodes(1))) for at in (0, 10_000)
    )
    assert early.utilisation_window == late.utilisation_window == 1.0
    assert early.utilisation == late.utilisation


def test_a_run_of_nothing_has_nothing_to_measure():
    found = measure(run([], gpu_nodes(1)))
    assert (found.jobs, found.utilisation, found.makespan_hours) == (0, None, 0)


def test_fairness_counts_those_that_were_there_and_did_not_end():
    def longest(*jobs):
        found = measure(run(list(jobs), gpu_nodes(1), until=100)).fairness
        assert found is not None
        return found.max

    short = one("a", 0, 10, 8)
    # An even share of the two would have taken twice as long.
    assert longest(short, one("b", 0, 1000, 8)) == pytest.approx(0.5)
    assert longest(one("a", 0, 10, 4), one("b", 0, 1000, 4)) == pytest.approx(1.0)
    # Who is too large, or comes after the end, was never there.
    assert longest(short, one("huge", 0, 10, 99), one("c", 9000, 10, 8)) == pytest.approx(1.0)


def test_an_assertion_is_about_a_queue_whatever_it_is_called():
    """ClusterQueues and PriorityClasses have dots in their names, and what people call their queues they also
    call their classes."""
    jobs = [one("a", 0, 10, 8, queue="team.a_1"), one("b", 0, 30, 8, "high", queue="low")]
    found = {"p": measure(run(jobs, gpu_nodes(1)))}
    assert check("team.a_1.jct.mean == 40", found)[0].holds
    assert check("queues.team.a_1.jct.mean == 40", found)[0].holds
    assert check("low.jct.mean == 40", found)[0].holds
    assert check("queues.low.jct.mean == 30", found)[0].holds


@pytest.mark.parametrize("expression", ["goodput", "godput < 1", "other:jobs < 1", "nobody.jct.p99 < 1"])
def test_what_could_never_be_checked_is_said_before_the_run(expression):
    jobs = [one("a", queue="q")]
    with pytest.raises(ReprieveError, match="--assert"):
        understood(expression, ["p"], jobs)
    for good in ("low.jct.p99 < 1", "q.goodput < 1", "1.jct.mean > 3", "lost_gpu_hours < 1", "p:jobs == 1"):
        understood(good, ["p"], jobs)
