"""The price of a preemption and how it travels in the signal."""

from datetime import timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reprieve.fleet.cost import (
    PreemptionCost,
    VictimCost,
    cost_in,
    cost_of,
    gated_message,
    preemption_cost,
    signal_message,
)
from reprieve.objects import Condition, Workload, well_known
from reprieve.objects.decode import decode, decode_all
from reprieve.quota import GATED, Quota, Rules, WorkloadInfo, cycle
from reprieve.quota.offline import load
from tests.builders import cluster_queue, flavor, local_queue, reserved, workload
from tests.fleet.build import NOW, is_so

costs = st.builds(PreemptionCost, st.integers(-(2**31), 2**31), st.integers(0, 2**40), st.integers(0, 10_000))


@given(costs)
def test_a_cost_survives_its_way_through_the_message(cost: PreemptionCost) -> None:
    assert cost_in(signal_message(cost)) == cost
    assert signal_message(cost).startswith(GATED)


@given(st.text())
def test_other_messages_name_no_cost(text: str) -> None:
    assert cost_in(text) is None or "; cost: highestPriority=" in text


def test_an_upstream_worker_names_no_cost() -> None:
    assert cost_in(signal_message(None)) is None


def test_who_is_hurt_matters_more_than_how_many() -> None:
    many_low = cost_of([VictimCost(1, 10, 3600)] * 5)
    one_high = cost_of([VictimCost(2, 1, 0)])
    assert many_low < one_high


def test_no_victims_are_the_cheapest() -> None:
    assert cost_of([]) < cost_of([VictimCost(-5, 1, 1)])


def running(name: str, pods: int, seconds: float, priority: int = 0) -> dict[str, Any]:
    """A workload that got its quota so long ago."""
    document = reserved(workload(name, 1, priority, count=pods))
    document["status"]["conditions"] = [is_so(well_known.QUOTA_RESERVED, seconds)]
    return document


def info_of(document: dict[str, Any]) -> WorkloadInfo:
    return WorkloadInfo(cast(Workload, decode(document)), "cq", Rules())


@pytest.mark.parametrize("pods", [1, 2, 5])
def test_every_running_pod_loses_the_seconds_since_its_quota_was_reserved(pods: int) -> None:
    assert preemption_cost([info_of(running("w", pods, 100, 7))], NOW) == PreemptionCost(7, 100 * pods, 1)


def test_the_price_of_several_victims_is_the_sum_of_what_they_lose() -> None:
    victims = [info_of(running("a", 1, 100, -3)), info_of(running("b", 2, 40, 5))]
    assert preemption_cost(victims, NOW) == PreemptionCost(5, 180, 2)


@pytest.mark.parametrize("assignment", [{"name": "main"}, {"name": "main", "count": 0}])
def test_a_victim_that_does_not_say_its_pods_has_one(assignment: dict[str, Any]) -> None:
    document = running("w", 1, 100)
    document["status"]["admission"]["podSetAssignments"] = [assignment]
    assert preemption_cost([info_of(document)], NOW).lost_pod_seconds == 100


def test_a_victim_that_does_not_say_since_when_it_runs_has_lost_nothing() -> None:
    assert preemption_cost([info_of(reserved(workload("w")))], NOW).lost_pod_seconds == 0


def test_a_clock_that_runs_ahead_makes_no_victim_a_gain() -> None:
    victims = [info_of(running("ahead", 2, -500)), info_of(running("w", 1, 100))]
    assert preemption_cost(victims, NOW).lost_pod_seconds == 100


@pytest.fixture
def contended() -> Quota:
    """Two workloads run, and `new` could preempt them if its gate were open."""
    gates = [{"name": well_known.MULTIKUEUE_GATE}]
    documents = [
        flavor(), cluster_queue(nominal=3, preemption={"withinClusterQueue": "LowerPriority"}), local_queue(),
        running("a", 1, 100, 1), running("b", 2, 50, 2), workload("new", 3, 9, preemptionGates=gates),
    ]  # fmt: skip
    return load(decode_all(documents), Rules(preemption_gates=True), NOW)


def told(quota: Quota, said: str = "", status: str = "True", later: float = 0) -> str:
    """What `new` says, so many seconds later, when it has said something before."""
    [waiting] = cycle(quota, NOW).waiting
    assert waiting.gated
    condition = Condition(type=well_known.BLOCKED_ON_PREEMPTION_GATES, status=status, message=said)
    known = waiting.info.workload
    known = structs.replace(known, status=structs.replace(known.status, conditions=(condition,)))
    return gated_message(quota, waiting.info, known, NOW + timedelta(seconds=later))


def test_a_gated_workload_says_what_its_preemption_would_cost(contended: Quota) -> None:
    assert cost_in(told(contended)) == PreemptionCost(2, 200, 2)


def test_while_its_victims_are_the_same_it_says_the_same(contended: Quota) -> None:
    said = signal_message(PreemptionCost(2, 200, 2))
    assert told(contended, said, later=60) == said


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (PreemptionCost(2, 200, 2), "False"),
        (PreemptionCost(3, 200, 2), "True"),
        (PreemptionCost(2, 200, 1), "True"),
        (None, "True"),
    ],
)
def test_other_victims_or_a_signal_that_ended_have_a_new_price(
    contended: Quota, said: PreemptionCost | None, status: str
) -> None:
    assert cost_in(told(contended, signal_message(said), status, later=60)) == PreemptionCost(2, 380, 2)


def test_without_victims_there_is_no_price(contended: Quota) -> None:
    [waiting] = cycle(contended, NOW).waiting
    contended.drop_cluster_queue("cq", NOW)
    assert gated_message(contended, waiting.info, waiting.info.workload, NOW) == signal_message(None)
