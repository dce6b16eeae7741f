"""Batches of Arrow, read as rows; the one place of the tables where pyarrow is imported.

What is read is a batch at a time, so that a table of any size takes little memory.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from batchwork.core.errors import ConfigError
from batchwork.tables.table import TableRow
from batchwork.tables.values import plain

BATCH_ROWS = 1_024


def pyarrow(who: str = "Parquet files need") -> Any:
    """The pyarrow module with `parquet` loaded; a ConfigError says that it is not installed, and `who` needs it."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise ConfigError(f"{who} pyarrow: pip install 'batchwork[parquet]'") from error


def batch_rows(batches: Iterable[Any], columns: tuple[str, ...]) -> Iterator[TableRow]:
    """The rows of record batches (or tables), numbered from 1."""
    number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            part = batch.slice(start, BATCH_ROWS)
            for record in zip(*(_plain_column(column) for column in part.columns), strict=True):
                number += 1
                yield TableRow(number, dict(zip(columns, record, strict=True)))


def _plain_column(column: Any) -> list[Any]:
    pa = pyarrow()
    types, kind = pa.types, column.type
    if types.is_timestamp(kind) and kind.unit == "ns":
        # Python's datetime ends at microseconds; finer ones would be an error
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    elif types.is_time64(kind) and kind.unit == "ns":
        column = column.cast(pa.time64("us"), safe=False)
    elif types.is_duration(kind) and kind.unit == "ns":
        column = column.cast(pa.duration("us"), safe=False)
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):  # a date beyond the year 9999, for one
        return [_one_value(pa, scalar) for scalar in column]
    if types.is_string(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return values
    return [plain(value) for value in values]


def _one_value(pa: Any, scalar: Any) -> Any:
    """A value of a column in which Python cannot hold every one; that one is text."""
    try:
        return plain(scalar.as_py())
    except (ValueError, OverflowError):
        try:
            return scalar.cast(pa.string()).as_py()
        except pa.ArrowException:
            return f"({scalar.type} that cannot be read)"
