"""The door for files: the column of a CSV file that is meant, and a picture of a series as PNG or SVG."""

import csv
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from batchwork.frame.analysis import analyse
from batchwork.frame.description import Description
from batchwork.frame.samples import FrameError, read_samples

_TIME_NAMES = frozenset({"time", "date", "datetime", "timestamp", "ts", "day", "ds"})
_MOST_POINTS = 2000  # of a picture


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDescription:
    """A described column of a file, with the values and the times it was read from."""

    path: str
    column: str
    values: list[Any]
    times: Any
    description: Description


def read_columns(path: str | Path) -> dict[str, list[str]]:
    """The columns of a CSV file as text; a first line that is all numbers is data, not names."""
    with Path(path).open(newline="", encoding="utf-8-sig") as handle:
        start = handle.read(4096)
        handle.seek(0)
        rows = [row for row in csv.reader(handle, delimiter=_delimiter(start)) if row]
    if not rows:
        raise FrameError(f"{path} is empty")
    names = [name.strip() for name in rows[0]]
    body = rows[1:]
    if all(_is_number(name) for name in names):
        names, body = [f"column {index}" for index in range(len(rows[0]))], rows
    for number, row in enumerate(body, start=len(rows) - len(body) + 1):
        if len(row) > len(names):
            raise FrameError(f"{path} row {number} has {len(row)} fields, the header {len(names)}")
    return {name: [row[i] if i < len(row) else "" for row in body] for i, name in enumerate(names)}


def _delimiter(start: str) -> str:
    first = start.partition("\n")[0]
    return max(",;\t", key=first.count)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def describe_file(path: str | Path, column: str | None = None) -> FileDescription:
    """Describe one column of a CSV file: the one named, or the first that holds numbers.

    Raises:
        FrameError: there is no such column, or none with numbers; the message lists what there is.
    """
    columns = read_columns(path)
    times = _times(columns, column)
    if column is not None and column not in columns:
        raise FrameError(f"{path} has no column {column!r}; it has {', '.join(columns)}")
    reasons = []
    for name in [column] if column is not None else [name for name in columns if not _is_time(name)]:
        try:
            samples = read_samples(columns[name], times)
        except FrameError as error:
            if column is not None:
                raise
            reasons.append(f"{name}: {error}")
            continue
        if samples.values.size or column is not None or len(columns) == 1:
            description = analyse(samples, context=name)
            return FileDescription(
                path=str(path), column=name, values=columns[name], times=times, description=description
            )
    raise FrameError(f"{path} has no column of numbers ({'; '.join(reasons)[:300] or 'all empty'})")


def _is_time(name: str) -> bool:
    return name.strip().lower() in _TIME_NAMES


def _times(columns: dict[str, list[str]], column: str | None) -> Any:
    """Timestamps of the column that is named like one, if all of it can be read so."""
    for name, items in columns.items():
        if _is_time(name) and name != column and items:
            try:
                return np.array(items, dtype="datetime64[us]")
            except ValueError:
                return None
    return None


def plot(data: Any, path: str | Path, *, description: Description | None = None, title: str | None = None) -> Path:
    """Draw a series, its change points and its anomalies into a PNG or SVG file.

    Needs altair and vl-convert (`pip install batchwork[plot]`).

    Raises:
        FrameError: the data cannot be described, or the file is neither PNG nor SVG.
    """
    target = Path(path)
    if target.suffix.lower() not in (".png", ".svg"):
        raise FrameError(f"a plot is .png or .svg, got {target.name!r}")
    chart = chart_of(data, description=description, title=title)
    chart.save(str(target), scale_factor=1.25) if target.suffix.lower() == ".png" else chart.save(str(target))
    return target


def chart_of(data: Any, *, description: Description | None = None, title: str | None = None) -> Any:
    """The Altair chart of a series."""
    try:
        alt: Any = import_module("altair")  # an optional extra, needed here alone
    except ImportError as error:
        raise FrameError("plots need the extra: pip install batchwork[plot]") from error
    samples = read_samples(data)
    described = description if description is not None else analyse(samples)
    stride = max(1, samples.values.size // _MOST_POINTS)
    points: list[dict[str, float | None]] = []
    before = -1
    for row, value in zip(samples.rows[::stride].tolist(), samples.values[::stride].tolist(), strict=True):
        if stride == 1 and row > before + 1:
            points.append({"index": row - 1, "value": None})  # a gap is no straight line
        points.append({"index": row, "value": value})
        before = row
    across = alt.X("index:Q", title="index")
    up = alt.Y("value:Q", title=described.unit or "value", scale=alt.Scale(zero=False))
    layers = [alt.Chart(alt.Data(values=points)).mark_line(color="#4c78a8", strokeWidth=1).encode(x=across, y=up)]
    if described.change_points:
        steps = [{"index": point.index} for point in described.change_points]
        layers.append(alt.Chart(alt.Data(values=steps)).mark_rule(color="#54a24b", strokeDash=[4, 3]).encode(x=across))
    odd = [{"index": a.index, "value": a.value} for a in described.anomalies if np.isfinite(a.value)]
    if odd:
        mark = {"color": "#e45756", "size": 60, "filled": False, "strokeWidth": 2}
        layers.append(alt.Chart(alt.Data(values=odd)).mark_point(**mark).encode(x=across, y=up))
    return alt.layer(*layers).properties(width=640, height=220, title=title or described.context or "")
