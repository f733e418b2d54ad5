"""Chains of cohorts of any length: nothing recurses over what users write, and the work stays linear."""

from collections.abc import Callable
from typing import Any

import pytest

import reprieve
from reprieve.config import Configuration
from reprieve.objects import PriorityClasses, review
from reprieve.objects.documents import Source
from reprieve.quota import admission, sentences
from tests.builders import Document, cluster_queue, flavor, kueue, local_queue
from tests.effort import in_proportion
from tests.strategies.quota import workload

NOW = "2026-08-23T12:00:00Z"


def chain(length: int, *, closed: bool = False) -> list[Document]:
    """Cohorts, each the parent of the one before; a closed chain is a circle."""
    last = f"c{0 if closed else length}"
    parents = [*(f"c{index + 1}" for index in range(length - 1)), last]
    return [kueue("Cohort", f"c{index}", {"parentName": parent}) for index, parent in enumerate(parents)]


def scene(length: int) -> list[Document]:
    """Two queues at the bottom of a chain; one of them needs what the other borrows."""
    preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    return [
        flavor(),
        *chain(length),
        cluster_queue("q", 4, cohort="c0", preemption=preemption),
        cluster_queue("p", 4, cohort="c1"),
        local_queue("lq0", "q"),
        local_queue("lq1", "p"),
        workload("small", 0, {"cpu": 3}, 1, 0, 10),
        workload("borrows", 1, {"cpu": 5}, 1, 0, 5),
        workload("large", 0, {"cpu": 9}, 1, 9, 5),
    ]


@pytest.mark.parametrize("config", [{}, {"fairSharing": {}}], ids=["classical", "fair sharing"])
def test_a_chain_of_twelve_hundred_decides_as_a_short_one(config: dict[str, Any]) -> None:
    answers = [reprieve.admit(scene(length), config=config, now=NOW).to_dict() for length in (3, 1200)]
    assert answers[0]["admitted"] == answers[1]["admitted"]
    assert answers[0]["unadmitted"] == answers[1]["unadmitted"]


def test_a_plan_in_a_deep_tree_names_its_victims() -> None:
    objects = scene(1200)
    objects[-1] = workload("reclaims", 0, {"cpu": 4}, 1, 9, 5)
    found = reprieve.plan(objects, "Workload/default/reclaims", now=NOW).to_dict()
    assert found["outcome"] in ("scheduled", "preempts", "Fit", "Preempt")


def reviewing(documents: list[Document]) -> Callable[[], list[str]]:
    """Says what is wrong."""
    sources = [Source("f.yaml", str(index), each) for index, each in enumerate(documents, 1)]
    context = Configuration.load(None).admission_context(PriorityClasses())
    return lambda: [str(each) for each in review(sources, context)]


def test_validating_a_long_chain_of_cohorts_is_work_in_proportion_to_its_length() -> None:
    """Ten times as many cohorts took a hundred times as long."""
    assert not [each for each in reviewing(chain(1_000))() if "cycle" in each]
    in_proportion(lambda length: reviewing(chain(length)), 50)


def test_a_long_cycle_is_found_and_told_briefly() -> None:
    found = reviewing(chain(3_000, closed=True))()
    cycles = [each for each in found if "a cycle of cohorts" in each]
    assert len(cycles) == 3_000
    assert cycles[7].endswith("-> ... -> c7")
    assert max(map(len, cycles)) < 300


@pytest.mark.parametrize("step", ["_nominate", "_process"])
def test_a_workload_that_no_decision_can_be_made_about_keeps_nobody_else_waiting(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so, and usage stays what the reservations say."""
    whole = getattr(admission._Cycle, step)

    def fails(cycle: Any, what: Any) -> Any:
        info = getattr(what, "info", what)
        if info.key == "default/poison":
            queue = cycle._quota.cache.queues[info.queue]
            next(iter(queue.cells.values())).add(1000)  # what a search supposes while it runs
            raise ZeroDivisionError("oops")
        return whole(cycle, what)

    monkeypatch.setattr(admission._Cycle, step, fails)
    objects = [flavor(), cluster_queue("q", 4), local_queue("lq0", "q")]
    objects += [workload("poison", 0, {"cpu": 1}, 1, 9, 5), workload("fine", 0, {"cpu": 4}, 1, 0, 10)]
    found = reprieve.admit(objects, now=NOW).to_dict()
    assert list(found["admitted"]) == ["default/fine"]
    said = found["waiting"]["default/poison"]["message"]
    assert said == sentences.decision_failed(repr(ZeroDivisionError("oops")))
