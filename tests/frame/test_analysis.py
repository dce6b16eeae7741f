"""Everything at once, and nothing where there is nothing."""

import numpy as np
import pytest

from tests.frame.given import described, dice


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
