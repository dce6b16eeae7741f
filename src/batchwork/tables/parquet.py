"""Parquet, in and out, a batch at a time; the one place of the tables where pyarrow is imported.

Values are read as plain JSON: dates and times become ISO text, decimals and other exact things text, bytes their UTF-8
text or else base64, NaN (how pandas says missing) None.
"""

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables.cells import cell_text
from batchwork.tables.columns import Shape
from batchwork.tables.jsonl import decode_row
from batchwork.tables.table import Table, TableRow, cannot_read, open_input

_BATCH_ROWS = 1_024
_GROUP_ROWS = 20_000
_GROUP_BYTES = 8 << 20  # of JSON; as Python objects and then as Arrow it is several times that
_ALREADY_JSON = frozenset({bool, int, str, type(None)})


def pyarrow() -> Any:
    """The pyarrow module with `parquet` loaded; a ConfigError when it is not installed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise ConfigError("Parquet files need pyarrow: pip install 'batchwork[parquet]'") from error


class ParquetFile(Table):
    """A Parquet file."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._path = path
        with self._open() as file:
            self.columns = tuple(file.schema_arrow.names)
        twice = [column for column, times in Counter(self.columns).items() if times > 1]
        if twice:
            raise InputError(f"{name} has two columns named {twice[0]!r}; give every column its own name")

    def count(self) -> int:
        """How many rows the file's metadata states."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def rows(self) -> Iterator[TableRow]:
        number = 0
        with self._open() as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                values = [_plain_column(column) for column in batch.columns]
                for record in zip(*values, strict=True):
                    number += 1
                    yield TableRow(number, dict(zip(self.columns, record, strict=True)))

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


def write_parquet(gathered: Path, final: BinaryIO, shape: Shape) -> None:
    """Write the gathered rows as Parquet, a row group at a time."""
    pa = pyarrow()
    arrow = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    types = {name: shape.type_of(name) for name in shape.names}
    schema = pa.schema([pa.field(name, arrow[kind]) for name, kind in types.items()])
    with pa.parquet.ParquetWriter(final, schema) as writer:
        for group in _groups(gathered):
            arrays = [pa.array(_column(group, name, kind), arrow[kind]) for name, kind in types.items()]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _column(group: list[dict[str, Any]], name: str, kind: type) -> list[Any]:
    values = [row.get(name) for row in group]
    if kind is not str:
        return values
    return [value if value is None or type(value) is str else cell_text(value) for value in values]


def _groups(gathered: Path) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    with open_input(gathered) as lines:
        for line in lines:
            group.append(decode_row(line))
            size += len(line)
            if len(group) >= _GROUP_ROWS or size >= _GROUP_BYTES:
                yield group
                group, size = [], 0
    if group:
        yield group
