"""Seasons."""

import numpy as np
import pytest

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
