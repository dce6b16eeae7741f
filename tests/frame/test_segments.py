"""Steps of short series."""

import numpy as np
import pytest
from scipy.signal import lfilter

from batchwork.frame.axis import even_axis
from batchwork.frame.segments import best_segments, clear_steps, lone_jump
from tests.frame.given import described, dice


def test_the_best_segments_are_those_of_an_exhaustive_search() -> None:
    z = dice(1).standard_normal(24)
    splits = {(a, b): sum(float(np.var(part)) * part.size for part in (z[:a], z[a:b], z[b:])) for a, b in _pairs(24, 5)}
    (_, whole), (_, _), (places, left), *_ = best_segments(z, 5)
    assert places == min(splits, key=splits.__getitem__)
    np.testing.assert_allclose([whole, left], [np.var(z) * z.size, min(splits.values())])


def _pairs(n: int, least: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(least, n) for b in range(a + least, n - least + 1)]


def test_steps_that_undo_each_other_are_found_in_a_short_series() -> None:
    z = dice(4).standard_normal(60) + 3.0 * np.repeat([0, 1, 0, -1], 15)
    assert [point.index for point in described(z).change_points] == pytest.approx([15, 30, 45], abs=1)


def test_noise_with_a_memory_needs_no_steps() -> None:
    found = 0
    for seed in range(40):
        z = np.cumsum(dice(seed).standard_normal(60))
        found += bool(clear_steps(z, even_axis(60), 5, np.inf, 1e-12))
    assert found <= 3


def test_one_step_in_noise_with_a_memory_is_told_from_that_noise() -> None:
    found = 0
    for seed in range(40):
        noise = lfilter([1.0], [1.0, -0.5], dice(seed).standard_normal(90))[30:]
        assert not lone_jump(noise, even_axis(60), 5)
        steps = lone_jump(noise + 4.0 * (np.arange(60) >= 25), even_axis(60), 5)
        found += len(steps) == 1 and abs(steps[0] - 25) <= 2
    assert found >= 30
