"""Parquet, in and out, a batch at a time. Values are read as plain JSON (see `values`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from batchwork.core.errors import InputError
from batchwork.tables.arrow import BATCH_ROWS, batch_rows, pyarrow
from batchwork.tables.cells import cell_text
from batchwork.tables.columns import Shape
from batchwork.tables.jsonl import decode_row
from batchwork.tables.table import Table, TableRow, cannot_read, named_twice, open_input

_GROUP_ROWS = 20_000
_GROUP_BYTES = 8 << 20  # of JSON; as Python objects and then as Arrow it is several times that


class ParquetFile(Table):
    """A Parquet file."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._path = path
        with self._open() as file:
            self.columns = tuple(file.schema_arrow.names)
        if (twice := named_twice(self.columns)) is not None:
            raise InputError(f"{name} has two columns named {twice!r}; give every column its own name")

    def count(self) -> int:
        """How many rows the file's metadata states."""
        with self._open() as file:
            return int(file.metadata.num_rows)

    def rows(self) -> Iterator[TableRow]:
        with self._open() as file:
            yield from batch_rows(file.iter_batches(batch_size=BATCH_ROWS), self.columns)

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
