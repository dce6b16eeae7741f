"""Columns of times are known by what they hold."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from batchwork.frame.timestamps import timestamps_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAYS = [datetime(2026, 1, 29, tzinfo=UTC) + timedelta(days=count) for count in range(5)]
ZONE = timezone(timedelta(hours=5))


@pytest.mark.parametrize(
    "column",
    [
        [f"{day:%Y-%m-%d}" for day in DAYS],
        [f"{day:%Y/%m/%d}" for day in DAYS],
        [f"{day:%d.%m.%Y}" for day in DAYS],
        [f"{day:%m/%d/%Y}" for day in DAYS],
        [f"{day:%d/%m/%Y} 00:00" for day in DAYS],
        [f"{day:%Y-%m-%dT%H:%M:%SZ}" for day in DAYS],
        [day.astimezone(ZONE).isoformat() for day in DAYS],
        [f"{day:%Y%m%d}" for day in DAYS],
        [int(f"{day:%Y%m%d}") for day in DAYS],
        [(day - EPOCH) // timedelta(seconds=1) for day in DAYS],
        [str((day - EPOCH) // timedelta(milliseconds=1)) for day in DAYS],
        [date(day.year, day.month, day.day) for day in DAYS],
        np.array([day.replace(tzinfo=None) for day in DAYS], dtype="datetime64[s]"),
    ],
)
def test_the_same_days_in_many_hands_are_the_same_times(column: Any) -> None:
    found = timestamps_of(column)
    assert found is not None
    assert [day.replace(tzinfo=UTC) for day in found.tolist()] == DAYS


@pytest.mark.parametrize(
    "column",
    [
        [1.0, 2.0, 3.0],
        ["1", "2", "3"],
        ["anna", "bob", "2026-01-01"],
        ["01/02/2026", "01/03/2026"],  # January or the first of the month
        ["2026-13-01", "2026-13-02"],
        [20260101, 20260141, 20260142],
        [1.8e9, 1.9e9, 2.0e9 + 7],  # a count that grows unevenly
        [1e308, -1e308, 1e308],
        [float("nan")] * 4,
        [None, None],
        [],
    ],
)
def test_what_is_no_time_or_could_be_two_is_no_time(column: Any) -> None:
    assert timestamps_of(column) is None


def test_a_time_that_is_missing_keeps_its_place() -> None:
    found = timestamps_of(["2026-01-01", "", "2026-01-03"])
    assert found is not None
    assert np.isnat(found).tolist() == [False, True, False]
