"""Decide whether a column holds times, by what it holds, and which times they are.

Text: ISO dates and times (with or without an offset), and dates with the day or the month first where the column itself
shows which. Digits are times where `epochs` says so. Nothing is guessed: a column that could be read in two ways is no
time, and `doubt_about` says why.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.epochs import SMALLEST, is_time_name, may_be_epochs, times_of_digits

Stamps = NDArray[np.datetime64]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MONTH = re.compile(r"(\d{4})[-/](\d{1,2})$")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)(.*)$", re.DOTALL)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)(.*)$", re.DOTALL)
_CLOCK = re.compile(r"(?:T|,?\s+)(\d{1,2}):(\d{2})(:\d{2}(?:\.\d+)?)?(?:\s*([ap])\.?m\.?)?(\D.*)?$", re.IGNORECASE)
_LIKE_A_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d)")
_OTHERS = 0.2  # the share of cells in a column of dates that may be none
_NO_TIMES = frozenset({"", "nat", "nan", "null", "none", "na", "n/a"})


def timestamps_of(items: Any, name: str = "") -> Stamps | None:
    """The times that a column holds, one for each item (NaT where one is missing); None if it holds something else.

    Digits need more evidence in a column whose name says nothing of time.
    """
    raw = np.asarray(items.to_numpy() if hasattr(items, "to_numpy") else items)
    if raw.ndim != 1 or raw.size == 0:
        return None
    if raw.dtype.kind == "M":
        return raw.astype("datetime64[us]")
    if raw.dtype.kind in "OUS":
        return _of_objects(raw.tolist(), name)
    return times_of_digits(raw.tolist(), name) if raw.dtype.kind in "iuf" and raw.min() >= SMALLEST else None


def _of_objects(items: list[Any], name: str) -> Stamps | None:
    """The times of texts, of Python's own dates, and of numbers among missing ones."""
    known = [not _is_missing(item) for item in items]
    present = [item for item, there in zip(items, known, strict=True) if there]
    if not present:
        return None
    if all(isinstance(item, str) for item in present):
        texts = [item.strip() for item in present]
        read = times_of_digits([int(text) for text in texts], name) if are_digits(texts) else _of_texts(texts)
    elif all(hasattr(item, "isoformat") and hasattr(item, "year") for item in present):
        read = _of_texts([item.isoformat() for item in present])
    elif all(isinstance(item, int | float) and not isinstance(item, bool) for item in present):
        read = times_of_digits(present, name)
    else:
        read = None
    if read is None:
        return None
    stamps = np.full(len(items), "NaT", dtype="datetime64[us]")
    stamps[known] = read
    return stamps


def are_digits(texts: list[str]) -> bool:
    """Whether every text is a whole number, short enough for a time."""
    return all(text.isascii() and text.isdecimal() and len(text) < 20 for text in texts)


def _is_missing(item: Any) -> bool:
    if isinstance(item, str):
        return item.strip().lower() in _NO_TIMES
    return item is None or type(item).__name__ in ("NAType", "NaTType") or (isinstance(item, float) and isnan(item))


def _of_texts(texts: list[str]) -> Stamps | None:
    """The time of every text, all read in one way; None if one is no time."""
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
    return np.array(read, dtype="datetime64[us]")


def _iso(texts: list[str]) -> list[str] | None:
    """The same times with the year first; None if they are no dates, or the order of day and month cannot be known."""
    parts = [_YEAR_LAST.match(text) for text in texts]
    if all(part is not None for part in parts):
        fields = [part.groups() for part in parts if part is not None]
        if _has_two_readings(texts):
            return None
        turn = max(int(field[2]) for field in fields) > 12
        return [
            f"{year}-{int(a if turn else b):02}-{int(b if turn else a):02}{_clock(rest)}"
            for a, _, b, year, rest in fields
        ]
    turned = []
    for text in texts:
        whole, month_only = _YEAR_FIRST.match(text), _MONTH.match(text)
        if whole is not None:
            year, month, day, rest = whole.groups()
            turned.append(f"{year}-{int(month):02}-{int(day):02}{_clock(rest)}")
        elif month_only is not None:
            turned.append(f"{month_only[1]}-{int(month_only[2]):02}-01")
        else:
            return None
    return turned


def _has_two_readings(texts: list[str]) -> bool:
    """Whether day and month cannot be told apart, as in 01/02/2026; with dots, the day is always first."""
    parts = [_YEAR_LAST.match(text) for text in texts]
    fields = [part.groups() for part in parts if part is not None]
    return len(fields) == len(texts) and all(
        int(first) <= 12 and int(second) <= 12 and between != "." for first, between, second, *_ in fields
    )


def _clock(rest: str) -> str:
    """The time of day as ISO has it: 3:00 PM is T15:00."""
    found = _CLOCK.match(rest)
    if found is None:
        return rest
    hour, minute, second, half, zone = found.groups()
    if half is not None:
        if not 1 <= int(hour) <= 12:
            return rest
        hour = str(int(hour) % 12 + 12 * (half.lower() == "p"))
    return f"T{int(hour):02}:{minute}{second or ''}{(zone or '').strip()}"


def doubt_about(items: Any, name: str = "") -> str | None:
    """Why a column that looks like times was not read as such; None where it does not look so, or was read."""
    raw = np.asarray(items.to_numpy() if hasattr(items, "to_numpy") else items)
    if raw.ndim != 1 or raw.size == 0 or raw.dtype.kind not in "OUSiuf":
        return None
    if (raw.dtype.kind in "iuf" and not raw.min() >= SMALLEST) or timestamps_of(raw, name) is not None:
        return None
    present = [item for item in raw.tolist() if not _is_missing(item)]
    if not present:
        return None
    if all(isinstance(item, str) for item in present):
        texts = [item.strip() for item in present]
        others = [text for text in texts if not _LIKE_A_DATE.match(text)]
        if len(others) > _OTHERS * len(texts):
            return None
        if others:
            return f"dates not read as time: {others[0][:30]!r} is none"
        if _has_two_readings(texts):
            return "dates not read as time: day and month cannot be told apart"
        return "dates not read as time: not all are dates of one form; 2026-01-31 is always read"
    numeric = all(isinstance(item, int | float) and not isinstance(item, bool) for item in present)
    return may_be_epochs(present) if numeric else None


def time_column(columns: Mapping[str, Any]) -> str | None:
    """The column that holds the times of the others: dates before digits, then by name, then the first."""
    if len(columns) < 2:
        return None
    found = [name for name in columns if timestamps_of(columns[name], name) is not None]
    return min(found, key=lambda name: (_is_plain(columns[name]), not is_time_name(name)), default=None)


def _is_plain(column: Any) -> bool:
    """Whether a column of times is made of plain numbers."""
    raw = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    return raw.dtype.kind in "iuf" or (raw.dtype.kind == "O" and any(isinstance(item, int) for item in raw.tolist()))
