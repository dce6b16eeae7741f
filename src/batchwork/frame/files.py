"""The door for files: the column of a CSV file that is meant, and a picture of a series as PNG or SVG."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from batchwork.frame.analysis import analyse
from batchwork.frame.csv_columns import read_csv
from batchwork.frame.description import Description
from batchwork.frame.samples import FrameError, read_samples
from batchwork.frame.table import read_table

_MOST_POINTS = 2000  # of a picture


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDescription:
    """A described column of a file with its numbers (None: missing) and their times.

    `others` are the other columns of numbers, `left_out` those that hold something else.
    """

    path: str
    column: str
    others: tuple[str, ...]
    left_out: tuple[str, ...]
    values: list[Any]
    times: Any
    description: Description


def describe_file(path: str | Path, column: str | None = None, *, encoding: str | None = None) -> FileDescription:
    """Describe one column of a CSV file: the one named, or the first that holds numbers other than those of the rows.

    Raises:
        FrameError: there is no such column, or none with numbers; the message lists what there is.
    """
    file = read_csv(path, encoding)
    if column is not None and column not in file.columns:
        raise FrameError(f"{path} has no column {column!r}; it has {', '.join(file.columns)}")
    table = read_table(file)
    numeric = [name for name, samples in table.samples.items() if samples.values.size or samples.infinite]
    if column is None and not numeric:
        others = (name for name in file.columns if name != table.time)
        why = "; ".join(f"{name}: {table.skipped.get(name, 'all empty')}" for name in others)
        raise FrameError(f"{path} has no column of numbers ({why[:300]})")
    chosen = column if column is not None else numeric[0]
    times = None if chosen == table.time else table.times
    try:
        samples = table.samples.get(chosen) or read_samples(file.columns[chosen], times)
    except FrameError:
        why, known = table.skipped.get(chosen, "it holds times"), ", ".join(numeric) or "none"
        raise FrameError(f"{path} column {chosen!r}: {why}; columns of numbers: {known}") from None
    return FileDescription(
        path=str(path),
        column=chosen,
        others=tuple(name for name in numeric if name != chosen),
        left_out=tuple(name for name in file.columns if name not in (chosen, table.time, *numeric)),
        values=file.columns[chosen],
        times=times,
        description=analyse(samples, chosen, file.units.get(chosen)),
    )


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
