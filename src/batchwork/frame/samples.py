"""Decide what counts as a number, from anywhere, where it stood, and the plain numbers of all of them.

Lists, numpy, pandas, polars and arrow columns come in by what they can do, so none of those libraries is imported.
Missing values keep their place; what cannot be described is refused with the item and its position. The numbers are
what numpy says, without overflow at either end of the scale.
"""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.axis import Axis, axis_of, even_axis
from batchwork.frame.description import Gaps, Statistics
from batchwork.frame.noise import Floats
from batchwork.frame.timeline import AS_GIVEN, Timeline, positions_of, timeline_of
from batchwork.frame.timestamps import doubt_about, timestamps_of

MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "<na>", "nat", "?"})
_EXACT = 2**53
_CLOSE = 1024  # values that differ by less than this part of themselves are told by their differences


class FrameError(ValueError):
    """The data cannot be described; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Finite values in order of time, each with its original row and its place on the time axis."""

    values: Floats
    rows: NDArray[np.int64]
    grid: Floats | None  # places on a time axis; None: the rows are the places
    length: int
    missing: int
    infinite: int
    gaps: Gaps | None
    base: int
    timeline: Timeline
    notes: tuple[str, ...]
    name: str | None

    @property
    def at(self) -> Floats:
        """The place of each value on the time axis, in steps; made anew each time, for it is as long as the data."""
        return self.rows.astype(np.float64) if self.grid is None else self.grid

    @property
    def axis(self) -> Axis:
        """The places of the values, from the first one on."""
        if self.grid is None and int(self.rows[-1] - self.rows[0]) == self.rows.size - 1:
            return even_axis(self.rows.size)
        return axis_of(self.at)


def read_samples(data: Any, times: Any = None) -> Samples:
    """The samples of anything that holds numbers; a FrameError says what is not a number, or not one series."""
    name = getattr(data, "name", None)
    raw = _to_array(data)
    values, base, notes = _to_floats(raw)
    length = values.size
    timeline = _timeline(data, times, length)
    finite = np.isfinite(values)
    infinite = int(np.isinf(values).sum())
    if infinite:
        first = int(np.flatnonzero(np.isinf(values))[0])
        notes = (*notes, f"{infinite} infinite left out (first at {first})")
    order = timeline.rows
    kept = finite if order is None else finite[order]
    rows = np.flatnonzero(kept) if order is None else order[kept]
    chosen = values if order is None and rows.size == length else values[rows]
    missing = length - int(finite.sum()) - infinite + timeline.absent
    return Samples(
        values=chosen,
        rows=rows.astype(np.int64, copy=False),
        grid=None if timeline.at is None else timeline.at[kept],
        length=length,
        missing=missing,
        infinite=infinite,
        gaps=_gaps(~np.isnan(values), timeline) if missing else None,
        base=base,
        timeline=timeline,
        notes=(*notes, *timeline.notes),
        name=str(name) if isinstance(name, str) and name else None,
    )


def _gaps(present: NDArray[np.bool_], timeline: Timeline) -> Gaps | None:
    """Where values are missing: runs of rows without a value and of steps without a row."""
    rows = np.arange(present.size) if timeline.rows is None else timeline.rows
    at = timeline.at if timeline.at is not None and timeline.absent else np.arange(present.size, dtype=np.float64)
    present = present[rows]
    if not present.any():
        return None
    places = np.concatenate([[at[0] - 1.0], at[present], [at[-1] + 1.0]])
    sizes = np.diff(places).astype(np.int64) - 1
    longest = int(np.argmax(sizes))
    known = rows[present]
    stamps = None if timeline.times is None else timeline.times[present]
    return Gaps(
        count=int(np.count_nonzero(sizes)),
        longest=int(sizes[longest]),
        after=None if longest == 0 else int(known[longest - 1]),
        before=None if longest == known.size else int(known[longest]),
        after_time=None if stamps is None or longest == 0 else _stamp(float(stamps[longest - 1])),
        before_time=None if stamps is None or longest == known.size else _stamp(float(stamps[longest])),
    )


def _stamp(seconds: float) -> str:
    """A time as ISO writes it, without a time of day that is midnight."""
    return str(np.datetime64(round(seconds), "s")).removesuffix("T00:00:00")


