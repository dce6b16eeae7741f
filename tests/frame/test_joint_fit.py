"""Level and seasons without the say of far points."""

import numpy as np

from batchwork.frame.axis import even_axis
from batchwork.frame.joint_fit import rest_of, without_far_points
from batchwork.frame.noise import held
from batchwork.frame.season import Line, fitted
from tests.frame.given import dice


def test_a_far_point_draws_neither_the_level_nor_the_season_nor_its_frequency() -> None:
    at = np.arange(60)
    path = 4.0 * np.sin(2 * np.pi * at / 7.3)
    values = path + 0.1 * dice(3).standard_normal(60)
    values[20] += 40.0
    start = fitted(held(values), even_axis(60), (Line(1 / 7.25, 1),))
    found = without_far_points(values, even_axis(60), start)
    assert abs(1.0 / found.lines[0].frequency - 7.3) < 0.01
    assert np.abs(np.delete(rest_of(values, found), 20)).max() < 0.4 < np.abs(rest_of(values, start)).max()
    assert (found.coarse, found.blocks) == (start.coarse, start.blocks)


def test_a_whole_period_stays_whole() -> None:
    at = np.arange(120)
    values = np.sin(2 * np.pi * at / 24) + 0.3 * dice(4).standard_normal(120)
    start = fitted(values, even_axis(120), (Line(1 / 24, 1),))
    assert without_far_points(values, even_axis(120), start).lines == start.lines
