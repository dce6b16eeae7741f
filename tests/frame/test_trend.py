"""Trends."""

import numpy as np
import pytest

from tests.frame.given import described, dice


@pytest.mark.parametrize("values", [[1, 2, 4, 8, 16, 32], [10, 9, 7, 4, 0, -5]])
def test_six_points_that_bend_one_way_are_a_trend(values: list[int]) -> None:
    trend = described(values).trend
    assert trend is not None
    assert trend.certain
    assert trend.direction == ("rising" if values[1] > values[0] else "falling")


def test_a_rising_line_rises_and_steps_nowhere() -> None:
    d = described(np.linspace(0, 1.5, 300) + dice(0).standard_normal(300))
    assert d.trend is not None
    assert d.trend.direction == "rising"
    assert d.trend.confidence > 0.99
    assert d.change_points == ()


def test_a_smooth_noiseless_curve_is_a_curved_trend() -> None:
    d = described(np.arange(100.0) ** 2)
    assert d.trend is not None
    assert (d.trend.direction, d.trend.curved) == ("rising", True)
    assert d.change_points == ()
