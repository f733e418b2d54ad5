"""What the controllers note of runs that are over: how long they took, and how they ended."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from reprieve.config import Configuration
from reprieve.controllers.quota.reporting import Reporter
from reprieve.controllers.scheduler.runs import run_of
from reprieve.kube import Change
from reprieve.objects import Condition, OwnerReference
from reprieve.quota import Quota, Rules
from reprieve.records import DecisionLog
from tests.builders import owned_by, pod, terminating, view, workload

START = datetime(2026, 1, 1, 1, tzinfo=UTC)
END = START + timedelta(minutes=90)


def running(**more):
    owner = {"ownerReferences": [owned_by("Job", "train", "job-uid")]}
    labels = {"kueue.x-k8s.io/queue-name": "research"}
    return pod(
        "train-x", 1, on="n", start="2026-01-01T01:00:00Z", metadata=owner, labels=labels,
        **{"restartPolicy": "Never", **more},
    )  # fmt: skip


def with_phase(document, phase):
    return {**document, "status": {**document["status"], "phase": phase}}


def noted(old, new, type="MODIFIED"):
    return run_of(Change(type, None if old is None else view(old), view(new)), END.timestamp())


@pytest.mark.parametrize(("phase", "end"), [("Succeeded", "ended"), ("Failed", "failed")])
def test_a_pod_that_ends_counts_for_the_job_that_made_it(phase, end):
    run = noted(running(), with_phase(running(), phase))
    assert (run.ran, run.uid, run.queue) == ("Job/default/train", "job-uid", "research")
    assert (run.seconds, run.end, run.time) == (5400, end, END)


def test_a_pod_that_nothing_made_counts_for_itself():
    alone = pod("p", 1, on="n", start="2026-01-01T01:00:00Z", restartPolicy="OnFailure")
    assert noted(alone, with_phase(alone, "Succeeded")).ran == "Pod/default/p"


def test_an_evicted_pod_was_stopped_however_it_went():
    assert noted(running(), running(), "DELETED").end == "stopped"
    assert noted(terminating(running()), with_phase(terminating(running()), "Failed")).end == "stopped"


def test_a_run_is_noted_once_and_nothing_else_is_a_run():
    over = with_phase(running(), "Succeeded")
    assert noted(over, over, "DELETED") is None
    assert noted(None, running(), "ADDED") is None
    assert noted(running(), running()) is None
    service = running(restartPolicy="Always")
    assert noted(service, service, "DELETED") is None
    waiting = pod("w", 1, restartPolicy="Never")
    assert noted(waiting, waiting, "DELETED") is None


def test_a_workload_that_has_finished_counts_for_its_owner():
    log = DecisionLog()
    reporter = Reporter(Quota(Rules.of(Configuration())), log, CollectorRegistry(), lambda: END)
    admitted = Condition(type="Admitted", status="True", last_transition_time=START)
    made = view(workload("w", 1))
    owner = OwnerReference(kind="RayJob", name="train", uid="u", controller=True)
    before = replace(
        made,
        metadata=replace(made.metadata, owner_references=(owner,)),
        status=replace(made.status, conditions=(admitted,)),
    )
    over = Condition(type="Finished", status="True", reason="Succeeded", last_transition_time=END)
    after = replace(before, status=replace(before.status, conditions=(admitted, over)))
    reporter.followed_up(before, before)
    assert not log.runs
    reporter.followed_up(before, after)
    reporter.followed_up(after, after)
    (run,) = log.runs
    assert (run.ran, run.seconds, run.end, run.queue) == ("RayJob/default/train", 5400, "ended", "main")
