"""Decide whether a column holds times, by what it holds, and which times they are.

Text: ISO dates and times (with or without an offset), and dates with the day or the month first where the column itself
shows which. Numbers: seconds or milliseconds since 1970 in steps that a clock makes, days as 20260131; if they rise.
Nothing is guessed: a column that could be read in two ways is no time.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

Stamps = NDArray[np.datetime64]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MONTH = re.compile(r"(\d{4})[-/](\d{1,2})$")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)(.*)$", re.DOTALL)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)(.*)$", re.DOTALL)
_FIRST_SECOND, _LAST_SECOND = 9.4e8, 4.2e9  # 1999 to 2103
_FIRST_DAY, _LAST_DAY = 19000101, 21001231
_REGULAR = 0.9  # the share of the steps that are equal in a column of seconds
_NO_TIMES = frozenset({"", "nat", "nan", "null", "none", "na", "n/a"})


def timestamps_of(items: Any) -> Stamps | None:
    """The times that a column holds, one for each item (NaT where one is missing); None if it holds something else."""
    raw = np.asarray(items.to_numpy() if hasattr(items, "to_numpy") else items)
    if raw.ndim != 1 or raw.size == 0:
        return None
    if raw.dtype.kind == "M":
        return raw.astype("datetime64[us]")
    if raw.dtype.kind in "OUS":
        return _of_objects(raw.tolist())
    return _of_numbers(raw.astype(np.float64)) if raw.dtype.kind in "iuf" else None


def _of_objects(items: list[Any]) -> Stamps | None:
    """The times of texts and of Python's own dates."""
    present = [item for item in items if not _is_missing(item)]
    if not present:
        return None
    if all(isinstance(item, str) for item in present):
        texts = [item.strip() for item in present]
        if texts[0].isdecimal():
            plain = len(texts) == len(items) and all(map(str.isdecimal, texts))
            return _of_numbers(np.array(texts, dtype=np.float64)) if plain else None
        read = _of_texts(texts)
    elif all(hasattr(item, "isoformat") and hasattr(item, "year") for item in present):
        read = _of_texts([item.isoformat() for item in present])
    else:
        return None
    if read is None:
        return None
    stamps = np.full(len(items), "NaT", dtype="datetime64[us]")
    stamps[[not _is_missing(item) for item in items]] = np.array(read, dtype="datetime64[us]")
    return stamps


def _is_missing(item: Any) -> bool:
    if isinstance(item, str):
        return item.strip().lower() in _NO_TIMES
    return item is None or type(item).__name__ in ("NAType", "NaTType") or (isinstance(item, float) and isnan(item))


def _of_texts(texts: list[str]) -> list[int] | None:
    """Microseconds since 1970 of every text, all read in one way; None if one is no time."""
    turned = _iso(texts)
    if turned is None:
        return None
    read = []
    for text in turned:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        known = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        read.append((known - _EPOCH) // _MICROSECOND)
    return read


def _iso(texts: list[str]) -> list[str] | None:
    """The same times with the year first; None if they are no dates, or the order of day and month cannot be known."""
    parts = [_YEAR_LAST.match(text) for text in texts]
    if all(part is not None for part in parts):
        fields = [part.groups() for part in parts if part is not None]
        first, second = (max(int(field[index]) for field in fields) for index in (0, 2))
        if first <= 12 and second <= 12 and any(between != "." for _, between, *_ in fields):
            return None  # 01/02/2026 may be either; with dots, the day is always first
        turn = second > 12
        return [f"{year}-{int(a if turn else b):02}-{int(b if turn else a):02}{rest}" for a, _, b, year, rest in fields]
    turned = []
    for text in texts:
        whole, month_only = _YEAR_FIRST.match(text), _MONTH.match(text)
        if whole is not None:
            year, month, day, rest = whole.groups()
            turned.append(f"{year}-{int(month):02}-{int(day):02}{rest}")
        elif month_only is not None:
            turned.append(f"{month_only[1]}-{int(month_only[2]):02}-01")
        else:
            return None
    return turned


def _of_numbers(numbers: NDArray[np.float64]) -> Stamps | None:
    """Times of whole numbers that rise: seconds or milliseconds since 1970 in regular steps, or days as 20260131."""
    if numbers.size < 3 or not (numbers[0] >= _FIRST_DAY and numbers[-1] <= 1000 * _LAST_SECOND):
        return None
    if not (np.abs(numbers) <= 1000 * _LAST_SECOND).all() or (numbers % 1.0 != 0.0).any():
        return None
    steps = np.diff(numbers)
    if (steps <= 0).any():
        return None
    if numbers[-1] <= _LAST_DAY:
        read = _of_texts([f"{day[:4]}-{day[4:6]}-{day[6:]}" for day in numbers.astype(np.int64).astype(str).tolist()])
        return None if read is None else np.array(read, dtype="datetime64[us]")
    if np.mean(steps == np.median(steps)) < _REGULAR:
        return None
    for per_second in (1, 1000):
        if numbers[0] >= _FIRST_SECOND * per_second and numbers[-1] <= _LAST_SECOND * per_second:
            return (numbers * (1_000_000 // per_second)).astype(np.int64).astype("datetime64[us]")
    return None


def time_column(columns: Mapping[str, Any]) -> str | None:
    """The first column that holds times, unless it is the only one."""
    return next((name for name in columns if len(columns) > 1 and timestamps_of(columns[name]) is not None), None)
