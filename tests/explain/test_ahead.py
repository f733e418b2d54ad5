"""An explanation of what waits says when it starts, where that is sure; else who knows, or nothing."""

from datetime import UTC, datetime

import pytest

from reprieve.explain import Evidence, ahead, explain
from reprieve.explain.sentences import answers
from reprieve.forecast import HORIZON, Span
from reprieve.forecast import sentences as forecast
from reprieve.objects import Reference
from reprieve.records import Run
from tests.builders import composite, job, node, owned_by, pod

NOW = datetime(2026, 1, 1, 2, tzinfo=UTC)
W = Reference.parse("Pod/default/w")


def at(seconds: float, time: str) -> Span:
    return Span(median=seconds, low=seconds, high=seconds, at=time)


def running(name, cpu, expected="", owner=""):
    notes = {"reprieve.dev/expected-runtime": expected} if expected else {}
    metadata = {"ownerReferences": [owned_by("Job", owner)]} if owner else None
    start = "2026-01-01T01:00:00Z"
    return pod(name, cpu, on="n", annotations=notes, metadata=metadata, start=start, restartPolicy="Never")


def asked(*objects, target="pod/default/w", **more):
    return explain(target, Evidence(objects, **more), NOW, ahead=True)


def test_what_waits_for_an_announced_end_starts_then():
    answer = asked(node("n", 4), running("a", 4, "90m"), pod("w", 2))
    assert answer.when.outcome == "later"
    assert answer.when.start.median == 1800
    assert answer.when.sentence == forecast.when_it_starts(
        W, at(1800, "2026-01-01T02:30:00Z"), certain=True, horizon=HORIZON, latest=False
    )
    assert forecast.NOTHING_COMES in answer.when.assumptions
    assert answer.to_dict()["when"]["start"]["at"] == "2026-01-01T02:30:00Z"


def test_whoever_has_victims_starts_now():
    answer = asked(node("n", 4), running("a", 4), pod("w", 2, 10))
    assert (answer.when.outcome, answer.when.start) == ("now", None)
    assert answer.when.sentence == forecast.starts_now(W, ["Pod/default/a"])


def test_a_missing_run_time_is_named():
    answer = asked(node("n", 4), running("a", 4), pod("w", 2))
    assert (answer.when.outcome, answer.when.unknown) == ("unknown", ("Pod/default/a",))


def test_a_job_that_was_not_read_is_not_blamed():
    answer = asked(node("n", 4), running("a", 4, owner="train"), pod("w", 2))
    assert answer.when.outcome == "unsaid"
    assert answer.when.sentence == answers.ask_when_it_starts("Pod/default/w")


def test_runs_that_controllers_noted_are_its_history():
    past = [
        Run(ran=f"Job/default/train-{number}", time=NOW, seconds=60 * minutes, end="ended", uid=str(number))
        for number, minutes in enumerate(range(62, 162, 10))
    ]
    objects = (node("n", 4), running("a", 4, owner="train-99"), job("train-99"), pod("w", 2))
    assert asked(*objects).when.outcome == "unknown"
    found = asked(*objects, runs=past).when
    assert found.outcome == "later"
    assert 0 < found.start.low < found.start.median < found.start.high
    assert forecast.drawn_from_history(1, 200) in found.assumptions


def test_a_tree_of_groups_is_no_hindrance():
    answer = asked(node("n", 4), running("a", 4, "90m"), pod("w", 2), composite("tree", 1, 0))
    assert (answer.when.outcome, answer.when.start.median) == ("later", 1800)


@pytest.mark.parametrize(
    ("objects", "more"),
    [
        ([node("n", 1), pod("w", 2)], {}),  # it does not start as things are
        ([node("n", 4), running("a", 4, "90m"), pod("w", 2)], {"partial": True}),
        ([node("n", 4), running("w", 4, "90m")], {}),  # it runs
    ],
)
def test_nothing_is_said_where_nothing_is_sure(objects, more):
    answer = asked(*objects, **more)
    assert answer.when is None
    assert "when" not in answer.to_dict()


@pytest.mark.parametrize("limit", ["MOST_OBJECTS", "MOST_WORK"])
def test_of_a_large_cluster_the_command_is_named(limit, monkeypatch):
    ended = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": f"train-{number}", "namespace": "default"},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": []}}},
            "status": {
                "startTime": "2025-12-31T00:00:00Z",
                "completionTime": f"2025-12-31T0{number + 2}:00:00Z",
                "conditions": [{"type": "Complete", "status": "True"}],
            },
        }
        for number in range(4)
    ]
    objects = [node("n", 4), running("a", 4, owner="train-7"), pod("w", 2), *ended]
    assert asked(*objects).when.outcome == "later"
    monkeypatch.setattr(ahead, limit, 1)
    answer = asked(*objects)
    assert answer.when.sentence == answers.ask_when_it_starts("Pod/default/w")
