"""Small cuts of the labelled suite: what is there is found, what is not there is not claimed."""

import numpy as np
import pytest

from batchwork.frame import Description, describe_series


def described(values: np.ndarray) -> Description:
    return describe_series(values, output="full")


def dice(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("seed", range(5))
def test_white_noise_has_nothing_to_claim(seed: int) -> None:
    d = described(dice(seed).standard_normal(300))
    assert d.trend is not None
    assert d.trend.direction == "none"
    assert (d.seasons, d.change_points, d.anomaly_count) == ((), (), 0)
    assert d.distribution.kind == "normal"


def test_random_walks_rarely_have_a_trend_a_season_or_a_step() -> None:
    wrong = 0
    for seed in range(25):
        d = described(np.cumsum(dice(seed).standard_normal(300)))
        assert d.trend is not None
        wrong += d.trend.direction != "none" or bool(d.seasons) or bool(d.change_points)
    assert wrong <= 4


def test_heavy_tails_are_rarely_called_anomalies() -> None:
    assert sum(bool(described(dice(seed).standard_t(3, 300)).anomaly_count) for seed in range(25)) <= 3


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


def test_a_step_is_placed_and_its_levels_are_said() -> None:
    values = dice(3).standard_normal(300) + 3.0 * (np.arange(300) >= 120)
    (point,) = described(values).change_points
    assert abs(point.index - 120) <= 2
    assert point.after - point.before == pytest.approx(3.0, abs=0.5)


def test_a_step_inside_a_block_of_a_long_series_is_placed_to_the_point() -> None:
    values = dice(4).standard_normal(50_000) + 5.0 * (np.arange(50_000) >= 23_457)
    (point,) = described(values).change_points
    assert abs(point.index - 23_457) <= 1


@pytest.mark.parametrize("period", [4, 7, 24, 55])
def test_a_season_has_its_period(period: int) -> None:
    at = np.arange(300)
    d = described(np.sin(2 * np.pi * at / period) + dice(period).standard_normal(300))
    assert d.seasons[0].period == pytest.approx(period, rel=max(0.02, 0.3 * period / 300))


@pytest.mark.parametrize("period", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("size", [60, 300, 2000])
def test_a_sharp_season_whose_harmonics_reach_two_points_is_one_season(period: int, size: int) -> None:
    d = described(6.0 * (np.arange(size) % period == 0) + dice(period).standard_normal(size))
    assert [season.period for season in d.seasons] == [pytest.approx(period, rel=0.01)]
    assert d.anomaly_count == 0


def test_two_seasons_are_two() -> None:
    at = np.arange(600)
    values = 2 * np.sin(at * 2 * np.pi / 7) + 2 * np.sin(at * 2 * np.pi / 30) + dice(5).standard_normal(600)
    assert sorted(round(season.period) for season in described(values).seasons) == [7, 30]


def test_a_sawtooth_is_one_season_without_steps() -> None:
    at = np.arange(600)
    d = described(4.0 * (at % 50) / 50 + dice(6).standard_normal(600))
    assert [round(season.period) for season in d.seasons] == [50]
    assert d.change_points == ()


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


def test_two_humps_are_bimodal_with_their_modes() -> None:
    side = dice(9).permutation(np.arange(300) < 150)
    d = described(10.0 + 5.0 * side + dice(10).standard_normal(300))
    assert d.distribution.kind == "bimodal"
    assert d.distribution.modes == pytest.approx((10.0, 15.0), abs=0.5)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        (dice(11).uniform(size=500), {"uniform"}),
        (dice(12).exponential(size=500), {"exponential", "right-skewed"}),
        (-dice(13).lognormal(size=500), {"left-skewed"}),
        (dice(14).standard_t(3, 500), {"heavy-tailed"}),
        (dice(15).poisson(1.5, 500), {"discrete"}),
    ],
)
def test_a_shape_has_its_name(values: np.ndarray, kinds: set[str]) -> None:
    assert described(values).distribution.kind in kinds


def test_a_doubled_spread_is_placed() -> None:
    values = dice(16).standard_normal(400) * np.where(np.arange(400) < 200, 1.0, 2.0)
    volatility = described(values).volatility
    assert volatility is not None
    assert volatility.index == pytest.approx(200, abs=40)
    assert volatility.before is not None
    assert volatility.after is not None
    assert volatility.after > 1.5 * volatility.before


def test_everything_at_once_is_told_apart() -> None:
    at = np.arange(500)
    values = 20 + 0.02 * at + 3 * np.sin(at * 2 * np.pi / 24) + 6.0 * (at >= 300) + dice(17).standard_normal(500)
    values[[100, 400]] += (15.0, -15.0)
    values[50:55] = np.nan
    d = described(values)
    assert d.trend is not None
    assert d.trend.direction == "rising"
    assert [round(season.period) for season in d.seasons] == [24]
    assert [abs(point.index - 300) <= 2 for point in d.change_points] == [True]
    assert sorted(anomaly.index for anomaly in d.anomalies) == [100, 400]
    assert d.missing == 5


def test_one_exception_among_equal_values_is_the_anomaly() -> None:
    values = np.full(60, 5.0)
    values[17] = 9.0
    assert [anomaly.index for anomaly in described(values).anomalies] == [17]
