"""What `when` answers: one situation after the other, in numbers and in sentences."""

import re
from datetime import UTC, datetime

import pytest

import reprieve
from reprieve.forecast import HORIZON, Span, sentences, when, when_all
from reprieve.jobs import sentences as jobs
from reprieve.objects import InvalidObject, Reference, ReprieveError
from reprieve.records import Run
from reprieve.whatif import does_not_start
from reprieve.whatif import sentences as whatif
from tests import builders
from tests.builders import (
    cluster_queue,
    document,
    flavor,
    gang,
    job,
    local_queue,
    node,
    pod,
    reserved,
    workload,
)

NOW = "2026-01-01T02:00:00Z"
EXPECTED = "reprieve.dev/expected-runtime"
W = Reference("Pod", "default", "w")


def certainly(seconds, at, *, latest=False):
    span = Span(median=seconds, low=seconds, high=seconds, at=at)
    return sentences.when_it_starts(W, span, certain=True, horizon=HORIZON, latest=latest)


def running(name, cpu, expected="", *, start="2026-01-01T01:00:00Z", owner="", on="n", **more):
    notes = {EXPECTED: expected} if expected else {}
    metadata = {"ownerReferences": [builders.owned_by("Job", owner)]} if owner else None
    more = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, **more}
    return pod(name, cpu, on=on, annotations=notes, metadata=metadata, start=start, **more)


def ended(name, minutes, **more):
    end = f"2025-12-31T{minutes // 60:02d}:{minutes % 60:02d}:00Z"
    over = [{"type": "Complete", "status": "True"}]
    status = {"startTime": "2025-12-31T00:00:00Z", "completionTime": end, "conditions": over}
    return {**job(name, **more), "status": status}


def ask(*objects, target="Pod/default/w", **more):
    return when(objects, target, now=NOW, **more)


def minutes(span):
    return None if span.median is None else span.median / 60


# --- on nodes -----------------------------------------------------------------------------------------------


def test_it_starts_when_enough_has_ended():
    found = ask(node("n", 4), running("a", 2, "90m"), running("b", 2, "3h"), pod("w", 2))
    assert (found.outcome, minutes(found.start), found.certain, found.futures) == ("later", 30, True, 1)
    assert found.sentence == certainly(1800, "2026-01-01T02:30:00Z")
    assert [each.name for each in found.waits_for] == ["Pod/default/a"]


def test_who_waits_for_an_end_is_not_told_that_there_is_room_however_soon_that_is():
    found = ask(node("n", 4), running("a", 4, "3630s"), pod("w", 2))
    assert (found.outcome, found.start.median) == ("later", 30)
    assert found.sentence == certainly(30, "2026-01-01T02:00:30Z")


def test_with_a_time_limit_on_the_way_it_is_the_latest_whoever_else_is_before_it():
    limited = running("a", 4, activeDeadlineSeconds=5400, priority=100)
    found = ask(node("n", 4), limited, pod("first", 4, 10, annotations={EXPECTED: "1h"}), pod("w", 2))
    assert found.sentence == certainly(5400, "2026-01-01T03:30:00Z", latest=True)


def test_those_before_it_are_named_and_run_their_time():
    first = pod("first", 4, 10, annotations={EXPECTED: "1h"})
    found = ask(node("n", 4), running("a", 4, "90m", priority=100), first, pod("w", 2))
    assert minutes(found.start) == 30 + 60
    assert [(each.name, each.share, each.run_time) for each in found.before] == [
        ("Pod/default/first", 1.0, "announced")
    ]


def test_it_starts_now_where_there_is_room():
    found = ask(node("n", 4), running("a", 2), pod("w", 2))
    assert (found.outcome, found.sentence) == ("now", sentences.starts_now(W, []))
    assert found.victims == ()


