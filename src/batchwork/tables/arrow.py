"""Batches of Arrow, read as rows, and the columns of results in Arrow; the one place that imports pyarrow.

What is read is a batch at a time, so that a table of any size takes little memory. The type of every column of results
is decided from all values there are, never from the first few: what is nested stays nested, decimals stay exact. A
column whose values agree on no type is text, each value as CSV would have it.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from batchwork.core.errors import ConfigError
from batchwork.tables.cells import cell_text
from batchwork.tables.table import TableRow
from batchwork.tables.values import plain

BATCH_ROWS = 1_024
_MOST_EXACT = 2**53  # whole numbers up to here are exact as floats


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


class ArrowColumns:
    """The columns of rows that come in chunks: each chunk is seen, then it can be fitted to what all have together."""

    def __init__(self, pa: Any, ours: Mapping[str, type]) -> None:
        arrow = {int: pa.int64(), float: pa.float64(), str: pa.string()}
        self._pa = pa
        self._errors = (pa.ArrowException, TypeError, ValueError, OverflowError)
        self._ours = {name: arrow[kind] for name, kind in ours.items()}
        self._types: dict[str, Any] = {}
        self._wide: set[str] = set()  # columns with whole numbers that no float holds

    def see(self, rows: list[dict[str, Any]]) -> Any:
        """A chunk as an Arrow table by itself."""
        names = dict.fromkeys(name for row in rows for name in row)
        arrays = {name: self._array(name, [row.get(name) for row in rows]) for name in names}
        for name, array in arrays.items():
            before = self._types.get(name)
            self._types[name] = array.type if before is None else self._together(name, before, array.type)
        return self._pa.table(arrays)

    @property
    def schema(self) -> Any:
        """What all chunks have together; without any, the columns that results always have."""
        return self._pa.schema(list((self._types or self._ours).items()))

    def fit(self, chunk: Any, schema: Any) -> Any:
        """A chunk in the schema of all."""
        pa = self._pa
        columns = [
            self._fitted(chunk.column(field.name), field.type)
            if field.name in chunk.schema.names
            else pa.nulls(chunk.num_rows, field.type)
            for field in schema
        ]
        return pa.table(columns, schema=schema)

    def _array(self, name: str, values: list[Any]) -> Any:
        pa = self._pa
        if name in self._ours:
            return pa.array(values, self._ours[name])
        try:
            array = pa.array(values)
        except self._errors:
            return pa.array(_texts(values), pa.string())
        if _has_hollow(pa, array.type):
            return pa.array(_texts(values), pa.string())
        if pa.types.is_integer(array.type) and any(value is not None and abs(value) > _MOST_EXACT for value in values):
            self._wide.add(name)
        return array

    def _together(self, name: str, one: Any, other: Any) -> Any:
        """The type that holds both: the wider one, or text."""
        if one == other:
            return one
        pa = self._pa
        try:
            schemas = [pa.schema([("x", kind)]) for kind in (one, other)]
            both = pa.unify_schemas(schemas, promote_options="permissive").field("x").type
        except self._errors:
            return pa.string()
        is_exact = name in self._wide or pa.types.is_decimal(one) or pa.types.is_decimal(other)
        return pa.string() if is_exact and pa.types.is_floating(both) else both

    def _fitted(self, column: Any, kind: Any) -> Any:
        pa = self._pa
        if column.type == kind:
            return column
        if pa.types.is_string(kind):
            return pa.chunked_array([pa.array(_texts(column.to_pylist()), kind)])
        try:
            return column.cast(kind)
        except self._errors:
            return pa.chunked_array([pa.array(column.to_pylist(), kind)])


def _texts(values: list[Any]) -> list[str | None]:
    return [None if value is None else cell_text(value) for value in values]


def _has_hollow(pa: Any, kind: Any) -> bool:
    """Whether there is an object without fields in it, which a Parquet file cannot hold."""
    if pa.types.is_struct(kind):
        return kind.num_fields == 0 or any(_has_hollow(pa, kind.field(at).type) for at in range(kind.num_fields))
    return bool(pa.types.is_list(kind)) and _has_hollow(pa, kind.value_type)
