"""CSV and TSV in.

Values stay text: what looks like a number is the reader's business. A record that does not fit the header, has quotes
that do not add up, or is not UTF-8 is that row's problem; a header that cannot name the columns is the file's.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from batchwork.core.errors import InputError
from batchwork.tables.row import Row, bad_row
from batchwork.tables.table import Table, cannot_read, open_input, refuse_utf16

_LONGEST_FIELD = 1 << 27  # far above any document, and still an end when a quote is never closed


class DelimitedFile(Table):
    """A CSV or TSV file; the delimiter of a CSV file may be `;` when its header has no comma."""

    def __init__(self, path: Path, name: str, delimiter: str) -> None:
        self.name = name
        self._path = path
        with self._text() as lines:
            self._delimiter = _delimiter(lines.readline(_LONGEST_FIELD), delimiter)
        with self._text() as lines:
            self._columns = self._header(self._reader(lines))

    @property
    def columns(self) -> tuple[str, ...]:
        """The header."""
        return self._columns

    def rows(self) -> Iterator[Row]:
        """All rows in order, lazily; blank lines are skipped."""
        with self._text() as lines:
            reader = self._reader(lines)
            self._header(reader)
            yield from self._records(reader)

    @contextmanager
    def _text(self) -> Iterator[TextIOWrapper]:
        with open_input(self._path) as raw:
            refuse_utf16(self.name, raw.peek(4) if hasattr(raw, "peek") else b"")
            # surrogateescape lets the bad bytes through to the one row that has them
            yield TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")

    def _reader(self, lines: TextIOWrapper) -> Any:
        if csv.field_size_limit() < _LONGEST_FIELD:
            csv.field_size_limit(_LONGEST_FIELD)  # the csv module has this one only as a global
        return csv.reader(lines, delimiter=self._delimiter, strict=True)

    def _header(self, reader: Any) -> tuple[str, ...]:
        try:
            names = tuple(next((record for record in reader if record), ()))
        except csv.Error as error:
            raise InputError(f"{self.name}: the header cannot be read: {error}") from error
        except OSError as error:
            raise cannot_read(self.name, error) from error
        if not names:
            raise InputError(f"{self.name} is empty: not even a header")
        if "" in names:
            raise InputError(f"{self.name}: column {names.index('') + 1} of the header has no name; give it one")
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise InputError(f"{self.name}: the header names {twice[0]!r} twice; give every column its own name")
        if _is_broken(names):
            raise InputError(f"{self.name}: the header is not UTF-8 text; save the file as UTF-8")
        return names

    def _records(self, reader: Any) -> Iterator[Row]:
        names = self._columns
        width = len(names)
        while True:
            number = reader.line_num + 1
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield bad_row(number, f"line {number} is not CSV: {error}; is a quote left open?", "")
                continue
            except OSError as error:
                raise cannot_read(self.name, error) from error
            if not record:
                continue
            if len(record) != width:
                said = f"line {number} has {_fields(len(record))}, the header has {width}"
                yield bad_row(number, said, self._delimiter.join(record))
            elif _is_broken(record):
                yield bad_row(number, f"line {number} is not UTF-8 text", self._delimiter.join(record))
            else:
                yield Row(number, dict(zip(names, record, strict=True)))


def _delimiter(header: str, default: str) -> str:
    outside_quotes = "".join(header.split('"')[::2])
    return ";" if default == "," and "," not in outside_quotes and ";" in outside_quotes else default


def _is_broken(fields: list[str] | tuple[str, ...]) -> bool:
    """Whether bytes that are not UTF-8 came through as lone surrogates."""
    joined = "".join(fields)
    if joined.isascii():
        return False
    try:
        joined.encode()
    except UnicodeEncodeError:
        return True
    return False


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"
