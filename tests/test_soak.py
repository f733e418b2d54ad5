"""The soak makes the load that it says, and its plots can be read."""

import random
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.soak.load import GANG, JOB, rate_at, second
from tools.soak.plot import chart

from reprieve.kube import JOBS, POD_GROUPS, PODS


@pytest.mark.parametrize("rate", [30, 50, 200])
def test_a_second_holds_as_many_pods_as_asked_for(rate: int) -> None:
    made = second(7, rate, random.Random(1))
    pods = sum(resource is PODS for resource, _ in made)
    gangs = [document["metadata"]["name"] for resource, document in made if resource is POD_GROUPS]
    assert pods + JOB * sum(resource is JOBS for resource, _ in made) == rate
    members = [document["spec"].get("schedulingGroup") for _, document in made]
    assert all(members.count({"podGroupName": gang}) == GANG for gang in gangs)
    names = [document["metadata"]["name"] for _, document in made]
    assert len(set(names)) == len(names)


def test_the_rate_is_kept_in_the_mean_of_every_minute() -> None:
    rates = [rate_at(number, 50) for number in range(120)]
    assert set(rates) == {40, 80}
    assert sum(rates[:60]) == sum(rates[60:]) == 60 * 50


values = st.lists(st.floats(0, 1e6, allow_nan=False), min_size=1, max_size=20)


@given(values)
def test_every_point_of_a_plot_lies_inside_it(line: list[float]) -> None:
    minutes = [float(each) for each in range(len(line))]
    drawn = ElementTree.fromstring(
        chart("Memory", "MiB", minutes, {"server": line, "half": [v / 2 for v in line]})
    )
    lines = [each.get("points", "") for each in drawn.iter() if each.tag.endswith("polyline")]
    assert len(lines) == 2
    for x, y in (point.split(",") for each in lines for point in each.split()):
        assert 0 <= float(x) <= 640
        assert 0 <= float(y) <= 220
