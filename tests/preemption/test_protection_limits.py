"""Blocking preemptions: an administrator limits how many units are protected, and how long."""

from typing import Any

import pytest

import reprieve
from tests.builders import priority_class
from tests.preemption.planning import node, pod, pod_group

ALGORITHMS = pytest.mark.parametrize("algorithm", ["kep-5710", "kubernetes", "minimal-cost"])
NOW = "2026-01-02T00:00:00Z"
SHIELD = {"reprieve.dev/preemption-priority-class": "shield"}


def protected(name: str, start: str) -> dict[str, Any]:
    return pod(name, "1", on="n", priority=1, start=start, annotations=SHIELD)


def plan(algorithm: str, objects: list[dict[str, Any]], **limits: Any) -> dict[str, Any]:
    config = {"preemption": {"algorithm": algorithm, **limits}}
    everything = [node("n", "2"), priority_class("shield", 1000), *objects, pod("want", "1", priority=100)]
    return reprieve.plan(everything, "Pod/a/want", now=NOW, config=config).to_dict()


def victims(answer: dict[str, Any]) -> list[str]:
    return [each["pod"] for each in answer["victims"]]


@ALGORITHMS
def test_without_limits_everybody_may_be_protected(algorithm: str) -> None:
    pods = [protected("a", "2026-01-01T00:00:00Z"), protected("b", "2026-01-01T12:00:00Z")]
    assert plan(algorithm, pods)["outcome"] == "unschedulable"


@ALGORITHMS
def test_of_too_many_protected_units_the_last_ones_are_not(algorithm: str) -> None:
    pods = [protected("a", "2026-01-01T00:00:00Z"), protected("b", "2026-01-01T12:00:00Z")]
    assert victims(plan(algorithm, pods, maxProtectedUnits=1)) == ["a/b"]
    assert plan(algorithm, pods, maxProtectedUnits=2)["outcome"] == "unschedulable"


@ALGORITHMS
def test_a_group_is_one_unit(algorithm: str) -> None:
    group = pod_group("g", 1, priority=1, preemptionPriorityClassName="shield")
    pods = [pod(f"g-{i}", "1", on="n", priority=1, group="g") for i in range(2)]
    assert plan(algorithm, [group, *pods], maxProtectedUnits=1)["outcome"] == "unschedulable"


@ALGORITHMS
def test_a_protection_ends_after_a_while(algorithm: str) -> None:
    pods = [protected("a", "2026-01-01T00:00:00Z"), protected("b", "2026-01-01T12:00:00Z")]
    assert victims(plan(algorithm, pods, maxProtection="18h")) == ["a/a"]
    assert plan(algorithm, pods, maxProtection="48h")["outcome"] == "unschedulable"