def test_it_starts_now_if_others_make_way():
    found = ask(node("n", 4), running("a", 2), running("b", 2), pod("w", 3, 100))
    assert (found.outcome, found.victims) == ("now", ("Pod/default/a", "Pod/default/b"))
    assert found.sentence == sentences.starts_now(W, found.victims)


def test_who_makes_way_may_take_its_grace_period():
    found = ask(node("n", 4), running("a", 4, terminationGracePeriodSeconds=600), pod("w", 3, 100))
    assert (found.outcome, minutes(found.start), found.victims) == ("later", 10, ("Pod/default/a",))


def test_it_runs_already():
    found = ask(node("n", 4), running("w", 2))
    assert (found.outcome, found.certain) == ("runs", True)
    assert found.sentence == sentences.runs_already(W, datetime(2026, 1, 1, 1, tzinfo=UTC))


def test_without_a_run_time_it_cannot_be_said_and_the_answer_says_whose_is_missing():
    found = ask(node("n", 4), running("a", 2), running("b", 2, "3h"), pod("w", 3))
    assert (found.outcome, found.unknown, found.start) == ("unknown", ("Pod/default/a",), None)
    assert found.sentence == sentences.run_times_missing(W, ["Pod/default/a"])


def test_a_missing_run_time_that_does_not_matter_is_no_hindrance():
    found = ask(node("n", 4), running("a", 2), running("b", 2, "3h"), pod("w", 2))
    assert (found.outcome, minutes(found.start)) == ("later", 120)
    assert found.unknown == ("Pod/default/a",)
    assert sentences.taken_to_run_on(1) in found.assumptions


def test_what_never_fits_never_starts_whoever_ends():
    found = ask(node("n", 4), running("a", 2), pod("w", 9))
    assert found.outcome == "never"
    assert found.sentence == does_not_start(W, found.reasons[0])
    assert "Insufficient cpu" in found.reasons[0]


def test_a_service_does_not_end():
    found = ask(node("n", 4), running("a", 4, restartPolicy="Always"), pod("w", 2))
    assert (found.outcome, found.unknown) == ("never", ())


def test_beyond_the_horizon_it_is_not_said():
    found = ask(node("n", 4), running("a", 4, "100h"), pod("w", 2), horizon=3600.0)
    assert found.outcome == "never"


def test_a_gate_is_told():
    found = ask(node("n", 4), pod("w", 2, schedulingGates=[{"name": "example.com/wait"}]))
    assert found.outcome == "never"
    assert found.sentence == does_not_start(W, found.reasons[0])
    assert "example.com/wait" in found.reasons[0]


def test_what_is_on_its_way_out_leaves_when_it_must():
    leaving = builders.terminating(running("a", 4), since="2026-01-01T02:10:00Z")
    assert minutes(ask(node("n", 4), leaving, pod("w", 2)).start) == 10


# --- jobs and gangs -----------------------------------------------------------------------------------------


def test_a_job_without_pods_is_expanded():
    found = ask(
        node("n", 4), running("a", 2, "90m"), running("b", 2, "3h"), job("train", 2, count=2),
        target="Job/default/train",
    )  # fmt: skip
    assert (minutes(found.start), minutes(found.whole)) == (30, 120)


def test_a_gang_starts_as_one():
    found = ask(
        node("n", 4), running("a", 2, "90m"), running("b", 2, "3h"), *gang(2),
        target="PodGroup/default/gang",
    )  # fmt: skip
    assert (minutes(found.start), found.whole) == (120, None)


def test_a_suspended_job_without_a_queue_is_started_by_nobody():
    found = ask(node("n", 4), job("train", 1, suspend=True), target="Job/default/train")
    assert found.outcome == "never"
    said = does_not_start(Reference("Job", "default", "train"), jobs.is_suspended("spec.suspend"))
    assert found.sentence == said


