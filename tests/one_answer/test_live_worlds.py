"""The same drawn worlds on a cluster that runs: what a plan says is what happens."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.one_answer.live import LIVE_KINDS, difference
from tests.one_answer.worlds import draw_world
from tests.scale import scaled
from tests.strategies.choices import Choices


@pytest.mark.slow
@given(data=st.data())
@settings(
    max_examples=scaled(15, least=3),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # three seconds each: a failing world is small as it is
)
def test_what_a_plan_says_is_what_happens(data: st.DataObject) -> None:
    world = draw_world(Choices(data.draw), LIVE_KINDS)
    assert difference(world) == ""
