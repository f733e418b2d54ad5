"""PodDisruptionBudgets: the numbers, and that evictions and the numbers never disagree."""

from functools import partial
from typing import Any

import pytest

from reprieve.server.controllers.budgets import scaled
from reprieve.server.errors import ApiError
from tests import builders
from tests.server.rig import Rig, condition, job, pod, running

NODES = ("n=2:cpu=4",)


budget = partial(builders.budget, match={"app": "x"})


async def with_pods(rig: Rig, count: int) -> None:
    docs = [
        pod(f"p{i}", on="n-0", labels={"app": "x"}, terminationGracePeriodSeconds=5) for i in range(count)
    ]
    await rig.create("pods", *docs)


def numbers(rig: Rig) -> tuple[int, int, int, int]:
    s = rig.get("poddisruptionbudgets.policy", "b")["status"]
    return s["disruptionsAllowed"], s["currentHealthy"], s["desiredHealthy"], s["expectedPods"]


@pytest.mark.parametrize(
    ("value", "total", "expected"),
    [(2, 10, 2), ("50%", 5, 3), ("1%", 1, 1), ("0%", 9, 0), ("100%", 7, 7), ("x", 7, 0), (None, 7, 0)],
)
def test_percentages_round_up(value: Any, total: int, expected: int) -> None:
    assert scaled(value, total) == expected


async def test_min_available_counts_the_pods_that_match() -> None:
    async with running(NODES) as rig:
        await with_pods(rig, 4)
        await rig.create("pods", pod("other", on="n-0", labels={"app": "y"}))
        await rig.create("poddisruptionbudgets.policy", budget(minAvailable=3))
        assert numbers(rig) == (1, 4, 3, 4)
        assert condition(rig.get("poddisruptionbudgets.policy", "b"), "DisruptionAllowed").startswith("True")


async def test_pods_that_come_and_go_move_the_numbers() -> None:
    async with running(NODES) as rig:
        await rig.create("poddisruptionbudgets.policy", budget(minAvailable=1))
        assert numbers(rig) == (0, 0, 1, 0)
        await with_pods(rig, 2)
        assert numbers(rig) == (1, 2, 1, 2)
        await rig.api.delete("pods", "p0", "default")
        await rig.settle()
        assert numbers(rig)[:2] == (0, 1)
        await rig.advance(6)
        assert numbers(rig) == (0, 1, 1, 1)


async def test_pods_that_are_not_ready_are_not_healthy() -> None:
    async with running(NODES) as rig:
        await rig.create("poddisruptionbudgets.policy", budget(minAvailable=0))
        await rig.create("pods", pod("waiting", labels={"app": "x"}))
        assert numbers(rig) == (0, 0, 0, 1)


async def test_max_unavailable_is_taken_from_what_the_controllers_want() -> None:
    async with running(NODES) as rig:
        spec = job(parallelism=4, completions=4)
        spec["spec"]["template"]["metadata"] = {"labels": {"app": "x"}}
        await rig.create("jobs.batch", spec)
        await rig.create("poddisruptionbudgets.policy", budget(maxUnavailable="30%"))
        assert numbers(rig) == (2, 4, 2, 4)


async def test_bare_pods_are_no_expectation_so_max_unavailable_allows_nothing() -> None:
    async with running(NODES) as rig:
        await with_pods(rig, 3)
        await rig.create("poddisruptionbudgets.policy", budget(maxUnavailable=1))
        assert numbers(rig) == (0, 3, 0, 0)


async def test_evictions_use_the_budget_up_and_a_gone_pod_is_not_counted_twice() -> None:
    async with running(NODES) as rig:
        await with_pods(rig, 3)
        await rig.create("poddisruptionbudgets.policy", budget(minAvailable=2))
        await rig.api.evict("p0", "default")
        with pytest.raises(ApiError) as refused:
            await rig.api.evict("p1", "default")
        assert refused.value.code == 429
        await rig.settle()
        assert numbers(rig) == (0, 2, 2, 3)
        await rig.advance(6)
        assert numbers(rig) == (0, 2, 2, 2)
        assert "disruptedPods" not in rig.get("poddisruptionbudgets.policy", "b")["status"]


async def test_a_changed_budget_is_counted_anew() -> None:
    async with running(NODES) as rig:
        await with_pods(rig, 3)
        await rig.create("poddisruptionbudgets.policy", budget(minAvailable=3))
        await rig.api.patch("poddisruptionbudgets.policy", "b", {"spec": {"minAvailable": 1}}, "default")
        await rig.settle()
        doc = rig.get("poddisruptionbudgets.policy", "b")
        assert numbers(rig)[0] == 2
        assert doc["status"]["observedGeneration"] == doc["metadata"]["generation"] == 2
