"""Rows out: results as a file or as the table of another library. The one place, for every object with results.

A file is written whole or not at all, and a row at a time; the tables are in memory, as their libraries want them.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from batchwork.core.errors import ConfigError
from batchwork.tables.arrow import ArrowColumns, pyarrow
from batchwork.tables.cells import clean_text, json_line
from batchwork.tables.writer import whole_file

CHUNK_ROWS = 10_000
Row = dict[str, Any]
_PANDAS = {int: "Int64", float: "float64"}  # whole numbers stay whole where some are missing


class Exports:
    """The ways out of results: one row per item in input order, the columns of the input first, then ours."""

    @property
    @abstractmethod
    def _ours(self) -> Mapping[str, type]:
        """Our columns and their types."""

    @abstractmethod
    def _rows(self, *, flat: bool) -> Iterator[Row]:
        """One row per item; `flat` makes a column of every field of an answer that is an object."""

    def _chunks(self) -> Iterator[list[Row]]:
        """The flat rows, so many at a time, in text that can be stored."""
        rows = map(_stored, self._rows(flat=True))
        while chunk := list(islice(rows, CHUNK_ROWS)):
            yield chunk

    def to_jsonl(self, path: str | Path) -> Path:
        """Write one JSON object per item; an answer that is JSON stays whole.

        Raises ConfigError: there is no folder for it.
        """
        target = target_file(path)
        with whole_file(target) as file:
            for row in self._rows(flat=False):
                file.write(json_line(row))
        return target

    def to_parquet(self, path: str | Path) -> Path:
        """Write one row per item; a field of the answer is a column, what is nested in it stays nested.

        Decimals stay exact (decimal128); a column whose values do not agree on a type is text.

        Raises ConfigError: pyarrow is not installed, or there is no folder for it.
        """
        pa = pyarrow("to_parquet() needs")
        target = target_file(path)
        columns = ArrowColumns(pa, self._ours)
        for rows in self._chunks():
            columns.see(rows)
        schema = columns.schema
        with whole_file(target) as file, pa.parquet.ParquetWriter(file, schema) as writer:
            for rows in self._chunks():
                writer.write_table(columns.fit(columns.see(rows), schema))
        return target

    def to_arrow(self) -> Any:
        """A pyarrow Table with one row per item, its columns as `to_parquet` has them.

        Raises ConfigError: pyarrow is not installed.
        """
        pa = pyarrow("to_arrow() needs")
        columns = ArrowColumns(pa, self._ours)
        seen = [columns.see(rows) for rows in self._chunks()]
        schema = columns.schema
        return pa.concat_tables([columns.fit(chunk, schema) for chunk in seen] or [schema.empty_table()])

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row per item. Raises ConfigError: pandas is not installed."""
        pandas = library("pandas", "to_pandas()", "dataframe")
        columns: dict[str, list[Any]] = {}
        count = 0
        for rows in self._chunks():
            for name in dict.fromkeys((*columns, *(name for row in rows for name in row))):
                columns.setdefault(name, [None] * count).extend(row.get(name) for row in rows)
            count += len(rows)
        frame = pandas.DataFrame(columns or {name: [] for name in self._ours})
        kinds = {name: _PANDAS[kind] for name, kind in self._ours.items() if kind in _PANDAS and name in frame}
        return frame.astype(kinds)

    def to_polars(self) -> Any:
        """A polars DataFrame with one row per item. Raises ConfigError: polars or pyarrow is not installed."""
        return library("polars", "to_polars()").from_arrow(self.to_arrow())


def _stored(row: Row) -> Row:
    """A row without halves of surrogate pairs in its names and texts."""
    return {_text(name): _text(value) if type(value) is str else value for name, value in row.items()}


def _text(text: str) -> str:
    return text if text.isascii() else clean_text(text)


def library(name: str, what: str, extra: str | None = None) -> Any:
    """Another library, imported; a ConfigError says that it is not installed, and `what` needs it."""
    try:
        return import_module(name)
    except ImportError:
        package = name if extra is None else f"'batchwork[{extra}]'"
        raise ConfigError(f"{what} needs {name}: pip install {package}") from None


def target_file(path: str | Path) -> Path:
    """Where a file goes; a ConfigError where it cannot."""
    target = Path(path)
    if target.is_dir():
        raise ConfigError(f"{target} is a folder, not a file")
    if not target.parent.is_dir():
        raise ConfigError(f"there is no folder {target.parent} for {target.name}")
    return target
