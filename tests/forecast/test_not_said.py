"""What `when` does not claim: a start without nodes, without quota, after its own deadline, or beyond what
was looked at."""

import pytest

import reprieve
from reprieve.forecast import HORIZON, sentences, when
from reprieve.objects import InvalidObject, Reference, Source
from reprieve.simulate import Job, ticks
from reprieve.whatif import does_not_start
from reprieve.whatif import sentences as whatif
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
JOB = Reference("Job", "default", "train")
TRAIN = str(JOB)


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
    assert found.sentence == does_not_start(JOB, sentences.NO_NODE)


def test_without_nodes_quota_is_all_that_is_counted_and_the_answer_says_so():
    found = ask(*QUEUES, job("train", 1, queue="main"))
    assert found.outcome == "now"
    assert sentences.NO_NODES in found.assumptions


def test_a_workload_waits_for_a_queue_that_is_not_there():
    found = ask(node("n", 4), workload("w", 1), target="Workload/default/w")
    assert found.outcome == "never"
    assert "LocalQueue main doesn't exist" in found.sentence


def test_quota_that_nobody_counts_is_told():
    found = ask(node("n", 4), job("train", 1, queue="main", suspend=False))
    assert found.outcome == "now"
    assert sentences.no_queues(JOB, "main") in found.assumptions


def test_a_suspended_job_in_a_queue_that_nobody_counts_is_no_stopped_job():
    """Whoever comes from Kueue writes `suspend: true`, which admission takes back; only the label and the
    queues say so, and the queues are not always at hand."""
    found = ask(node("n", 4), job("train", 1, queue="main", suspend=True))
    assert found.outcome == "now"
    assert sentences.no_queues(JOB, "main") in found.assumptions


def test_a_workload_that_is_not_active_is_told_why():
    waiting = workload("w", 1)
    waiting["spec"]["active"] = False
    found = ask(*QUEUES, node("n", 4), waiting, target="Workload/default/w")
    assert found.outcome == "never"
    said = does_not_start(Reference("Workload", "default", "w"), sentences.INACTIVE)
    assert found.sentence == said


def test_a_job_of_which_a_part_never_starts_is_not_just_said_to_start():
    """'starts now: there is room for it' was all that a program or an assistant read of it."""
    two = job("train", 3)
    two["spec"] |= {"parallelism": 2, "completions": 2}
    found = ask(node("n", 4), two)
    assert (found.outcome, found.whole.median, found.starts) == ("partly", None, False)
    now, rest = sentences.starts_in_part(JOB, 1, 2, []), sentences.not_whole(HORIZON, "0/1 nodes are")
    assert found.sentence.startswith(f"{now} {rest}")


def test_an_unknown_class_of_another_pod_is_noted():
    other = pod("other", 1, priorityClassName="high")
    told = whatif.priority_classes_are_missing(["high"])
    assert told in ask(node("n", 4), other, job("train", 1)).notes
    assert told not in ask(node("n", 4), other, job("train", 1), priority_class("high", 9)).notes
    other["spec"]["priorityClassName"] = "system-node-critical"
    assert not ask(node("n", 4), other, job("train", 1)).notes


def test_an_unknown_class_of_the_target_is_asked_for_as_a_plan_asks_for_it():
    """It counted as priority 0, next to a note; `plan` refused to answer."""
    urgent = job("train", 1)
    urgent["spec"]["template"]["spec"]["priorityClassName"] = "high"
    given = [node("n", 4), urgent]
    with pytest.raises(InvalidObject) as planned:
        reprieve.plan(given, "Job/default/train")
    with pytest.raises(InvalidObject) as asked:
        ask(*given)
    assert str(asked.value) == str(planned.value)
    assert asked.value.path == "spec.template.spec.priorityClassName"
    assert ask(*given, priority_class("high", 9)).outcome == "now"


def test_beyond_the_horizon_nothing_is_said_to_be_impossible():
    busy = [node("n", 4), running("a", 4, "100h"), job("train", 2)]
    found = ask(*busy, horizon=3600.0)
    assert found.sentence == sentences.not_within_horizon(JOB, 3600, found.reasons[0])
    assert found.reasons[0].startswith("0/1 nodes are available")
    assert ask(*busy).outcome == "later"
    found = ask(node("n", 1), job("train", 2))
    assert found.sentence == does_not_start(JOB, found.reasons[0])


def test_who_has_outrun_its_own_announcement_is_told_apart():
    found = ask(node("n", 4), running("a", 4, "30m"), job("train", 2))
    assert (found.outcome, found.unknown) == ("unknown", ("Pod/default/a",))
    assert found.sentence == sentences.run_times_missing(JOB, found.unknown, ["Pod/default/a"])
    silent = ask(node("n", 4), pod("a", 4, on="n", restartPolicy="Never"), job("train", 2))
    assert silent.sentence == sentences.run_times_missing(JOB, silent.unknown)


# --- its own deadline ---------------------------------------------------------------------------------------


def test_a_job_whose_deadline_is_over_before_there_is_a_place_never_starts():
    busy = [node("n", 4), running("a", 4, "2h")]
    found = ask(*busy, job("train", 2, activeDeadlineSeconds=600))
    assert (found.outcome, found.share, found.start) == ("never", 0, None)
    assert found.sentence == does_not_start(JOB, sentences.given_up(600))
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
    said = does_not_start(Reference("CronJob", "default", "train"), sentences.given_up(600))
    assert (found.outcome, found.sentence) == ("never", said)


def test_a_run_that_is_longer_than_its_limit_is_told():
    found = ask(node("n", 4), job("train", 2, activeDeadlineSeconds=600, annotations={EXPECTED: "2h"}))
    said = sentences.cut_short(JOB, 7200, 600)
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
    note = sentences.history_rows_left_out(5)
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
    assert note.startswith(whatif.fields_nobody_reads(["w.yaml:2: spec.activeDeadlineSecond"]))
