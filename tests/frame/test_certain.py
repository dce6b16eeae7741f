"""Series without noise."""

import numpy as np
import pytest

from batchwork.frame import describe_series
from tests.frame.given import described

AT = np.arange(200.0)


def test_a_plain_sine_has_its_period_and_nothing_else() -> None:
    d = described(np.sin(AT / 5))
    assert [season.period for season in d.seasons] == [pytest.approx(10 * np.pi, rel=1e-4)]
    assert (d.anomaly_count, d.change_points) == (0, ())
    assert d.volatility is not None
    assert d.volatility.noise == 0.0


def test_a_slow_sine_upon_a_huge_level_keeps_its_period() -> None:
    for period in (97.88, 112.8, 140.3):
        seasons = described(1e9 + 0.1 * np.sin(2 * np.pi * np.arange(1000) / period)).seasons
        assert [season.period for season in seasons] == [pytest.approx(period, rel=1e-4)]


def test_a_sine_upon_a_line_has_both() -> None:
    d = described(np.sin(AT / 5) + 0.01 * AT)
    assert d.trend is not None
    assert (d.trend.direction, d.trend.certain) == ("rising", True)
    assert [season.period for season in d.seasons] == [pytest.approx(10 * np.pi, rel=1e-4)]
    assert d.anomaly_count == 0


@pytest.mark.parametrize(
    "values",
    [
        3.0 * AT - 7.0,
        AT**2,
        AT**3 - 50 * AT**2,
        np.exp(AT / 20),
        np.sin(2 * np.pi * AT / 200),
        np.sin(2 * np.pi * AT / 20),
        np.where(AT % 20 < 10, 1.0, -1.0),
        AT % 7,
        AT // 3,
        np.repeat([1.0, 4.0, 2.0], [60, 70, 70]),
        1e9 + 1e-3 * np.sin(AT / 5),
        np.exp(-AT / 60) * np.sin(AT / 4),
        1 / (1 + np.exp(-(AT - 100) / 12)),
        1 / (1 + np.exp(-(AT - 100) / 29)),
        np.arctan((AT[:102] - 24) / 6),
        np.exp(-4 * np.exp(-AT[:150] / 12)),
        100.0 + 1e-3 * np.sin(4.0 * np.linspace(0, 1, 5000) + 5.0 * np.linspace(0, 1, 5000) ** 2),
    ],
)
def test_no_series_without_noise_is_measured_by_noise(values: np.ndarray) -> None:
    text = describe_series(values)
    assert "anomalies: none" in text
    assert "sigma" not in text
    assert "noise std" not in text
    assert "e-1" not in text.partition(" trend:")[0]  # rounding is not said


def test_an_odd_point_of_an_exact_series_is_said_with_what_was_expected() -> None:
    for path in (np.zeros(200), AT, np.sin(AT / 5), AT % 7):
        values = path.copy()
        values[81] += 40.0
        d = described(values)
        assert [anomaly.index for anomaly in d.anomalies] == [81]
        assert d.anomalies[0].expected == pytest.approx(path[81], abs=1e-3)
        assert "(expected " in describe_series(values)


def test_sharp_whole_periods_are_one_season() -> None:
    for period in (3, 7, 20, 33):
        for values in (AT % period, np.where(AT % period < period / 2, 1.0, -1.0)):
            assert [season.period for season in described(values).seasons] == [pytest.approx(period)]


def test_levels_are_steps_at_their_places() -> None:
    d = described(np.repeat([1.0, 4.0, 2.0], [60, 70, 70]))
    assert [(p.index, p.before, p.after) for p in d.change_points] == [
        (60, pytest.approx(1.0), pytest.approx(4.0)),
        (130, pytest.approx(4.0), pytest.approx(2.0)),
    ]


def test_rare_events_are_noise_not_certainty() -> None:
    counts = (np.random.default_rng(0).random(300) < 0.08).astype(float)
    assert "no noise" not in describe_series(counts)
