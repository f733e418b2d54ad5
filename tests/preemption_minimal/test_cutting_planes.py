"""The highest point below planes, judged by a linear program."""

from itertools import count

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.preemption.minimal.cutting_planes import CuttingPlanes
from tests.scale import examples
from tests.strategies.choices import Choices


@st.composite
def _planes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """(slopes, values at the origin) of the planes that a concave function is made of."""
    choices = Choices(draw)
    size = choices.number(1, 4)
    slopes = [[choices.number(-20, 20) for _ in range(size)] for _ in range(choices.number(1, 8))]
    return np.array(slopes, np.float64), np.array([choices.number(-5, 5) for _ in slopes], np.float64)


def _highest(slopes: np.ndarray, values: np.ndarray, ceiling: float) -> float:
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    point = [h.addVariable(0, 1) for _ in slopes[0]]
    height = h.addVariable(-highspy.kHighsInf, ceiling)
    for slope, value in zip(slopes, values, strict=True):
        h.addConstr(height - h.qsum(float(s) * x for s, x in zip(slope, point, strict=True)) <= float(value))
    h.maximize(height)
    return float(h.getObjectiveValue())


@examples(200)
@given(_planes())
def test_the_highest_point_of_a_concave_function_is_found(planes: tuple[np.ndarray, np.ndarray]) -> None:
    slopes, values = planes
    ceiling = 100.0
    known, best, point = CuttingPlanes(np.ones(slopes.shape[1]), ceiling), -np.inf, np.zeros(slopes.shape[1])
    for step in count():
        heights = slopes @ point + values
        touching = int(heights.argmin())
        best = max(best, min(float(heights[touching]), ceiling))
        known.add(float(heights[touching]), slopes[touching], point)
        if known.height <= best + 1e-6:
            break
        assert step <= len(slopes), "every step but the last finds a new plane"
        point = known.point
    assert best == pytest.approx(_highest(slopes, values, ceiling), abs=1e-5)