def _timeline(data: Any, times: Any, length: int) -> Timeline:
    """The timeline of the times given, or of the index that a pandas series brings along."""
    if times is not None:
        return _timed(times, length)
    index: Any = getattr(data, "index", None)
    kind = str(getattr(index, "dtype", ""))
    if kind.startswith("period") and hasattr(index, "to_timestamp"):
        return _timed(index.to_timestamp(), length)
    if kind.startswith("datetime64"):
        return _timed(index, length)
    if kind.startswith(("int", "uint")) and hasattr(index, "to_numpy"):
        return positions_of(np.asarray(index.to_numpy(), dtype=np.int64))
    return AS_GIVEN


def _timed(stamps: Any, length: int) -> Timeline:
    """The timeline of one time per item."""
    if getattr(stamps, "tz", None) is not None:
        local = stamps.tz_localize(None)  # days and months are those of the clock on the wall, hours those of the sun
        stamps = local if (local == local.normalize()).all() else stamps.tz_convert(None)
    raw = np.asarray(stamps.to_numpy() if hasattr(stamps, "to_numpy") else stamps)
    if raw.ndim != 1 or raw.size != length:
        raise FrameError(f"times must be one per value: got {raw.size} times for {length} values")
    if raw.dtype.kind in "OUSiuf":
        read = timestamps_of(raw, "times" if raw.dtype.kind in "OUS" else "")
        raw = _undated(raw) if read is None else read
    if raw.dtype.kind == "M":
        seconds = raw.astype("datetime64[us]").astype(np.int64) / 1e6
        return timeline_of(np.where(np.isnat(raw), np.nan, seconds), dated=True)
    try:
        return timeline_of(raw.astype(np.float64), dated=False)
    except (ValueError, TypeError) as error:
        raise FrameError(f"times are neither timestamps nor numbers: {error}") from error


def _undated(raw: NDArray[Any]) -> NDArray[Any]:
    """Times that are no dates: plain numbers, also as text, or times of numpy among other objects."""
    texts = [item for item in raw.tolist() if isinstance(item, str)]
    if not texts and raw.dtype.kind == "O":
        try:
            return raw.astype(np.float64 if all(isinstance(i, int | float) for i in raw.tolist()) else "datetime64[us]")
        except (ValueError, TypeError, OverflowError) as error:
            raise FrameError(f"times are not timestamps: {error}") from error
    try:
        return raw.astype(np.float64)
    except (ValueError, TypeError):
        doubt = doubt_about(raw) or f"for example {texts[0][:40]!r}" if texts else "nor numbers"
        raise FrameError(f"times are neither timestamps nor numbers: {doubt}") from None


def _to_array(data: Any) -> NDArray[Any]:
    """One dimension of whatever the values are."""
    if data is None or isinstance(data, str | bytes | dict | set | frozenset):
        raise FrameError(f"expected a series of numbers, got {type(data).__name__}")
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raw = np.asarray(np.ma.filled(data.astype(object), None))
    elif isinstance(data, np.ndarray):
        raw = np.asarray(data)
    elif hasattr(data, "to_pylist") and hasattr(data, "null_count"):  # arrow
        whole = data.null_count == 0 and str(data.type).startswith(("int", "uint", "float", "double"))
        raw = np.asarray(data) if whole or str(data.type) in ("float", "double") else _object(data.to_pylist())
    elif hasattr(data, "to_numpy"):
        raw = np.asarray(data.to_numpy())
    elif np.isscalar(data):
        raise FrameError(f"expected a series of numbers, got the single {type(data).__name__} {data!r}")
    else:
        raw = _object(list(data))
    if raw.ndim != 1:
        raise FrameError(f"expected one series, got shape {raw.shape}: pass one column, or use describe_dataframe")
    return raw


def _object(items: list[Any]) -> NDArray[Any]:
    """Items as they are: numpy would turn [1, "a"] into strings and [1, [2]] into an error of its own."""
    if all(type(item) is float for item in items) or all(type(item) is int and abs(item) <= _EXACT for item in items):
        return np.array(items, dtype=np.float64)
    raw = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        raw[index] = item
    return raw


def _to_floats(raw: NDArray[Any]) -> tuple[Floats, int, tuple[str, ...]]:
    """Values, the whole number that was taken off all of them (0 but for huge integers), and notes."""
    kind = raw.dtype.kind
    if kind == "f":
        return np.asarray(raw, dtype=np.float64), 0, ()
    if kind == "b":
        return raw.astype(np.float64), 0, ("booleans (true 1, false 0)",)
    if kind in "iu":
        base = _base(Fraction(int(raw.min())), Fraction(int(raw.max()))) if raw.size else 0
        if base:
            return np.array([float(int(item) - base) for item in raw]), base, ()
        return raw.astype(np.float64), 0, ()
    if kind in "OUS":
        return _parse([item.item() if isinstance(item, np.generic) else item for item in raw.tolist()])
    raise FrameError(f"expected numbers, got values of type {raw.dtype}")


