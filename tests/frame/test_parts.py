"""The parts that tests lean on."""

import numpy as np
import pytest

from batchwork.frame.digits import write
from batchwork.frame.dip import dip_of, two_modes
from batchwork.frame.noise import inflation, robust_sigma, upper_persistence
from batchwork.frame.outliers import odd_points
from batchwork.frame.shape import l_ratios
from batchwork.frame.spectrum import find_line
from batchwork.frame.volatility import change_of_spread


@pytest.mark.parametrize(
    ("number", "spread", "text"),
    [
        (0.0, 0.0, "0"),
        (12.3456, 0.0, "12.35"),
        (1e-6, 0.0, "1e-6"),
        (-1.23456e12, 0.0, "-1.235e12"),
        (123456.0, 0.0, "123456"),
        (1000002.4, 0.8, "1000002.4"),
        (0.00123456, 0.0, "0.001235"),
        (5.0, 2.0, "5"),
    ],
)
def test_numbers_are_written_short_and_exactly_enough(number: float, spread: float, text: str) -> None:
    assert write(number, spread) == text


def test_the_dip_of_even_points_is_the_least_there_is() -> None:
    assert dip_of(np.arange(50.0)) == pytest.approx(1 / 100)


def test_the_dip_of_two_far_clumps_nears_a_quarter() -> None:
    clumps = np.concatenate([np.linspace(0, 0.01, 50), np.linspace(9, 9.01, 50)])
    assert dip_of(clumps) == pytest.approx(0.25, abs=0.02)


def test_rounded_values_have_no_modes_of_their_own() -> None:
    values = np.round(np.random.default_rng(0).standard_normal(400) * 2)
    assert two_modes(np.sort(values), 400.0) is None


def test_a_random_walk_is_not_told_from_persistence_one() -> None:
    walk = np.cumsum(np.random.default_rng(1).standard_normal(500))
    assert upper_persistence(walk, 1.0) == 1.0
    assert inflation(walk, 1.0) > 20
    assert inflation(np.random.default_rng(2).standard_normal(500), 1.0) < 1.6


def test_the_robust_spread_is_that_of_the_bulk() -> None:
    values = np.random.default_rng(3).standard_normal(1000)
    values[:100] = 1e6
    assert robust_sigma(values) == pytest.approx(1.0, abs=0.25)


def test_l_ratios_of_known_shapes() -> None:
    dice = np.random.default_rng(4)
    assert l_ratios(np.sort(dice.exponential(size=20_000))) == pytest.approx((1 / 3, 1 / 6), abs=0.02)
    assert l_ratios(np.sort(dice.uniform(size=20_000))) == pytest.approx((0.0, 0.0), abs=0.02)


def test_far_points_are_odd_on_both_sides_and_near_ones_are_not() -> None:
    values = np.random.default_rng(5).standard_normal(300)
    values[[10, 20]] = (9.0, -9.5)
    assert odd_points(values).tolist() == [10, 20]
    assert odd_points(np.random.default_rng(6).uniform(size=300)).size == 0


def test_a_line_in_noise_is_found_at_its_frequency() -> None:
    at = np.arange(400)
    signal = np.sin(2 * np.pi * at / 17.3) + np.random.default_rng(7).standard_normal(400)
    assert find_line(signal, changes=False) == pytest.approx(1 / 17.3, rel=0.01)
    assert find_line(np.random.default_rng(8).standard_normal(400), changes=False) is None


def test_an_even_spread_does_not_change() -> None:
    assert change_of_spread(np.random.default_rng(9).standard_t(3, 500)) is None
