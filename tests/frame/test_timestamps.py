"""Columns of times are known by what they hold."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from batchwork.frame import FrameError
from batchwork.frame.timestamps import doubt_about, time_column, timestamps_of
from tests.frame.given import described

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
        [(day - EPOCH) // timedelta(microseconds=1) for day in DAYS],
        [str((day - EPOCH) // timedelta(microseconds=1) * 1000) for day in DAYS],
        [(day - EPOCH) / timedelta(seconds=1) for day in DAYS],
        [f"{day:%Y%m%d%H%M%S}" for day in DAYS],
        [int(f"{day:%Y%m%d%H%M}") for day in DAYS],
        [f"{day.month}/{day.day}/{day.year} 12:00 AM" for day in DAYS],
        [f"{day.day}.{day.month}.{day.year} 0:00" for day in DAYS],
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
        [1960, 1961, 1962],  # of what? there are house numbers, too
        [20260101, 20260102, 20260103],  # and serial numbers
        [1732832064, 1732832065, 1732832066],
        ["9" * 400, "9" * 401, "9" * 402],
        [10**400, 10**400 + 1, 10**400 + 2],
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


@pytest.mark.parametrize(
    ("name", "column", "second"),
    [
        ("year", [1960, 1961, 1963], "1961-01-01"),
        ("Fiscal Year", ["2021", "2022", "2023"], "2022-01-01"),
        ("month", [202612, 202701, 202703], "2027-01-01"),
        ("day", [20260103, 20260102, 20260102], "2026-01-02"),
        ("createdAt", [1700000000, 1690000000, 1690000011], "2023-07-22T04:26:40"),
        ("ts", [1700000000.5, 1700000007.25, 1700000008.0], "2023-11-14T22:13:27.25"),
        ("unix_time", [100000000, None, 100003600], "NaT"),
    ],
)
def test_a_name_that_speaks_of_time_is_evidence(name: str, column: list[Any], second: str) -> None:
    found = timestamps_of(column, name)
    assert found is not None
    assert str(found[1]) == str(np.datetime64(second, "us"))
    assert timestamps_of(column, "load") is None


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (["01/02/2026", "03/04/2026"], "day and month cannot be told apart"),
        (["13/02/2026", "02/13/2026"], "not all are dates of one form"),
        ([1700000000, 1700000007, 1700000031], "may be times since 1970"),
        ([3.5, 7, 9], None),
        (["a", "b"], None),
        (["2026-01-01", "2026-01-02"], None),
    ],
)
def test_what_looks_like_times_and_is_not_read_says_why(column: list[Any], why: str | None) -> None:
    doubt = doubt_about(column)
    assert doubt is None if why is None else why in (doubt or "")


def test_an_amount_up_to_a_date_is_no_time() -> None:
    assert timestamps_of([1_200_000_000, 2_300_000_007, 3_500_000_000], "revenue_to_date") is None


def test_dates_are_the_times_of_a_table_before_digits_are() -> None:
    count = [1_700_000_000 + 60 * minute for minute in range(4)]
    assert time_column({"count": count, "day": ["2026-01-01"] * 4}) == "day"
    assert time_column({"count": count, "year": [2001, 2002, 2003, 2004]}) == "year"


@pytest.mark.parametrize("digits", ["5", "0012", "123456789012345678901234567890"])
def test_times_that_are_plain_numbers_as_text_are_never_years(digits: str) -> None:
    full = described([1.0, 2.0, 4.0], times=[digits, digits + "1", digits + "2"])
    assert full.slope_per in ("unit of time", "step")


def test_seconds_since_1970_as_text_are_hours_apart() -> None:
    times = [str(1_700_000_000 + 3600 * hour) for hour in range(50)]
    full = described(range(50), times=times)
    assert (full.slope_per, full.quality) == ("hour", ())
    with pytest.raises(FrameError, match="day and month cannot be told apart"):
        described([1, 2, 3], times=["01/02/2026", "01/03/2026", "01/04/2026"])
