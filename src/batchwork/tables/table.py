"""An input table, whatever its format, and its rows."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from batchwork.core.errors import InputError

_LONGEST_RAW = 1_000
READ_BUFFER = 1 << 20
SAMPLE_ROWS = 1_000  # looked at for the names of columns


class TableRow(msgspec.Struct, frozen=True, gc=False):
    """One input row. A struct: a million are made while a run is resumed, and it costs a tenth of a dataclass."""

    # From 1: the line of a JSONL file, the first line of a CSV record (the header is line 1), the row in Parquet
    number: int
    columns: dict[str, Any]  # column name to JSON value; empty when the row cannot be used
    problem: str | None = None  # why the row cannot be used, with its line number; None for a good row
    raw: str | None = None  # the beginning of the text of a row that cannot be used


def bad_row(number: int, problem: str, raw: bytes | str) -> TableRow:
    """The row that stands for a line nobody can read, so that it fails alone and is still counted."""
    if isinstance(raw, bytes):
        raw = raw[: 4 * _LONGEST_RAW].decode("utf-8", "replace")
    else:
        raw = raw[:_LONGEST_RAW].encode("utf-8", "replace").decode("utf-8")
    return TableRow(number, {}, problem, raw[:_LONGEST_RAW].rstrip("\r\n"))


class Table(ABC):
    """Rows that are read lazily, any number of times where the source allows it."""

    name: str  # the source as the user wrote it, for messages
    unit: str | None = "line"  # what a row's number counts; None: whoever asks knows a row by its place in the results
    index: tuple[str, ...] = ()  # what a data frame names its rows by, which is no column
    may_block: bool = False  # reading the next row may take as long as anything
    sampled: bool = False  # its columns are those of its first rows: others may have more

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The column names: the header, or for JSONL the keys seen in the first 1,000 rows."""
        raise NotImplementedError

    @abstractmethod
    def rows(self) -> Iterator[TableRow]:
        """All rows in order, lazily; an InputError when the source cannot be read (any further)."""

    def count(self) -> int | None:
        """How many rows there are; None when only reading them would tell."""
        return None

    def first(self) -> TableRow | None:
        """The first row, which `rows` gives again; None in an empty table."""
        return next(self.rows(), None)

    def lacking(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of `names` that are no column; all rows are read only when a name is not met in the first 1,000."""
        missing = dict.fromkeys(name for name in names if name not in self.columns)
        for row in self.rows() if missing and self.sampled else ():
            for name in missing.keys() & row.columns.keys():
                del missing[name]
            if not missing:
                break
        return tuple(missing)


class RowStream(Table):
    """Rows that can be read once, and may come slowly: those that were looked at are kept for `rows`.

    `columns` waits for the first thousand; `first` and `lacking` for no more than they need.
    """

    may_block = True

    def __init__(self, rows: Iterator[TableRow], name: str) -> None:
        self.name = name
        self._rest = rows
        self._seen: list[TableRow] = []
        self._taken = False

    def buffer(self, count: int) -> list[TableRow]:
        """The first rows (at most `count`), which stay in the table."""
        if self._taken:
            raise InputError(f"{self.name} can be read only once")
        self._seen.extend(islice(self._rest, max(0, count - len(self._seen))))
        return self._seen[:count]

    def first(self) -> TableRow | None:
        """The first row."""
        return next(iter(self.buffer(1)), None)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The keys seen in the first rows."""
        return keys_of(self._seen if self._taken else self.buffer(SAMPLE_ROWS))

    def lacking(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of `names` that are no column; rows are read no further than the one with the last of them."""
        missing = [name for name in dict.fromkeys(names) if "columns" not in self.__dict__ or name not in self.columns]
        for count in range(1, SAMPLE_ROWS + 1):
            if not missing or "columns" in self.__dict__ or len(rows := self.buffer(count)) < count:
                break
            missing = [name for name in missing if name not in rows[-1].columns]
        return tuple(missing)

    def rows(self) -> Iterator[TableRow]:
        """All rows in order, lazily, and only once."""
        if self._taken:
            raise InputError(f"{self.name} can be read only once")
        self._taken = True
        return chain(self._seen, self._rest)


def named_twice(names: Iterable[str]) -> str | None:
    """The first name that stands there more than once."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


def keys_of(rows: Iterable[TableRow]) -> tuple[str, ...]:
    """The columns that any of the rows has, as they are met."""
    return tuple(dict.fromkeys(key for row in rows for key in row.columns))


def open_input(path: Path) -> BinaryIO:
    """The file for reading; an InputError says with its name what stands in the way."""
    try:
        return path.open("rb", buffering=READ_BUFFER)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file") from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error


def cannot_read(name: object, error: Exception) -> InputError:
    """The error for a source that the system refuses to read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"{name}: cannot be read: {reason}")
