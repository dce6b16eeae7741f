"""Times: their order, their calendar and their holes."""

import numpy as np
import pandas as pd
import pytest

from batchwork.frame import FrameError, describe_series
from tests.frame.given import described, dice


def test_timestamps_out_of_order_are_sorted_and_rows_keep_their_index() -> None:
    days = np.arange("2024-01-01", "2024-04-10", dtype="datetime64[D]")
    values = np.linspace(0.0, 10.0, days.size)
    order = np.random.default_rng(0).permutation(days.size)
    full = describe_series(values[order], times=days[order], output="full")
    assert full.trend is not None
    assert full.trend.direction == "rising"
    assert full.statistics is not None
    assert full.statistics.maximum_at == int(np.argmax(values[order]))
    assert any("out of order" in note for note in full.quality)


def test_gaps_between_timestamps_are_counted_and_do_not_shift_a_season() -> None:
    at = np.delete(np.arange(300), np.arange(100, 117))
    times = np.datetime64("2024-01-01", "h") + at.astype("timedelta64[h]")
    noise = np.random.default_rng(2).standard_normal(at.size) * 0.3
    full = describe_series(np.sin(2 * np.pi * at / 24) + noise, times=times, output="full")
    assert any("1 time gap (17 steps absent)" in note for note in full.quality)
    assert full.seasons[0].period == pytest.approx(24, abs=0.3)
    assert full.seasons[0].duration_s == pytest.approx(86400, rel=0.02)


def test_a_gap_of_sorted_rows_is_named_by_its_times() -> None:
    days = np.delete(np.arange("2026-01-01", "2026-02-01", dtype="datetime64[D]"), [9, 10])[::-1]
    assert "missing 2 (between 2026-01-09 and 2026-01-12)" in describe_series(np.arange(29.0), times=days)


def test_as_many_times_as_values_are_needed() -> None:
    with pytest.raises(FrameError, match="2 times for 3 values"):
        describe_series([1, 2, 3], times=["2024-01-01", "2024-01-02"])


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
