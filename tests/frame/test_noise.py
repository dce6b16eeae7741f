"""Spread and persistence of noise."""

import numpy as np
import pytest
from scipy.signal import lfilter

from batchwork.frame.noise import description_lengths, inflation, robust_sigma, upper_persistence


def test_a_random_walk_is_not_told_from_persistence_one() -> None:
    walk = np.cumsum(np.random.default_rng(1).standard_normal(500))
    assert upper_persistence(walk, 1.0) == 1.0
    assert inflation(walk, 1.0) > 20
    assert inflation(np.random.default_rng(2).standard_normal(500), 1.0) < 1.6


def test_the_robust_spread_is_that_of_the_bulk() -> None:
    values = np.random.default_rng(3).standard_normal(1000)
    values[:100] = 1e6
    assert robust_sigma(values) == pytest.approx(1.0, abs=0.25)


def test_a_memory_pays_for_itself_only_where_there_is_one() -> None:
    white = np.random.default_rng(4).standard_normal(300)
    swing = lfilter([1], [1, -1.0, 0.5], white)
    assert int(np.argmin(description_lengths(white))) == 0
    assert int(np.argmin(description_lengths(swing))) >= 2