def test_a_deadline_is_the_latest_moment():
    batch = job("long", 4, activeDeadlineSeconds=7200)
    found = ask(node("n", 4), batch, running("long-x", 4, owner="long"), pod("w", 2))
    assert minutes(found.start) == 60
    assert found.sentence == certainly(3600, "2026-01-01T03:00:00Z", latest=True)
    assert sentences.run_until_limit(1) in found.assumptions


def test_the_deadline_of_a_pod_counts_from_its_start():
    assert minutes(ask(node("n", 4), running("a", 4, activeDeadlineSeconds=5400), pod("w", 2)).start) == 30


def test_earlier_runs_give_an_interval():
    past = [ended(f"nightly-{number}", length) for number, length in enumerate(range(40, 120, 8))]
    now_running = running("nightly-99-x", 4, owner="nightly-99")
    found = ask(node("n", 4), *past, now_running, pod("w", 2))
    assert (found.outcome, found.certain, found.futures) == ("later", False, 200)
    assert found.start.low < found.start.median < found.start.high
    assert found.start.low > 0
    assert found.start.high > (112 - 60) * 60 * 0.8
    said = sentences.when_it_starts(W, found.start, certain=False, horizon=HORIZON, latest=False)
    assert found.sentence == said
    assert found.waits_for[0].run_time == "history"


def test_the_same_seed_gives_the_same_answer_and_another_another():
    past = [ended(f"nightly-{number}", length) for number, length in enumerate(range(40, 120, 8))]
    objects = (node("n", 4), *past, running("nightly-99-x", 4, owner="nightly-99"), pod("w", 2))
    assert ask(*objects) == ask(*objects)
    assert ask(*objects, seed=1).start != ask(*objects).start


def test_an_uncertain_run_time_that_does_not_matter_leaves_the_answer_certain():
    past = [ended(f"nightly-{number}", length) for number, length in enumerate(range(40, 120, 8))]
    found = ask(node("n", 8), *past, running("nightly-99-x", 4, owner="nightly-99"), pod("w", 2))
    assert (found.outcome, found.futures) == ("now", 1)


# --- quota --------------------------------------------------------------------------------------------------

QUEUES = (flavor(), cluster_queue("cq", 4), local_queue())


def holding(name="w0", cpu=3, **more):
    return reserved(workload(name, cpu, **more))


def test_a_workload_waits_for_quota():
    found = ask(
        *QUEUES, holding(maximumExecutionTimeSeconds=3600), workload("w1", 2), target="Workload/default/w1"
    )
    assert (found.outcome, minutes(found.start), minutes(found.quota)) == ("later", 60, 60)


def test_a_job_in_a_queue_gets_its_workload():
    found = ask(
        *QUEUES, holding(maximumExecutionTimeSeconds=3600), job("train", 2, queue="main"),
        target="Job/default/train",
    )  # fmt: skip
    assert minutes(found.start) == 60


def test_quota_and_then_a_place():
    found = ask(
        node("n", 4), running("a", 4, "3h"), *QUEUES, holding(maximumExecutionTimeSeconds=3600),
        job("train", 2, queue="main"), target="Job/default/train",
    )  # fmt: skip
    assert (minutes(found.quota), minutes(found.start)) == (60, 120)


def test_pods_go_to_the_nodes_of_their_flavor():
    team = (flavor(nodeLabels={"pool": "a"}), *QUEUES[1:])
    nodes = [node("n", 4, labels={"pool": "a"}), node("m", 4, labels={"pool": "b"})]
    found = ask(
        *nodes, running("a", 4, "2h"), *team, job("train", 2, queue="main"), target="Job/default/train"
    )
    assert (minutes(found.quota), minutes(found.start)) == (0, 60)


def test_quota_is_taken_from_lower_priority():
    team = (
        flavor(), cluster_queue("cq", 4, preemption={"withinClusterQueue": "LowerPriority"}), local_queue()
    )  # fmt: skip
    found = ask(*team, holding(), workload("w1", 2, 100), target="Workload/default/w1")
    assert (found.outcome, found.victims) == ("now", ("Workload/default/w0",))


