"""Holes between points."""

import numpy as np
import pytest

from batchwork.frame import describe_series
from tests.frame.given import described, dice

NAN = float("nan")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [6, 30, 60, 120])
def test_a_gap_in_a_rising_series_is_no_step(seed: int, size: int) -> None:
    values = 0.05 * np.arange(300) + dice(seed).standard_normal(300)
    start = int(dice(seed).integers(30, 270 - size))
    values[start : start + size] = NAN
    d = described(values)
    assert d.change_points == ()
    assert d.trend is not None
    assert d.trend.direction == "rising"


def test_one_missing_value_of_a_line_leaves_the_line_certain() -> None:
    for length, hole in ((60, 20), (10, 4)):
        d = described([float(i) if i != hole else NAN for i in range(length)])
        assert d.change_points == ()
        assert d.trend is not None
        assert (d.trend.direction, d.trend.certain) == ("rising", True)


def test_a_step_inside_a_gap_is_said_to_lie_there() -> None:
    values = dice(0).standard_normal(300) + 6.0 * (np.arange(300) >= 150)
    values[140:180] = NAN
    (point,) = described(values).change_points
    assert (point.index, point.after_gap) == (180, True)
    assert "at 180 (after a gap) from " in describe_series(values)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_a_season_goes_on_behind_a_gap_and_through_scattered_holes(share: float) -> None:
    values = 2.0 * np.sin(2 * np.pi * np.arange(300) / 17.3) + dice(1).standard_normal(300)
    piece, scattered = values.copy(), values.copy()
    piece[100 : 100 + int(300 * share)] = NAN
    scattered[dice(2).choice(300, int(300 * share), replace=False)] = NAN
    for holed in (piece, scattered):
        d = described(holed)
        assert d.seasons[0].period == pytest.approx(17.3, rel=0.02)
        assert (d.change_points, d.anomaly_count) == ((), 0)


def test_odd_points_on_both_sides_of_a_gap_keep_their_index() -> None:
    values = dice(3).standard_normal(300)
    values[100:160] = NAN
    values[[40, 99, 160, 250]] += 12.0
    assert sorted(a.index for a in described(values).anomalies) == [40, 99, 160, 250]
