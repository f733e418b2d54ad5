"""The price of a preemption and how it travels in the signal."""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.fleet.cost import PreemptionCost, VictimCost, cost_in, cost_of, signal_message
from reprieve.quota import GATED

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
