"""Holes: each point keeps its place in time, and a gap is a gap, not a step."""

import numpy as np
import pandas as pd
import pytest

from batchwork.frame import Description, describe_series

NAN = float("nan")


def described(values: object, **options: object) -> Description:
    return describe_series(values, output="full", **options)  # type: ignore[call-overload,no-any-return]


def dice(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


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


@pytest.mark.parametrize("size", [300, 3000])
def test_a_walk_with_a_gap_has_neither_a_step_nor_an_odd_point_there(size: int) -> None:
    for seed in range(4):
        values = np.cumsum(dice(seed).standard_normal(size))
        values[size // 3 : size // 2] = NAN
        d = described(values)
        assert (d.change_points, d.anomaly_count) == ((), 0)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 2.0, NAN, NAN, 5.0], "missing 2 (between 1 and 4)"),
        ([NAN, 2.0, 3.0], "missing 1 (before 1)"),
        ([1.0, 2.0, NAN], "missing 1 (after 1)"),
        ([1.0, NAN, 2.0, 4.0, NAN, NAN, 3.0], "missing 3 (2 gaps, longest 2 between 3 and 6)"),
    ],
)
def test_a_gap_is_described_as_a_gap(values: list[float], words: str) -> None:
    assert words in describe_series(values)


def test_dropped_dates_are_missing_and_the_slope_is_per_day() -> None:
    days = pd.date_range("2024-01-01", periods=300, freq="D")
    series = pd.Series(0.05 * np.arange(300) + dice(4).standard_normal(300), days).drop(days[100:160])
    d = described(series)
    assert (d.count, d.missing, d.slope_per, d.change_points) == (240, 60, "day", ())
    assert d.statistics is not None
    assert d.statistics.slope == pytest.approx(0.05, abs=0.003)
    assert "per day" in describe_series(series)


def test_business_days_are_regular_and_a_holiday_is_missing() -> None:
    days = pd.bdate_range("2024-01-01", periods=250)
    series = pd.Series(np.arange(250.0), days)
    assert described(series).missing == 0
    holed = described(series.drop(days[[20, 90]]))
    assert (holed.missing, holed.slope_per) == (2, "business day")
    assert holed.statistics is not None
    assert holed.statistics.slope == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rule", "unit"),
    [("MS", "month"), ("ME", "month"), ("QE", "3 months"), ("YE", "year"), ("W", "week"), ("15min", "15 minutes")],
)
def test_calendars_are_regular(rule: str, unit: str) -> None:
    dates = pd.date_range("1990-01-01", periods=60, freq=rule)
    d = described(pd.Series(np.arange(60.0), dates))
    assert (d.slope_per, d.missing, d.quality) == (unit, 0, ())
    assert d.statistics is not None
    assert d.statistics.slope == pytest.approx(1.0)


def test_uneven_times_keep_their_distances() -> None:
    seconds = np.sort(dice(5).uniform(0, 1000, 80))
    d = described(3.0 * seconds, times=seconds)
    assert d.statistics is not None
    assert (d.statistics.slope, d.slope_per) == (pytest.approx(3.0), "unit of time")
    assert d.change_points == ()


def test_dropped_rows_of_a_plain_index_keep_their_places() -> None:
    series = pd.Series(np.arange(100.0) + dice(6).standard_normal(100)).drop(range(30, 60))
    d = described(series)
    assert d.change_points == ()
    assert d.statistics is not None
    assert d.statistics.slope == pytest.approx(1.0, abs=0.01)
