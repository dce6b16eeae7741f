"""Parquet in, a batch at a time, as plain JSON values.

JSON values because a row's columns are kept in the journal and written out again: dates and times become ISO text,
decimals and other exact things text, bytes their UTF-8 text or else base64, NaN (how pandas says missing) None.
"""

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from batchwork.core.errors import InputError
from batchwork.tables.arrow import pyarrow
from batchwork.tables.row import Row
from batchwork.tables.table import Table, cannot_read, open_input

_BATCH_ROWS = 1_024
_ALREADY_JSON = frozenset({bool, int, str, type(None)})


class ParquetFile(Table):
    """A Parquet file."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._path = path
        with self._open() as file:
            self._columns = tuple(file.schema_arrow.names)
        twice = [column for column, times in Counter(self._columns).items() if times > 1]
        if twice:
            raise InputError(f"{name} has two columns named {twice[0]!r}; give every column its own name")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file's schema."""
        return self._columns

    def count(self) -> int:
        """How many rows the file's metadata states."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def rows(self) -> Iterator[Row]:
        """All rows in order, lazily."""
        number = 0
        with self._open() as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                values = [_plain_column(column) for column in batch.columns]
                for record in zip(*values, strict=True):
                    number += 1
                    yield Row(number, dict(zip(self._columns, record, strict=True)))

    @contextmanager
    def _open(self) -> Iterator[Any]:
        pa = pyarrow()
        with open_input(self._path) as raw:
            try:
                with pa.parquet.ParquetFile(raw, buffer_size=1 << 16, pre_buffer=False) as file:
                    yield file
            except pa.ArrowException as error:
                raise InputError(f"{self.name} is not a Parquet file that can be read: {error}") from error
            except OSError as error:
                raise cannot_read(self.name, error) from error


def _plain_column(column: Any) -> list[Any]:
    types = pyarrow().types
    kind = column.type
    if types.is_timestamp(kind) and kind.unit == "ns":
        # Python's datetime ends at microseconds; finer ones would be an error
        column = column.cast(pyarrow().timestamp("us", kind.tz), safe=False)
    elif types.is_time64(kind) and kind.unit == "ns":
        column = column.cast(pyarrow().time64("us"), safe=False)
    elif types.is_duration(kind) and kind.unit == "ns":
        column = column.cast(pyarrow().duration("us"), safe=False)
    values: list[Any] = column.to_pylist()
    if types.is_string(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return values
    return [plain(value) for value in values]


def plain(value: Any) -> Any:
    """The value as JSON knows it."""
    kind = type(value)
    if kind in _ALREADY_JSON:
        return value
    if kind is float:
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else str(value)
    if kind is dict:
        return {str(key): plain(item) for key, item in value.items()}
    if kind in (list, tuple):
        return [plain(item) for item in value]
    if kind is bytes:
        return _bytes_text(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return b64encode(value).decode()
