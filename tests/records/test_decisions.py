"""Decisions are kept, found again, survive a crash, and read as sentences."""

from datetime import UTC, datetime, timedelta

import pytest

from reprieve.records import Decision, DecisionLog

T0 = datetime(2026, 1, 1, tzinfo=UTC)


def decision(n=0, **fields):
    defaults = {
        "time": T0 + timedelta(seconds=n),
        "controller": "scheduler",
        "for_": f"Pod/ns/p{n}",
        "outcome": "scheduled",
    }
    return Decision(**{**defaults, **fields})


def victims(*names):
    return [
        {"pod": name, "node": "n1", "unit": f"Pod/{name}", "priority": 0, "reason": "lower"} for name in names
    ]


def test_the_newest_comes_first_and_the_oldest_leaves_the_ring():
    log = DecisionLog(capacity=3)
    for n in range(5):
        log.add(decision(n))
    assert [item["for"] for item in log.latest(2)] == ["Pod/ns/p4", "Pod/ns/p3"]
    assert log.get("1") is None
    newest = log.get("5")
    assert newest is not None
    assert newest["for"] == "Pod/ns/p4"
    assert len(log) == 3


def test_decisions_about_many_pods_leave_sooner(monkeypatch):
    monkeypatch.setattr("reprieve.records.log.HEAVIEST", 25)
    log = DecisionLog(capacity=100)
    for n in range(5):
        log.add(decision(n, outcome="preempts", victims=victims(*(f"dev/v{i}" for i in range(9)))))
    assert len(log) == 2
    assert log.victims == 45


def test_a_record_has_everything_that_was_known():
    log = DecisionLog()
    log.add(
        decision(
            outcome="preempts",
            revision="4711",
            duration_ms=1.5,
            placements={"ns/p0": "n1"},
            victims=victims("dev/a"),
            reasons=["no node had room"],
            cost={"pods": 1, "highestPriority": None},
            alternatives=[{"summary": "x"}],
        )
    )
    record = log.get("1")
    assert record is not None
    assert record["revision"] == "4711"
    assert record["durationMs"] == 1.5
    assert record["victims"][0]["pod"] == "dev/a"
    assert record["time"] == "2026-01-01T00:00:00Z"
    assert record["sentence"] == "Pod/ns/p0 gets 1 pod on n1; dev/a makes way."
    assert log.latest(1)[0]["victims"] == 1


def test_preemptions_and_victims_are_counted_once():
    log = DecisionLog()
    log.add(decision(outcome="preempts", victims=victims("a/x", "a/y")))
    log.add(decision(outcome="waits", victims=victims("a/x", "a/y")))
    log.add(decision())
    assert (log.preemptions, log.victims) == (1, 2)


def test_queries_combine():
    log = DecisionLog()
    log.add(decision(0, outcome="preempts", victims=victims("dev/a")))
    log.add(decision(1))
    log.add(decision(2, outcome="preempts", victims=victims("dev/b")))
    assert [d.for_ for d in log.find(victim="dev/a")] == ["Pod/ns/p0"]
    assert [d.for_ for d in log.find(outcome="preempts")] == ["Pod/ns/p2", "Pod/ns/p0"]
    assert [d.for_ for d in log.find(since=T0 + timedelta(seconds=1))] == ["Pod/ns/p2", "Pod/ns/p1"]
    assert [d.for_ for d in log.find(for_="Pod/ns/p1", controller="scheduler")] == ["Pod/ns/p1"]


def test_the_file_outlives_the_process_and_a_torn_last_line(tmp_path):
    path = tmp_path / "deep" / "decisions.jsonl"
    first = DecisionLog(path=path)
    first.add(decision(0))
    first.add(decision(1, cost={"highestPriority": None}))
    with path.open("ab") as file:
        file.write(b'{"id":"3","time":"2026-')  # killed in the middle of a write
    second = DecisionLog(path=path)
    assert [item["for"] for item in second.latest()] == ["Pod/ns/p1", "Pod/ns/p0"]
    second.add(decision(2))
    third = DecisionLog(path=path)
    assert [item["id"] for item in third.latest()] == ["3", "2", "1"]


def test_a_large_file_is_rotated_and_both_halves_are_read(tmp_path):
    path = tmp_path / "d.jsonl"
    log = DecisionLog(path=path, file_limit=500)
    for n in range(8):
        log.add(decision(n))
    assert path.with_name("d.jsonl.1").exists()
    assert DecisionLog(path=path).latest(1)[0]["for"] == "Pod/ns/p7"


def test_a_disk_that_fails_does_not_stop_the_work(tmp_path, caplog):
    log = DecisionLog(path=tmp_path / "d.jsonl")
    log.close()
    log._descriptor = -1
    log.add(decision())
    assert len(log) == 1
    assert "was not written" in caplog.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"placements": {"ns/a": "n1", "ns/b": "n2"}}, "Pod/ns/p0 fits: 2 pods on n1 and n2."),
        (
            {
                "outcome": "preempts",
                "placements": {"ns/a": "n1"},
                "victims": victims("x/1", "x/2", "x/3", "x/4"),
            },
            "Pod/ns/p0 gets 1 pod on n1; x/1, x/2, x/3 and 1 more victim make way.",
        ),
        (
            {"outcome": "preempts", "placements": {"ns/a": "n1"}},
            "Pod/ns/p0 gets 1 pod on n1, once those end that were asked to go before.",
        ),
        ({"outcome": "waits"}, "Pod/ns/p0 waits for its victims to end."),
        (
            {"outcome": "unschedulable", "reasons": ["0/3 nodes are available"]},
            "Pod/ns/p0 has no place, and nobody was touched: 0/3 nodes are available",
        ),
        (
            {"outcome": "gated", "reasons": ["waiting for 2 more pods"]},
            "Pod/ns/p0 is gated: waiting for 2 more pods",
        ),
    ],
)
def test_each_outcome_is_a_sentence(fields, words):
    assert DecisionLog().add(decision(**fields)).sentence == words
