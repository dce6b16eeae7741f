"""The door for tables: each numeric column in words, and the correlations worth knowing.

Two random walks correlate by chance. Three tests are made, each right for them, too, and paid for: of the values, the
sample size divided by the two columns' common persistence; of their changes, likewise; and whether two independent
random walks ever come as close as these.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from scipy.special import stdtr

from batchwork.frame.analysis import analyse, one_thread
from batchwork.frame.csv_columns import CsvFile, read_csv
from batchwork.frame.description import Description, jsonable
from batchwork.frame.noise import Floats, upper_persistence
from batchwork.frame.samples import FrameError, Samples, exponent_of, read_samples
from batchwork.frame.timestamps import doubt_about, time_column, timestamps_of
from batchwork.frame.words import render, write

_LEVEL = 0.01
_NOTABLE = 0.3
_STRIKING = 0.5  # a reader who correlates for himself would ask why this one is not listed
_MOST_LISTED = 10
_MOST_DOUBTFUL = 3
_IDENTIFIER = re.compile(r"(?i)(^|[^a-z])(id|ids|index|idx|row|rows|nr|no|number|nummer|key)$|^unnamed: 0$|[a-z]I[Dd]$")
_FEWEST = 5  # rows for a test
_EXACT = 1e-9  # standard deviations: what rounding leaves of an exact line


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Pearson's correlation of two columns, with the p-value of none; 0 where one is an exact line of the other."""

    first: str
    second: str
    r: float
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDescription:
    """Every numeric column's description, the columns that are not numeric, the notable correlations.

    `set_aside` are columns of row numbers and of further times; `doubtful` are pairs that correlate by as much as
    columns of such a memory do by chance.
    """

    rows: int
    time: str | None  # the column that holds the times of all others
    columns: dict[str, Description]
    skipped: dict[str, str]
    correlations: tuple[Correlation, ...]
    doubtful: tuple[Correlation, ...] = ()
    set_aside: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists, ready for JSON."""
        return {name: jsonable(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSamples:
    """The columns of numbers as samples, the column of their times, and the others with the reason why not."""

    time: str | None
    times: Any
    samples: dict[str, Samples]
    skipped: dict[str, str]
    set_aside: dict[str, str]


def columns_of(table: Any) -> dict[str, Any]:
    """The columns of a mapping, a pandas, polars or arrow table, or a two-dimensional array."""
    if isinstance(table, Mapping):
        return {str(name): column for name, column in table.items()}
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise FrameError(f"expected a table, got an array of shape {table.shape}: use describe_series")
        return {str(index): table[:, index] for index in range(table.shape[1])}
    names = getattr(table, "column_names", getattr(table, "columns", None))
    if names is None:
        raise FrameError(f"expected a table with columns, got {type(table).__name__}")
    return {str(name): table[name] for name in names}


@overload
def describe_dataframe(df: Any, output: Literal["text"] = "text", *, encoding: str | None = None) -> str: ...
@overload
def describe_dataframe(df: Any, output: Literal["json"], *, encoding: str | None = None) -> dict[str, Any]: ...
@overload
def describe_dataframe(df: Any, output: Literal["full"], *, encoding: str | None = None) -> TableDescription: ...
def describe_dataframe(
    df: Any, output: str = "text", *, encoding: str | None = None
) -> str | dict[str, Any] | TableDescription:
    """Describe every numeric column of a table (or of a CSV file, by its path) and the notable correlations.

    A column of times is the time of all others. `encoding` is that of a file which is not UTF-8.

    Raises:
        FrameError: it has no columns.
    """
    if output not in ("text", "json", "full"):
        raise FrameError(f"output must be 'text', 'json' or 'full', got {output!r}")
    file = read_csv(df, encoding) if isinstance(df, str | Path) else CsvFile(columns=columns_of(df))
    table = table_of(file, dated=_is_dated(df))
    if output == "full":
        return table
    return render_table(table) if output == "text" else table.as_dict()


def _is_dated(df: Any) -> bool:
    """Whether the rows bring their times along, as a pandas index of dates does."""
    return str(getattr(getattr(df, "index", None), "dtype", "")).startswith(("datetime64", "period"))


def table_of(file: CsvFile, *, dated: bool = False) -> TableDescription:
    """The description of columns."""
    table = read_table(file, dated=dated)
    described = {name: analyse(samples, name, file.units.get(name)) for name, samples in table.samples.items()}
    with one_thread():
        notable, doubtful = notable_correlations(table.samples)
    return TableDescription(
        rows=max((len(column) for column in file.columns.values()), default=0),
        time=table.time,
        columns=described,
        skipped=table.skipped,
        correlations=tuple(notable),
        doubtful=tuple(doubtful),
        set_aside=table.set_aside,
    )


def read_table(file: CsvFile, *, dated: bool = False) -> TableSamples:
    """The samples of columns; unless they are `dated`, one that holds times is the time of the others."""
    columns = file.columns
    time = None if dated else time_column(columns)
    times = None if time is None else timestamps_of(columns[time], time)
    skipped: dict[str, str] = {}
    set_aside: dict[str, str] = {}
    read: dict[str, Samples] = {}
    for name, column in columns.items():
        if name == time:
            continue
        if time is not None and timestamps_of(column, name) is not None:
            set_aside[name] = f"times, too; those in {time} are used"
            continue
        doubt = doubt_about(column, name)
        try:
            samples = read_samples(column, times)
        except FrameError as error:
            skipped[name] = doubt or file.reasons.get(name, str(error))
            continue
        notes = (note for note in (doubt, file.notes.get(name)) if note is not None)
        read[name] = replace(samples, notes=(*notes, *samples.notes))
    for name in identifiers(read):
        del read[name]
        set_aside[name] = "numbers of the rows"
    return TableSamples(time=time, times=times, samples=read, skipped=skipped, set_aside=set_aside)


def identifiers(read: Mapping[str, Samples]) -> list[str]:
    """Columns that number the rows, by name and in equal steps; none where there is nothing else to describe."""
    found = [name for name, samples in read.items() if _IDENTIFIER.search(name) and _counts_up(samples)]
    return found if len(found) < len(read) else []


def _counts_up(samples: Samples) -> bool:
    values = samples.values
    return 1 < values.size == samples.length and bool((np.abs(np.diff(values[np.argsort(samples.rows)])) == 1.0).all())


def notable_correlations(read: dict[str, Samples]) -> tuple[list[Correlation], list[Correlation]]:
    """Pairs that correlate by 0.3 or more and by more than chance over all pairs; of the others those from 0.5 on."""
    names = list(read)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if read[a].length == read[b].length]
    found, doubtful = [], []
    for first, second in pairs:
        r, p_value = _correlate(read[first], read[second])
        pair = Correlation(first=first, second=second, r=r, p_value=p_value)
        if abs(r) >= _NOTABLE and p_value * len(pairs) < _LEVEL:
            found.append(pair)
        elif abs(r) >= _STRIKING:
            doubtful.append(pair)
    return sorted(found, key=lambda pair: -abs(pair.r)), sorted(doubtful, key=lambda pair: -abs(pair.r))


def _correlate(first: Samples, second: Samples) -> tuple[float, float]:
    """Correlation and p-value; none where it cannot be tested."""
    rows, a, b = np.intersect1d(first.rows, second.rows, return_indices=True)
    n = rows.size
    x, y = _standard(first.values[a]), _standard(second.values[b])
    if n < 3 or x is None or y is None:
        return 0.0, 1.0
    r = float(np.clip(x @ y / n, -1.0, 1.0))
    if np.abs(y - np.sign(r) * x).max() < _EXACT and (n >= _FEWEST or np.unique(x).size > 2):
        return r, 0.0
    if n < _FEWEST:
        return r, 1.0
    chances = (_chance(x, y, r), _chance(np.diff(x), np.diff(y), r), _chance_of_walks(r, n))
    return r, min(len(chances) * min(chances), 1.0)


def _chance(x: Floats, y: Floats, direction: float) -> float:
    """How likely two columns of such persistence correlate so in this direction, and are independent."""
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt(float(x @ x) * float(y @ y)))
    r = float(x @ y) / size if size > 0 else 0.0
    memory = max(upper_persistence(x, 1.0), 0.0) * max(upper_persistence(y, 1.0), 0.0)
    worth = x.size * (1.0 - memory) / (1.0 + memory)
    if worth <= 3.0 or r * direction <= 0:
        return 1.0
    t = abs(r) * np.sqrt((worth - 2.0) / max(1.0 - r * r, 1e-15))
    return 2.0 * float(stdtr(worth - 2.0, -t))


def _chance_of_walks(r: float, n: int) -> float:
    """How likely two independent random walks of n points correlate by r or more; a fit to 40,000 pairs a length."""
    return float((0.011 + 1.6 / n**2) * ((1.0 - abs(r)) / 0.1) ** (3.6 - 11.5 / n))


def _standard(values: Floats) -> Floats | None:
    """Values about 0 with a deviation of 1; None where nothing varies."""
    if values.size < 2:
        return None
    scaled = np.ldexp(values, -exponent_of(values))
    spread = float(scaled.std())
    return (scaled - scaled.mean()) / spread if spread > 0 else None


def render_table(table: TableDescription) -> str:
    """A table in words: a line per column, then the correlations, then what was left out."""
    if not table.rows:
        return f"table: no rows (columns {', '.join([*table.columns, *table.skipped]) or 'none'})."
    time = f", times in {table.time}" if table.time is not None else ""
    lines = [f"table: rows {table.rows}, numeric columns {len(table.columns)}{time}"]
    lines += [render(description) for description in table.columns.values()]
    if table.correlations:
        pairs, more = _listed(table.correlations, _MOST_LISTED)
        lines.append(f"correlations{more}: {pairs}.")
    elif len(table.columns) > 1:
        lines.append("correlations: none beyond chance.")
    if table.doubtful:
        pairs, more = _listed(table.doubtful, _MOST_DOUBTFUL)
        lines.append(f"not listed{more}: {pairs}; so few or so slowly wandering values reach this by chance.")
    for what, left_out in (("not numeric", table.skipped), ("not described", table.set_aside)):
        if left_out:
            lines.append(f"{what}: " + "; ".join(f"{name[:40]} ({why[:90]})" for name, why in left_out.items()) + ".")
    return "\n".join(lines)


def _listed(found: tuple[Correlation, ...], most: int) -> tuple[str, str]:
    """The strongest pairs in words, and of how many they are."""
    shown = found[:most]
    pairs = "; ".join(f"{pair.first} and {pair.second} {write(round(pair.r, 3))}" for pair in shown)
    return pairs, f" (strongest {len(shown)} of {len(found)})" if len(shown) < len(found) else ""
