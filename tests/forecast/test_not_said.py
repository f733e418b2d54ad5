"""What `when` does not claim: a start without nodes, without quota, after its own deadline, or beyond what
was looked at."""

import pytest

from reprieve.forecast import when
from reprieve.objects import Source
from reprieve.simulate import Job, ticks
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    owned_by,
    pod,
    priority_class,
    reserved,
    workload,
)

NOW = "2026-01-01T02:00:00Z"
EXPECTED = "reprieve.dev/expected-runtime"
QUEUES = [flavor(), cluster_queue("cq", 4), local_queue()]
TRAIN = "Job/default/train"


def running(name, cpu, expected):
    return pod(
        name,
        cpu,
        on="n",
        start="2026-01-01T01:00:00Z",
        annotations={EXPECTED: expected},
        restartPolicy="Never",
    )


def ask(*objects, target=TRAIN, **more):
    return when(objects, target, now=NOW, **more)


@pytest.mark.parametrize("others", [[], QUEUES])
def test_without_nodes_a_job_in_no_queue_is_not_said_to_start(others):
    found = ask(*others, job("train", 1))
    assert (found.outcome, found.start) == ("never", None)
    assert found.sentence == f"{TRAIN} does not start as things are: there is no node among the objects."


def test_without_nodes_quota_is_all_that_is_counted_and_the_answer_says_so():
    found = ask(*QUEUES, job("train", 1, queue="main"))
    assert found.outcome == "now"
    assert any("No node is among the objects" in each for each in found.assumptions)


def test_a_workload_waits_for_a_queue_that_is_not_there():
    found = ask(node("n", 4), workload("w", 1), target="Workload/default/w")
    assert found.outcome == "never"
    assert "LocalQueue main doesn't exist" in found.sentence


def test_quota_that_nobody_counts_is_told():
    found = ask(node("n", 4), job("train", 1, queue="main", suspend=False))
    assert found.outcome == "now"
    assert any("names the LocalQueue main; no ClusterQueue is among" in each for each in found.assumptions)


def test_a_suspended_job_in_a_queue_that_nobody_counts_is_no_stopped_job():
    """Whoever comes from Kueue writes `suspend: true`, which admission takes back; only the label and the
    queues say so, and the queues are not always at hand."""
    found = ask(node("n", 4), job("train", 1, queue="main", suspend=True))
    assert found.outcome == "now"
    assert any("names the LocalQueue main; no ClusterQueue is among" in each for each in found.assumptions)


def test_a_workload_that_is_not_active_is_told_why():
    waiting = workload("w", 1)
    waiting["spec"]["active"] = False
    found = ask(*QUEUES, node("n", 4), waiting, target="Workload/default/w")
    assert found.outcome == "never"
    assert "spec.active: false" in found.sentence


def test_a_job_of_which_a_part_never_starts_is_not_just_said_to_start():
    """'starts now: there is room for it' was all that a program or an assistant read of it."""
    two = job("train", 3)
    two["spec"] |= {"parallelism": 2, "completions": 2}
    found = ask(node("n", 4), two)
    assert (found.outcome, found.whole.median) == ("now", None)
    assert found.sentence.startswith(
        f"{TRAIN} starts now: there is room for it. Not all of its pods start within 30 days: 0/1 nodes are"
    )


def test_a_class_that_nobody_knows_is_told_next_to_the_guess():
    """`plan` refuses to answer; here it counted as 0 in silence."""
    urgent = job("train", 1)
    urgent["spec"]["template"]["spec"]["priorityClassName"] = "high"
    told = "Note: priority classes that are not among the objects count as priority 0: high."
    assert told in ask(node("n", 4), urgent).notes
    assert told not in ask(node("n", 4), urgent, priority_class("high", 9)).notes
    urgent["spec"]["template"]["spec"]["priorityClassName"] = "system-node-critical"
    assert not any("priority classes" in each for each in ask(node("n", 4), urgent).notes)


def test_beyond_the_horizon_nothing_is_said_to_be_impossible():
    busy = [node("n", 4), running("a", 4, "100h"), job("train", 2)]
    assert ask(*busy, horizon=3600.0).sentence.startswith(
        f"{TRAIN} does not start within 60 min, as far as was looked ahead: 0/1 nodes are available"
    )
    assert ask(*busy).outcome == "later"
    assert ask(node("n", 1), job("train", 2)).sentence.startswith(f"{TRAIN} does not start as things are: ")


def test_who_has_outrun_its_own_announcement_is_told_apart():
    found = ask(node("n", 4), running("a", 4, "30m"), job("train", 2))
    assert (found.outcome, found.unknown) == ("unknown", ("Pod/default/a",))
    assert found.sentence.endswith("Pod/default/a had announced less than it has run by now.")
    silent = pod("a", 4, on="n", restartPolicy="Never")
    assert "announced less" not in ask(node("n", 4), silent, job("train", 2)).sentence


