"""Seasons."""

import numpy as np
import pytest
from scipy.signal import lfilter

from tests.frame.given import described, dice


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


def test_a_square_of_few_points_is_one_season_though_its_third_harmonic_folds() -> None:
    found = 0
    for seed in range(30):
        noise = dice(seed)
        turn = np.arange(60) / 4.13 + noise.uniform()
        seasons = described(np.where(turn % 1.0 < 0.5, 2.5, -2.5) + noise.standard_normal(60)).seasons
        found += [round(season.period, 1) for season in seasons] == [4.1]
    assert found >= 23


def test_two_seasons_are_two() -> None:
    at = np.arange(600)
    values = 2 * np.sin(at * 2 * np.pi / 7) + 2 * np.sin(at * 2 * np.pi / 30) + dice(5).standard_normal(600)
    assert sorted(round(season.period) for season in described(values).seasons) == [7, 30]


def test_a_sawtooth_is_one_season_without_steps() -> None:
    at = np.arange(600)
    d = described(4.0 * (at % 50) / 50 + dice(6).standard_normal(600))
    assert [round(season.period) for season in d.seasons] == [50]
    assert d.change_points == ()


def test_a_long_season_that_swells_and_fades_is_one_season() -> None:
    at = np.arange(8760)
    swell = 1.0 + 0.5 * np.sin(2 * np.pi * at / 8760)
    day = swell * (np.sin(2 * np.pi * at / 24) + 0.2 * np.sin(4 * np.pi * at / 24 + 1.0))
    d = described(5.0 * day + dice(6).standard_normal(at.size))
    assert [round(season.period) for season in d.seasons] == [24]


@pytest.mark.parametrize("periods", [(5.55, 11.66), (4.43, 8.43), (6.58, 4.52)])
def test_a_season_that_does_not_keep_time_with_another_is_one_of_its_own(periods: tuple[float, float]) -> None:
    at = np.arange(60)
    values = sum(2.0 * np.sin(2 * np.pi * at / period) for period in periods) + 0.5 * dice(3).standard_normal(60)
    found = sorted(season.period for season in described(values).seasons)
    assert found == [pytest.approx(period, rel=0.03) for period in sorted(periods)]


def test_a_square_wave_as_small_as_the_noise_is_found_in_sixty_points() -> None:
    at = np.arange(60)
    found = [described(np.where(at % 8 < 4, 1.0, -1.0) + dice(seed).standard_normal(60)).seasons for seed in range(12)]
    assert sum(bool(seasons) and abs(seasons[0].period - 8) < 0.3 for seasons in found) >= 10


def test_noise_that_swings_by_itself_rarely_has_a_season() -> None:
    swings = [lfilter([1], [1, -1.0, 0.5], dice(seed).standard_normal(560))[500:] for seed in range(20)]
    assert sum(bool(described(swing).seasons) for swing in swings) <= 3


def test_a_slow_season_is_found_across_holes() -> None:
    values = 2.0 * np.sin(2 * np.pi * np.arange(300) / 45) + dice(4).standard_normal(300)
    for hole in (slice(80, 115), slice(150, 190), slice(230, 270)):
        values[hole] = np.nan
    assert [season.period for season in described(values).seasons] == [pytest.approx(45, rel=0.04)]
