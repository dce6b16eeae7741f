"""Decide where on the time axis each row stands: in order of time, in regular steps where there are any.

Regular are equal steps, business days, months, quarters and years; a date that such a calendar has and the rows have
not is a hole. Times without a rule keep their distances.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.noise import Floats

_EVEN = 0.2  # a time within this share of a step from a whole step is on the grid
_WIDEST = 3  # a grid this many times longer than the series is no grid
_DAY = 86400.0
_MONTH = 365.2425 / 12 * _DAY
_UNITS = ((_DAY, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The rows in order of time (None: as given) and their places in steps (None: their index).

    `unit` names what a slope is per, `per_unit` is how many steps that is; `absent` counts the steps without a row.
    """

    rows: NDArray[np.int64] | None = None
    at: Floats | None = None
    step_s: float | None = None
    times: Floats | None = None  # in seconds since 1970, where rows were sorted by them
    unit: str = "step"
    per_unit: float = 1.0
    absent: int = 0
    notes: tuple[str, ...] = ()


AS_GIVEN = Timeline()


def counted(count: int, noun: str) -> str:
    """A count with its noun: "1 time gap", "2 time gaps"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def timeline_of(times: Floats, *, dated: bool) -> Timeline:
    """The timeline of one time per row: seconds since 1970 when `dated`, else plain numbers."""
    unknown = np.flatnonzero(~np.isfinite(times))
    if unknown.size:
        note = f"{counted(unknown.size, 'timestamp')} missing (first at {unknown[0]}), order as given"
        return Timeline(notes=(note,))
    notes: tuple[str, ...] = ()
    rows = np.arange(times.size)
    back = np.flatnonzero(np.diff(times) < 0)
    if back.size:
        notes = (f"timestamps out of order (first at {back[0] + 1}), sorted by time",)
        rows = np.argsort(times, kind="stable")
        times = times[rows]
    order = np.arange(times.size, dtype=np.float64)
    repeated = int((np.diff(times) == 0).sum())
    if repeated or times.size < 3:
        notes += (f"{counted(repeated, 'repeated timestamp')}, order used",) if repeated else ()
        return Timeline(rows=rows, at=order, notes=notes)
    step = float(np.median(np.diff(times)))
    for at, step_s, unit in _calendars(times, step) if dated else [((times - times[0]) / step, None, "unit of time")]:
        grid = np.round(at)
        if (np.abs(at - grid) > _EVEN).any() or (np.diff(grid) < 1).any() or grid[-1] + 1 > _WIDEST * times.size:
            continue
        absent = int(grid[-1]) + 1 - times.size
        if absent:
            gaps = counted(int((np.diff(grid) > 1).sum()), "time gap")
            notes += (f"{gaps} ({counted(absent, 'step')} absent)",)
        per_unit = 1.0 if dated else 1.0 / step
        known = times if dated and back.size else None
        return Timeline(
            rows=rows, at=grid, step_s=step_s, times=known, unit=unit, per_unit=per_unit, absent=absent, notes=notes
        )
    size, unit = unit_below(step) if dated else (1.0, "unit of time")
    return Timeline(
        rows=rows,
        at=(times - times[0]) / step,
        step_s=step if dated else None,
        unit=unit,
        per_unit=size / step,
        notes=(*notes, "uneven time steps"),
    )


def positions_of(index: NDArray[np.int64]) -> Timeline:
    """The timeline of whole-numbered labels: holes where some were dropped, none where they follow no rule."""
    changes = np.diff(index)
    if index.size < 3 or (changes <= 0).any() or (changes == changes[0]).all():
        return AS_GIVEN
    found = timeline_of(index.astype(np.float64), dated=False)
    if not found.absent:
        return AS_GIVEN
    return Timeline(at=found.at, notes=(f"index with holes ({counted(found.absent, 'step')} absent)",))


def _calendars(times: Floats, step: float) -> list[tuple[Floats, float, str]]:
    """Places in steps of every calendar that the dates may follow, with the seconds and the name of a step."""
    stamps = times.astype("datetime64[s]")
    days = stamps.astype("datetime64[D]")
    at_one_hour = bool((times % _DAY == times[0] % _DAY).all())
    found: list[tuple[Floats, float, str]] = []
    if at_one_hour and step == _DAY and np.is_busday(days).all() and times[-1] - times[0] > 8 * _DAY:
        found.append((np.busday_count(days[0], days).astype(np.float64), _DAY * 7 / 5, "business day"))
    months = stamps.astype("datetime64[M]")
    number = months.astype(np.int64)
    day = (days - months.astype("datetime64[D]")).astype(np.int64)
    last = ((months + 1).astype("datetime64[D]") - days).astype(np.int64) == 1
    if step > 27 * _DAY and ((day == day.max()) | (last & (day < day.max()))).all():
        size = max(int(np.median(np.diff(number))), 1)
        name = {1: "month", 12: "year"}.get(size, f"{size} months")
        found.append(((number - number[0]) / size, size * _MONTH, name))
    return [*found, ((times - times[0]) / step, step, _named(step))]


def unit_below(seconds: float) -> tuple[float, str]:
    """The largest unit of time that is no longer than this."""
    return next(((size, name) for size, name in _UNITS if seconds >= size), (1.0, "second"))


def _named(seconds: float) -> str:
    """A step in words: "day", "15 minutes"."""
    size, name = unit_below(seconds)
    count = seconds / size
    if seconds == 7 * _DAY:
        return "week"
    return name if count == 1.0 else f"{count:.4g} {name}s"
