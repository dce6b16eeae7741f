"""Levels: a line, a curve, steps, or nothing."""

import numpy as np

from batchwork.frame.axis import even_axis
from batchwork.frame.levels import choose_level
from tests.frame.given import dice

NO_WAVES = np.empty((200, 0))
T = np.linspace(0.0, 1.0, 200)


def test_a_line_a_curve_and_a_step_are_told_apart() -> None:
    noise = dice(8).standard_normal(200)
    line = choose_level(8 * T + noise, even_axis(200), NO_WAVES)
    curve = choose_level(10 * (T - 0.5) ** 2 * 4 + noise, even_axis(200), NO_WAVES)
    step = choose_level(4.0 * (T > 0.4) + noise, even_axis(200), NO_WAVES)
    assert (line.base, line.steps) == ("line", ())
    assert (curve.base, curve.steps) == ("curve", ())
    assert (step.base, len(step.steps)) == ("constant", 1)


def test_a_random_walk_wanders_and_has_no_level_claimed() -> None:
    level = choose_level(np.cumsum(dice(5).standard_normal(200)), even_axis(200), NO_WAVES)
    assert (level.wanders, level.base, level.steps) == (True, "constant", ())
