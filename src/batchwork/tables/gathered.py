"""From rows gathered in a JSONL file to CSV or Parquet, when all columns and what they hold are known.

Decides a Parquet column's type: from every value the column has, never from the first few.
"""

import csv
from collections.abc import Iterable, Iterator
from decimal import Decimal
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from batchwork.tables.arrow import pyarrow
from batchwork.tables.cells import cell_text, clean_text, harmless_text
from batchwork.tables.columns import RESULT_TYPES
from batchwork.tables.table import open_input

_GROUP_ROWS = 20_000
_GROUP_BYTES = 8 << 20  # of JSON; as Python objects and then as Arrow it is several times that
_NUMBERS = frozenset({int, float, Decimal})
_MOST_EXACT = 2**53  # whole numbers up to here are exact as floats
_MOST_INT64 = 2**63 - 1
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Shape:
    """The columns that rows had, in order, and the kinds of values in each."""

    def __init__(self, columns: Iterable[str] = ()) -> None:
        self._kinds: dict[str, set[type]] = {clean_text(name): set() for name in columns}
        self._largest: dict[str, int] = {}

    def see(self, row: dict[str, Any]) -> None:
        """Take note of one more row."""
        kinds = self._kinds
        for name, value in row.items():
            kind = type(value)
            try:
                kinds[name].add(kind)
            except KeyError:
                name = clean_text(name)  # noqa: PLW2901 - the name as it will be read back
                kinds.setdefault(name, set()).add(kind)
            if kind is int and abs(value) > _MOST_EXACT:
                self._largest[name] = max(abs(value), self._largest.get(name, 0))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns: the announced ones first, then as they were met."""
        return tuple(self._kinds)

    def type_of(self, name: str) -> type:
        """The type that holds every value of the column: bool, int, float, or str for everything else."""
        kinds = self._kinds[name] - {type(None)}
        ours = RESULT_TYPES.get(name, str)
        if not kinds:
            return ours
        largest = self._largest.get(name, 0)
        if kinds == {bool}:
            return bool
        if kinds == {int} and ours is not float:
            return int if largest <= _MOST_INT64 else str
        if kinds <= _NUMBERS:
            return float if largest <= _MOST_EXACT else str
        return str


def write_delimited(gathered: Path, final: BinaryIO, shape: Shape, delimiter: str, *, safe: bool = False) -> None:
    """Write the gathered rows as CSV (or TSV) with a header; `safe`: no spreadsheet takes a cell for a formula."""
    names = shape.names
    text = TextIOWrapper(final, encoding="utf-8", newline="")
    # "\r\n" is what RFC 4180 says, and makes the csv module quote a lone "\r" in a field too
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    in_quotes = csv.writer(text, delimiter=delimiter, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    # In quotes, or a reader may take a ";" for the delimiter, and what follows for a cell.
    header_writer = in_quotes if safe or any(";" in name for name in names) else writer
    header_writer.writerow([harmless_text(name) for name in names] if safe else names)
    with open_input(gathered) as lines:
        for line in lines:
            get = _decode(line).get
            values = [get(name) for name in names]
            cells = [value if type(value) is str else cell_text(value) for value in values]
            if safe:
                in_quotes.writerow(list(map(harmless_text, cells)))
            else:
                writer.writerow(cells)
    text.flush()
    text.detach()  # the file stays open for its owner


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
            group.append(_decode(line))
            size += len(line)
            if len(group) >= _GROUP_ROWS or size >= _GROUP_BYTES:
                yield group
                group, size = [], 0
    if group:
        yield group