def test_a_queue_that_does_not_exist_is_told():
    found = ask(*QUEUES, workload("w1", 2, queue="other"), target="Workload/default/w1")
    assert found.outcome == "never"
    assert "LocalQueue other doesn't exist" in found.sentence


@pytest.mark.parametrize(
    ("queue", "why"),
    [
        (cluster_queue("cq", 4, stopPolicy="Hold"), "is stopped"),
        (cluster_queue("cq", 4, flavors=("missing",)), "references missing ResourceFlavor(s): missing"),
    ],
)
def test_a_queue_that_admits_nothing_is_told(queue, why):
    found = ask(flavor(), queue, local_queue(), job("j", 2, queue="main"), target="Job/default/j")
    assert found.outcome == "never"
    assert f"Can't admit new workloads: {why}" in found.sentence


def test_finished_workloads_are_history():
    def over(number, length):
        conditions = [
            {"type": "Admitted", "status": "True", "lastTransitionTime": "2025-12-31T00:00:00Z"},
            {"type": "Finished", "status": "True", "lastTransitionTime": f"2025-12-31T{length:02d}:00:00Z"},
        ]
        return {**workload(f"old-{number}", 1), "status": {"conditions": conditions}}

    past = [over(number, length) for number, length in enumerate((2, 3, 5, 7, 11))]
    found = ask(*QUEUES, *past, holding("old-9"), workload("w1", 2), target="Workload/default/w1")
    assert (found.outcome, found.certain) == ("later", False)


# --- the question itself ------------------------------------------------------------------------------------


def test_several_targets_share_their_futures():
    objects = [node("n", 4), running("a", 4, "90m"), pod("w", 2), pod("v", 2)]
    targets = [Reference("Pod", "default", name) for name in ("w", "v")]
    assert [minutes(each.start) for each in when_all(objects, targets, now=NOW)] == [30, 30]


def test_what_is_not_there_cannot_be_asked_about():
    said = sentences.is_not_there(Reference("Pod", "default", "trian"), ["train"])
    with pytest.raises(ReprieveError, match=f"^{re.escape(said)}$"):
        ask(node("n", 4), pod("train", 2), target="Pod/default/trian")


@pytest.mark.parametrize("target", ["Pod/default/nothing", "Job/default/in-rings", "Pod/other/in-rings"])
def test_something_else_is_not_meant_because_it_is_of_the_same_kind_or_place(target):
    said = sentences.is_not_there(Reference(*target.split("/")), [])
    with pytest.raises(ReprieveError, match=f"^{re.escape(said)}$"):
        ask(node("n", 4), pod("in-ring", 2), target=target)


def test_what_was_deleted_after_it_ran_is_told_apart_from_what_never_was():
    run = Run(ran="Job/default/train", time=datetime(2026, 1, 1, 1, tzinfo=UTC), seconds=60, end="ended")
    said = sentences.is_gone(Reference("Job", "default", "train"), run.time)
    with pytest.raises(ReprieveError, match=f"^{re.escape(said)}$"):
        ask(node("n", 4), target="Job/default/train", runs=[run])


OVER = {"conditions": [{"type": "Finished", "status": "True", "lastTransitionTime": "2026-01-01T01:00:00Z"}]}


@pytest.mark.parametrize(
    ("objects", "target", "how"),
    [
        (
            [ended("old", 60)],
            "Job/default/old",
            sentences.ended_at("Complete", datetime(2025, 12, 31, 1, tzinfo=UTC)),
        ),
        ([pod("old", on="n", status={"phase": "Failed"})], "Pod/default/old", "Failed"),
        (
            [{**workload("old"), "status": OVER}],
            "Workload/default/old",
            sentences.ended_at("Finished", datetime(2026, 1, 1, 1, tzinfo=UTC)),
        ),
    ],
)
def test_what_has_ended_does_not_start_again(objects, target, how):
    found = ask(node("n", 4), *objects, target=target)
    said = does_not_start(Reference(*target.split("/")), sentences.has_ended(how))
    assert (found.outcome, found.sentence) == ("never", said)


