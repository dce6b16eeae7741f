"""Steps, and steps of long series."""

import numpy as np
import pytest

from tests.frame.given import described, dice


def test_a_step_is_placed_and_its_levels_are_said() -> None:
    values = dice(3).standard_normal(300) + 3.0 * (np.arange(300) >= 120)
    (point,) = described(values).change_points
    assert abs(point.index - 120) <= 2
    assert point.after - point.before == pytest.approx(3.0, abs=0.5)


def test_a_step_inside_a_block_of_a_long_series_is_placed_to_the_point() -> None:
    values = dice(4).standard_normal(50_000) + 5.0 * (np.arange(50_000) >= 23_457)
    (point,) = described(values).change_points
    assert abs(point.index - 23_457) <= 1