# --- its own deadline ---------------------------------------------------------------------------------------


def test_a_job_whose_deadline_is_over_before_there_is_a_place_never_starts():
    busy = [node("n", 4), running("a", 4, "2h")]
    found = ask(*busy, job("train", 2, activeDeadlineSeconds=600))
    assert (found.outcome, found.share, found.start) == ("never", 0, None)
    assert "its time limit of 10 min" in found.sentence
    assert ask(*busy, job("train", 2, activeDeadlineSeconds=3600)).outcome == "never"
    assert ask(*busy, job("train", 2, activeDeadlineSeconds=3601)).outcome == "later"


def test_the_deadline_counts_from_the_start_of_the_job_not_of_its_pods():
    seen = {**job("train", 2, activeDeadlineSeconds=5400), "status": {"startTime": "2026-01-01T01:00:00Z"}}
    assert ask(node("n", 4), running("a", 4, "2h"), seen).outcome == "never"


def test_the_deadline_of_a_pod_does_not_count_while_it_waits():
    waiting = pod("w", 2, activeDeadlineSeconds=600, restartPolicy="Never")
    assert ask(node("n", 4), running("a", 4, "2h"), waiting, target="Pod/default/w").outcome == "later"


def test_the_deadline_of_a_job_in_a_queue_counts_from_its_quota():
    holding = reserved(workload("w0", 3, maximumExecutionTimeSeconds=3600))
    found = ask(*QUEUES, node("n", 4), holding, job("train", 3, queue="main", activeDeadlineSeconds=600))
    assert (found.outcome, found.start.median) == ("later", 3600)


def test_the_deadline_of_a_cron_job_is_that_of_the_jobs_it_makes():
    template = {"spec": job("x", 2, activeDeadlineSeconds=600)["spec"]}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"schedule": "0 2 * * *", "jobTemplate": template},
    }
    found = ask(node("n", 4), running("a", 4, "2h"), cron, target="CronJob/default/train")
    assert (found.outcome, "its time limit of 10 min" in found.sentence) == ("never", True)


def test_a_run_that_is_longer_than_its_limit_is_told():
    found = ask(node("n", 4), job("train", 2, activeDeadlineSeconds=600, annotations={EXPECTED: "2h"}))
    said = f"{TRAIN} announces that it runs for 2 h, and its time limit stops it after 10 min."
    assert (found.outcome, said in found.assumptions) == ("now", True)


def test_the_deadline_of_a_job_that_runs_counts_from_the_start_of_the_job():
    """Its pods found a place half an hour after it was there."""
    seen = {**job("long", 4, activeDeadlineSeconds=7200), "status": {"startTime": "2026-01-01T00:30:00Z"}}
    held = running("long-x", 4, "9h")
    held["metadata"]["ownerReferences"] = [owned_by("Job", "long")]
    found = ask(node("n", 4), seen, held, job("train", 2))
    assert (found.outcome, found.start.median) == ("later", 1800)


def rows(outcome, *minutes):
    """Of a trace."""
    return [
        Job(name=f"{outcome}-{number}", submit=0, duration=ticks(60 * number), outcome=outcome)
        for number in minutes
    ]


@pytest.mark.parametrize("outcome", ["failed", "Failed", "cancelled", "killing", "running"])
def test_rows_of_a_trace_that_did_not_come_to_their_end_say_nothing_of_run_times(outcome):
    objects = [node("n", 4), running("a", 4, "1m"), pod("w", 4)]
    past = rows(outcome, 61, 62, 63, 64, 65)
    found = ask(*objects, target="Pod/default/w", history=past)
    assert found.outcome == "unknown"
    ended = rows("completed", 120, 130, 140, 150)
    both = ask(*objects, target="Pod/default/w", history=[*past, *ended])
    assert both.start == ask(*objects, target="Pod/default/w", history=ended).start
    note = "Note: 5 rows of the history do not count: those jobs failed, or were stopped before their end."
    assert note in found.notes
    assert note in both.notes


def test_fields_that_nobody_reads_are_told():
    """The limit that somebody meant would have been an answer."""
    busy = running("a", 4, "1m")
    busy["spec"]["activeDeadlineSecond"] = 7200
    objects = [
        Source("w.yaml", str(at), each) for at, each in enumerate([node("n", 4), busy, pod("w", 4)], 1)
    ]
    (note,) = ask(*objects, target="Pod/default/w").notes
    assert note.startswith("Warning: fields that nobody reads: w.yaml:2: spec.activeDeadlineSecond")