def test_a_cron_job_is_answered_for_as_if_it_were_due_now():
    spec = {"schedule": "0 3 * * *", "jobTemplate": job("x", 2)}
    cron = document("CronJob", "nightly", "default", spec=spec) | {"apiVersion": "batch/v1"}
    assert ask(node("n", 4), cron, target="CronJob/default/nightly").outcome == "now"
    found = ask(node("n", 4), running("a", 4, "90m"), cron, target="CronJob/default/nightly")
    assert (found.outcome, minutes(found.start)) == ("later", 30)


def test_pods_of_another_scheduler_are_said_to_be_placed_as_by_this_one():
    other = whatif.other_scheduler("someone-else")
    assert other in ask(node("n", 4), pod("w", 2, schedulerName="someone-else")).notes
    assert other not in ask(node("n", 4), pod("w", 2, schedulerName="default-scheduler")).notes
    assert len(ask(node("n", 4), pod("w", 2)).assumptions) == 2


@pytest.mark.parametrize("text", ["soon", "-5m", "1h\x1b[2J", "9" * 5000 + "h", "1h" * 500])
def test_a_run_time_that_is_none_is_not_used_and_takes_nobodys_answer_away(text):
    """Anybody may write it on a pod of his own, and everybody's questions read it."""
    a, b = running("a", 2, text), running("b", 2, "90m")
    found = ask(node("n", 4), a, b, pod("w", 2))
    assert (found.outcome, minutes(found.start)) == ("later", 30)
    (note,) = found.notes
    assert note.startswith(sentences.announcement_not_used(["Pod/default/a"], "").removesuffix("."))
    assert len(note) < 300
    assert note.isprintable()
    found = ask(node("n", 4), running("a", 4, text), pod("w", 2))
    assert (found.outcome, found.unknown) == ("unknown", ("Pod/default/a",))
    assert found.notes == (note,)


def test_a_job_whose_pods_would_have_the_names_of_others_is_refused():
    said = sentences.made_by_somebody_else(Reference("Pod", "default", "train-0"))
    with pytest.raises(InvalidObject, match=re.escape(said)):
        ask(node("n", 4), pod("train-0", 2), job("train", 2), target="Job/default/train")


def test_what_is_not_used_is_told():
    found = ask(node("n", 4), pod("w", 2), document("ConfigMap", "c", "default", data={}))
    assert found.notes == (whatif.ignored_objects(found.ignored),)
    assert [(each.kind, each.count) for each in found.ignored] == [("ConfigMap", 1)]


def test_the_library_has_it():
    assert reprieve.when([node("n", 4), pod("w", 2)], "Pod/default/w", now=NOW).outcome == "now"
    assert reprieve.Forecast is type(ask(node("n", 4), pod("w", 2)))


def test_of_a_gang_only_the_pods_that_the_plan_evicts_make_way():
    names = ("nodes", "running", "gang")
    documents = [d for name in names for d in reprieve.read_documents(f"examples/01-first-plan/{name}.yaml")]
    found = when(documents, "PodGroup/ml/train", now=NOW)
    plan = reprieve.plan(documents, "PodGroup/ml/train", now=NOW)
    assert isinstance(plan, reprieve.Plan)
    assert set(found.victims) == {f"Pod/{each.pod}" for each in plan.victims}
    assert len(found.victims) == len(plan.victims) > 0


def test_a_workload_that_asks_for_more_pods_than_there_could_be_is_answered():
    """Anybody who may create a Workload writes this number, and everybody's questions read it."""
    endless = workload("w0", 1, count=2**31 - 1)
    found = ask(*QUEUES, endless, workload("w1", 1), target="Workload/default/w1")
    assert found.outcome == "now"
