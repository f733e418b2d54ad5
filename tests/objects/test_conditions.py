"""One of each type, and a transition time that moves only with the status, typed and raw."""

from datetime import UTC, datetime, timedelta
from typing import Any

from reprieve.objects import (
    Conditions,
    condition_of,
    find_condition,
    has_condition,
    put_condition,
    set_condition,
    with_condition,
)

NOW = datetime(2026, 11, 15, 21, 0, 0, 5, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def test_raw_the_transition_time_moves_only_with_the_status() -> None:
    old = {"type": "X", "status": "False", "reason": "A", "message": "", "lastTransitionTime": "old"}
    status: dict[str, Any] = {"conditions": [{"type": "W"}, old]}
    wanted = {"type": "X", "status": "False", "reason": "B", "message": "", "observedGeneration": 1}
    assert put_condition(status, "new", **wanted)
    assert status["conditions"][1]["lastTransitionTime"] == "old"
    assert not put_condition(status, "newer", **wanted)
    assert put_condition(status, "newest", **{**wanted, "status": "True"})
    assert status["conditions"] == [
        {"type": "W"},
        {**wanted, "status": "True", "lastTransitionTime": "newest"},
    ]


def test_raw_a_new_generation_is_recorded_and_no_reason_to_write() -> None:
    document: dict[str, Any] = {"metadata": {"generation": 1}}
    assert set_condition(document, "X", True, "R", "m", NOW)
    document["metadata"]["generation"] = 2
    assert not set_condition(document, "X", True, "R", "m", LATER)
    assert document["status"]["conditions"] == [
        {
            "type": "X",
            "status": "True",
            "reason": "R",
            "message": "m",
            "observedGeneration": 2,
            "lastTransitionTime": "2026-11-15T21:00:00Z",
        }
    ]


def test_raw_a_condition_without_a_reason_keeps_none_of_the_one_before() -> None:
    status: dict[str, Any] = {}
    put_condition(status, "old", type="PodScheduled", status="False", reason="Unschedulable")
    put_condition(status, "new", type="PodScheduled", status="True")
    assert status["conditions"] == [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "new"}]


def test_typed_conditions_keep_their_order_and_their_time() -> None:
    conditions: Conditions = ()
    for type in ("A", "B"):
        conditions = with_condition(conditions, type, True, "R", "m", NOW, 1)
    conditions = with_condition(conditions, "A", True, "S", "m" * 40_000, LATER, 2)
    first = conditions[0]
    assert [each.type for each in conditions] == ["A", "B"]
    assert (first.last_transition_time, first.reason, first.observed_generation) == (NOW, "S", 2)
    assert len(first.message) == 32 * 1024
    changed = find_condition(with_condition(conditions, "A", False, "S", "", LATER), "A")
    assert changed is not None
    assert changed.last_transition_time == LATER


def test_raw_conditions_are_found_in_documents_of_any_shape() -> None:
    ready = {"type": "Ready", "status": "True"}
    document: dict[str, Any] = {"status": {"conditions": ["odd", {"type": "Other"}, ready]}}
    assert condition_of(document, "Ready") == ready
    assert has_condition(document, "Ready")
    assert not has_condition(document, "Other")
    odd: list[Any] = [None, {}, {"status": "odd"}, {"status": {"conditions": 5}}]
    assert [condition_of(each, "Ready") for each in odd] == [{}, {}, {}, {}]