def _parse(items: list[Any]) -> tuple[Floats, int, tuple[str, ...]]:
    numbers = [_number(item, index) for index, item in enumerate(items)]
    exact = [Fraction(n) for n in numbers if isinstance(n, int | Fraction)]
    whole = bool(exact) and len(exact) == sum(n is not None for n in numbers)
    base = _base(min(exact), max(exact)) if whole else 0
    notes = []
    if any(isinstance(item, str) for item in items):
        notes.append("numbers given as text")
    if any(isinstance(item, bool) for item in items) and all(isinstance(item, bool | None) for item in items):
        notes.append("booleans (true 1, false 0)")
    return np.array([_float(n, base) for n in numbers], dtype=np.float64), base, tuple(notes)


def _base(low: Fraction, high: Fraction) -> int:
    """What to take off huge numbers that lie close together, whose differences a float would lose; 0 for others."""
    largest = max(abs(low), abs(high))
    return int(low) if largest > _EXACT and (high - low) * _CLOSE < largest else 0


def _float(number: float | Fraction | None, base: int) -> float:
    if number is None:
        return float("nan")
    if base and not isinstance(number, float):
        number = number - base
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _number(item: Any, index: int) -> int | float | Fraction | None:
    """One item as a number, None if it is missing."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(item, bool | int | float | Fraction):
        return item
    if isinstance(item, bytes):
        item = item.decode("utf-8", "replace")
    if isinstance(item, str):
        if item.strip().lower() in MISSING_WORDS:
            return None
        try:
            item = Decimal(item.strip())
        except InvalidOperation:
            raise FrameError(f"item {index} is the text {item[:60]!r}, not a number") from None
    if not isinstance(item, Decimal):
        raise FrameError(f"item {index} is {item!r:.60} ({type(item).__name__}), not a number")
    if item.is_nan():
        return None
    if item.is_infinite() or abs(item.adjusted()) > 400:  # an exact fraction of 1e999999 would not fit in memory
        return float(item)
    return Fraction(item)


def exponent_of(values: Floats) -> int:
    """A power of two by which values come near 1, so that no square overflows or vanishes."""
    largest = float(np.max(np.abs(values))) if values.size else 0.0
    return int(np.frexp(largest)[1]) if largest > 0 else 0


def ldexp_or_inf(number: float, exponent: int) -> float:
    """number times 2**exponent; infinite beyond the largest float, which the words then say."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(number, exponent))


def statistics_of(samples: Samples) -> Statistics | None:
    """The numbers of the finite values, or None if there are none."""
    values = samples.values
    if values.size == 0:
        return None
    exponent = exponent_of(values)
    scaled = np.ldexp(values, -exponent)
    low, high = int(np.argmin(scaled)), int(np.argmax(scaled))
    mean = float(scaled.mean())
    slope, r2 = _line(scaled, samples.at)
    sizes = dict(zip(("p5", "p25", "median", "p75", "p95"), np.percentile(scaled, (5, 25, 50, 75, 95)), strict=True))
    sizes |= {"iqr": sizes["p75"] - sizes["p25"], "mean": mean, "std": float(scaled.std()), "total": mean * values.size}
    sizes |= {"minimum": scaled[low], "maximum": scaled[high], "range": scaled[high] - scaled[low]}
    sizes |= {"first": scaled[0], "last": scaled[-1], "slope": slope * samples.timeline.per_unit}
    return Statistics(
        **{name: ldexp_or_inf(number, exponent) for name, number in sizes.items()},
        minimum_at=_first_row(samples, low),
        maximum_at=_first_row(samples, high),
        last_at=int(samples.rows[-1]),
        r2=r2,
    )


def _first_row(samples: Samples, place: int) -> int:
    """The original index of an extreme; of equal ones the first in the original order."""
    same = samples.values == samples.values[place]
    return int(samples.rows[same].min())


def _line(scaled: Floats, at: Floats) -> tuple[float, float]:
    """Least-squares slope per step over everything, and the share of the variance it explains."""
    if scaled.size < 2:
        return 0.0, 0.0
    t = at - at.mean()
    y = scaled - scaled.mean()
    across, along, up = float(t @ y), float(t @ t), float(y @ y)
    if along <= 0 or up <= 0:
        return 0.0, 0.0
    return across / along, min(across * across / (along * up), 1.0)
