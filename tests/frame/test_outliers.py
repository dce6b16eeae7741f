"""Odd points."""

import numpy as np
import pytest

from batchwork.frame.outliers import odd_points
from tests.frame.given import described, dice

NAN = float("nan")


def test_heavy_tails_are_rarely_called_anomalies() -> None:
    assert sum(bool(described(dice(seed).standard_t(3, 300)).anomaly_count) for seed in range(25)) <= 3


def test_a_group_of_odd_points_cannot_hide_itself() -> None:
    values = dice(7).standard_normal(300)
    values[100:106] += 9.0
    d = described(values)
    assert sorted(anomaly.index for anomaly in d.anomalies) == list(range(100, 106))
    assert d.anomaly_count == 6
    assert d.change_points == ()


def test_one_odd_point_of_a_random_walk_is_one_point() -> None:
    values = np.cumsum(dice(8).standard_normal(400))
    values[200] += 25.0
    assert [anomaly.index for anomaly in described(values).anomalies] == [200]


def test_one_exception_among_equal_values_is_the_anomaly() -> None:
    values = np.full(60, 5.0)
    values[17] = 9.0
    assert [anomaly.index for anomaly in described(values).anomalies] == [17]


@pytest.mark.parametrize("size", [300, 3000])
def test_a_walk_with_a_gap_has_neither_a_step_nor_an_odd_point_there(size: int) -> None:
    for seed in range(4):
        values = np.cumsum(dice(seed).standard_normal(size))
        values[size // 3 : size // 2] = NAN
        d = described(values)
        assert (d.change_points, d.anomaly_count) == ((), 0)


def test_far_points_are_odd_on_both_sides_and_near_ones_are_not() -> None:
    values = np.random.default_rng(5).standard_normal(300)
    values[[10, 20]] = (9.0, -9.5)
    assert odd_points(values).tolist() == [10, 20]
    assert odd_points(np.random.default_rng(6).uniform(size=300)).size == 0


def test_points_off_their_season_are_odd_inside_the_range_of_the_series() -> None:
    season = 4.0 * np.sin(2 * np.pi * np.arange(300) / 20)
    places = [45, 105, 230]
    values = season + dice(11).standard_normal(300)
    values[places] -= 6.5 * np.sign(season[places])
    assert sorted(anomaly.index for anomaly in described(values).anomalies) == places


def test_a_value_that_is_usual_at_another_time_is_odd_sooner_than_one_that_is_usual_nowhere() -> None:
    season = 4.0 * np.sin(2 * np.pi * np.arange(60) / 7.3)
    found = {-1: 0, 1: 0}
    for seed in range(80):
        rest = dice(seed).standard_normal(60)
        place = int(np.argmax(season[10:50])) + 10
        for side in found:
            rest[place] = 6.2 * side
            found[side] += odd_points(rest, season).tolist() == [place]
    assert found[-1] > found[1] + 5


def test_a_far_stranger_is_odd_among_heavy_tails() -> None:
    values = dice(12).standard_t(4, 300)
    values[33] = 200.0
    assert odd_points(values).tolist() == [33]


@pytest.mark.parametrize("freedom", [3, 5, 10])
@pytest.mark.parametrize("size", [20, 60, 120, 300])
def test_no_student_noise_has_odd_points_in_more_than_one_of_twenty_series(size: int, freedom: int) -> None:
    noise = dice(size + freedom)
    claimed = sum(odd_points(noise.standard_t(freedom, size)).size > 0 for _ in range(150))
    assert claimed <= 14  # 5% and three standard errors of 150 series
