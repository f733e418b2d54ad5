"""What controllers noted is history: runs that ended, and how long those had run that begin again."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from reprieve.forecast import when
from reprieve.records import Run
from tests.builders import job, node, owned_by, pod

NOW = "2026-01-01T02:00:00Z"


def ran(name, minutes, end="ended", uid="", **more):
    time = datetime(2026, 1, 1, tzinfo=UTC)
    return Run(ran=f"Job/default/{name}", time=time, seconds=60 * minutes, end=end, uid=uid or name, **more)


def made_by(name, cpu, on="", start="2026-01-01T01:00:00Z", **more):
    owner = {"ownerReferences": [owned_by("Job", name, name)]}
    return pod(
        f"{name}-x", cpu, on=on, metadata=owner, start=start if on else "", restartPolicy="Never", **more
    )


CLUSTER = (node("n", 4), made_by("nightly-9", 4, on="n"), pod("w", 2))
PAST = [ran(f"nightly-{number}", length) for number, length in enumerate(range(40, 120, 8))]


def ask(*objects, runs, **more):
    return when(objects, "Pod/default/w", now=NOW, runs=runs, **more)


def test_runs_that_were_noted_give_an_interval():
    assert ask(*CLUSTER, runs=[]).outcome == "unknown"
    found = ask(*CLUSTER, runs=PAST)
    assert (found.outcome, found.waits_for[0].run_time) == ("later", "history")
    assert 0 < found.start.low < found.start.median < found.start.high


def test_the_pods_of_one_job_are_one_run_from_the_first_start_to_the_last_end():
    pods = [ran("nightly-1", length) for length in (61, 62, 63, 64)]
    assert ask(*CLUSTER, runs=pods).outcome == "unknown"
    others = [ran(f"nightly-{number}", 70) for number in (2, 3, 4)]
    assert ask(*CLUSTER, runs=[*pods, *others]).outcome == "later"


def test_pods_that_run_one_after_another_are_one_long_run():
    def waves(name):
        ends = (datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (1, 2, 3))
        return [replace(ran(name, 60), time=each) for each in ends]

    found = ask(*CLUSTER, runs=[run for number in range(10) for run in waves(f"nightly-{number}")])
    assert 115 * 60 < found.start.median < 125 * 60  # three hours, of which one is over


def test_a_job_of_which_other_pods_still_run_has_not_ended():
    past = [ran(f"nightly-{number}", 90) for number in (1, 2, 3)]
    assert ask(*CLUSTER, runs=[*past, ran("nightly-9", 90)]).outcome == "unknown"
    assert ask(*CLUSTER, job("nightly-4", metadata={"uid": "x"}), runs=[*past, ran("nightly-4", 90, uid="x")]
    ).outcome == "unknown"  # fmt: skip


def over(name, start="2025-12-31T00:00:00Z", end="2025-12-31T01:30:00Z"):
    """A job as it says itself: from when it was made, however long its pods waited for a place."""
    conditions = [{"type": "Complete", "status": "True"}]
    status = {"startTime": start, "completionTime": end, "conditions": conditions}
    return {**job(name, metadata={"uid": name}), "status": status}


def test_a_job_that_is_still_there_counts_once():
    here = [over(f"nightly-{number}") for number in (1, 2, 3)]
    noted = [ran(f"nightly-{number}", 90) for number in (1, 2, 3)]
    assert ask(*CLUSTER, *here, runs=noted).outcome == "unknown"
    assert ask(*CLUSTER, *here, runs=[ran("nightly-4", 90)]).outcome == "later"
    again = [ran("nightly-1", 90, uid="of the same name, last week")]
    assert ask(*CLUSTER, *here, runs=again).outcome == "later"


BRIEF = (node("n", 4), made_by("nightly-9", 4, on="n", start="2026-01-01T01:59:00Z"), pod("w", 2))


@pytest.mark.parametrize("known_by", ["pods", "runs"])
def test_a_job_that_waited_for_its_place_did_not_run_meanwhile(known_by):
    names = [f"nightly-{number}" for number in range(10)]
    said = ask(*BRIEF, *map(over, names), runs=[])
    assert said.start.median > 80 * 60
    pods = [
        made_by(name, 4, on="n", start="2025-12-31T01:25:00Z", status={"phase": "Succeeded"})
        for name in names
    ]
    noted = [ran(name, 5) for name in names]
    more = {"pods": (pods, []), "runs": ([], noted)}[known_by]
    said = ask(*BRIEF, *map(over, names), *more[0], runs=more[1])
    assert said.start.high < 6 * 60


@pytest.mark.parametrize("end", ["failed", "stopped"])
def test_what_did_not_come_to_its_end_says_nothing_of_others(end):
    past = [ran(f"nightly-{number}", 90, end) for number in range(5)]
    assert ask(*CLUSTER, runs=past).outcome == "unknown"


def test_who_was_evicted_runs_for_longer_than_it_had():
    """It waits again, and all that is known is that an hour and a half was not enough."""
    past = [
        ran(f"nightly-{number}", length) for number, length in enumerate((10, 20, 30, 100, 110, 120, 130))
    ]
    objects = (
        node("n", 4), made_by("now", 4, on="n", annotations={"reprieve.dev/expected-runtime": "61m"}),
        made_by("nightly-9", 4, priority=10), pod("w", 2),
    )  # fmt: skip
    anew = ask(*objects, runs=past)
    again = ask(*objects, runs=[*past, ran("nightly-9", 90, "stopped")])
    other = ask(*objects, runs=[*past, ran("nightly-9", 90, "stopped", uid="of the same name, last week")])
    assert anew.start.low < 60 * 60
    assert again.start.low > 91 * 60
    assert other.start == anew.start
