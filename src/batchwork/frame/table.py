"""The door for tables: each numeric column in words, and the correlations worth knowing.

Two random walks correlate by chance, so the test's sample size is divided by the two columns' common persistence.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, overload

import numpy as np
from scipy.special import stdtr

from batchwork.frame.analysis import analyse, one_thread
from batchwork.frame.description import Description, jsonable
from batchwork.frame.noise import Floats, upper_persistence
from batchwork.frame.samples import FrameError, Samples, exponent_of, read_samples
from batchwork.frame.words import render, write

_LEVEL = 0.01
_NOTABLE = 0.3
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Pearson's correlation of two columns, with the p-value of none."""

    first: str
    second: str
    r: float
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDescription:
    """Every numeric column's description, the columns that are not numeric, the notable correlations."""

    rows: int
    columns: dict[str, Description]
    skipped: dict[str, str]
    correlations: tuple[Correlation, ...]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists, ready for JSON."""
        return {name: jsonable(value) for name, value in asdict(self).items()}


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
def describe_dataframe(df: Any, output: Literal["text"] = "text") -> str: ...
@overload
def describe_dataframe(df: Any, output: Literal["json"]) -> dict[str, Any]: ...
@overload
def describe_dataframe(df: Any, output: Literal["full"]) -> TableDescription: ...
def describe_dataframe(df: Any, output: str = "text") -> str | dict[str, Any] | TableDescription:
    """Describe every numeric column of a table and the notable correlations between them.

    Raises:
        FrameError: it has no columns.
    """
    if output not in ("text", "json", "full"):
        raise FrameError(f"output must be 'text', 'json' or 'full', got {output!r}")
    described: dict[str, Description] = {}
    skipped: dict[str, str] = {}
    read: dict[str, Samples] = {}
    for name, column in columns_of(df).items():
        try:
            read[name] = read_samples(column)
        except FrameError as error:
            skipped[name] = str(error)
            continue
        described[name] = analyse(read[name], context=name)
    rows = max((samples.length for samples in read.values()), default=0)
    with one_thread():
        notable = tuple(notable_correlations(read))
    table = TableDescription(rows=rows, columns=described, skipped=skipped, correlations=notable)
    if output == "full":
        return table
    return render_table(table) if output == "text" else table.as_dict()


def notable_correlations(read: dict[str, Samples]) -> list[Correlation]:
    """Pairs that correlate by 0.3 or more and by more than chance over all pairs, strongest first."""
    names = list(read)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if read[a].length == read[b].length]
    found = []
    for first, second in pairs:
        r, p_value = _correlate(read[first], read[second])
        if abs(r) >= _NOTABLE and p_value * len(pairs) < _LEVEL:
            found.append(Correlation(first=first, second=second, r=r, p_value=p_value))
    return sorted(found, key=lambda pair: -abs(pair.r))


def _correlate(first: Samples, second: Samples) -> tuple[float, float]:
    """Correlation and p-value; none where it cannot be tested."""
    rows, a, b = np.intersect1d(first.rows, second.rows, return_indices=True)
    n = rows.size
    x, y = _standard(first.values[a]), _standard(second.values[b])
    if n < 8 or x is None or y is None:
        return 0.0, 1.0
    r = float(np.clip(x @ y / n, -1.0, 1.0))
    memory = max(upper_persistence(x, 1.0), 0.0) * max(upper_persistence(y, 1.0), 0.0)
    worth = n * (1.0 - memory) / (1.0 + memory)
    if worth <= 3.0:
        return r, 1.0
    t = abs(r) * np.sqrt((worth - 2.0) / max(1.0 - r * r, 1e-15))
    return r, 2.0 * float(stdtr(worth - 2.0, -t))


def _standard(values: Floats) -> Floats | None:
    scaled = np.ldexp(values, -exponent_of(values))
    spread = float(scaled.std())
    return (scaled - scaled.mean()) / spread if spread > 0 else None


def render_table(table: TableDescription) -> str:
    """A table in words: a line per column, then the correlations, then what was left out."""
    lines = [f"table: rows {table.rows}, numeric columns {len(table.columns)}"]
    lines += [render(description) for description in table.columns.values()]
    if table.correlations:
        shown = table.correlations[:_MOST_LISTED]
        pairs = "; ".join(f"{pair.first} and {pair.second} {write(round(pair.r, 3))}" for pair in shown)
        more = f" (strongest {len(shown)} of {len(table.correlations)})" if len(shown) < len(table.correlations) else ""
        lines.append(f"correlations{more}: {pairs}.")
    else:
        lines.append("correlations: none notable.")
    if table.skipped:
        lines.append("not numeric: " + "; ".join(f"{name} ({why})"[:100] for name, why in table.skipped.items()) + ".")
    return "\n".join(lines)
