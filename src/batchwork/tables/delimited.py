"""CSV and TSV, in and out.

Values are read as text: what looks like a number is the user's business. A record that does not fit the header, has
quotes that do not add up, or is not UTF-8 is that row's problem; a header that cannot name the columns is the file's.
"""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

from batchwork.core.errors import InputError
from batchwork.tables.cells import cell_text, harmless_text
from batchwork.tables.columns import Shape
from batchwork.tables.encoding import decoded, other_encoding, refuse_foreign, wrong_encoding
from batchwork.tables.jsonl import decode_row
from batchwork.tables.table import Table, TableRow, bad_row, cannot_read, named_twice, open_input

_LONGEST_FIELD = 1 << 27  # far above any document, and still an end when a quote is never closed


class DelimitedFile(Table):
    """A CSV or TSV file; the delimiter of a CSV file may be `;` when its header has no comma."""

    def __init__(self, path: Path, name: str, delimiter: str, encoding: str | None = None) -> None:
        self.name = name
        self._path = path
        self._encoding = encoding
        if encoding is None:
            with open_input(path) as raw:
                refuse_foreign(name, raw)
        with self._text() as lines:
            self._delimiter = _delimiter(lines.readline(_LONGEST_FIELD), delimiter)
        with self._text() as lines:
            self.columns = self._header(self._reader(lines))

    def rows(self) -> Iterator[TableRow]:
        """All rows in order, lazily; blank lines are skipped."""
        with self._text() as lines:
            reader = self._reader(lines)
            self._header(reader)
            yield from self._records(reader)

    @contextmanager
    def _text(self) -> Iterator[TextIOWrapper]:
        with open_input(self._path) as raw:
            yield decoded(raw, self._encoding, newline="")

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
        except UnicodeError as error:
            raise wrong_encoding(self.name, self._encoding, error) from None
        if "" in names:
            raise InputError(f"{self.name}: column {names.index('') + 1} of the header has no name; give it one")
        if (twice := named_twice(names)) is not None:
            raise InputError(f"{self.name}: the header names {twice!r} twice; give every column its own name")
        if _is_broken(names):
            raise InputError(f"{self.name}: the header {self._complaint(names)}")
        return names

    def _complaint(self, fields: Sequence[str]) -> str:
        if self._encoding is not None:
            return f"is not {self._encoding} text"
        return f"is not UTF-8 text; {other_encoding(''.join(fields).encode('utf-8', 'surrogateescape'))}"

    def _records(self, reader: Any) -> Iterator[TableRow]:
        names = self.columns
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
            except UnicodeError as error:
                raise wrong_encoding(self.name, self._encoding, error) from None
            if not record:
                continue
            if len(record) != width:
                fields = "1 field" if len(record) == 1 else f"{len(record)} fields"
                problem = f"line {number} has {fields}, the header has {width}"
                yield bad_row(number, problem, self._delimiter.join(record))
            elif _is_broken(record):
                yield bad_row(number, f"line {number} {self._complaint(record)}", self._delimiter.join(record))
            else:
                yield TableRow(number, dict(zip(names, record, strict=True)))


def _delimiter(header: str, default: str) -> str:
    outside_quotes = "".join(header.split('"')[::2])
    return ";" if default == "," and "," not in outside_quotes and ";" in outside_quotes else default


def _is_broken(fields: Sequence[str]) -> bool:
    """Whether bytes that are not UTF-8 came through as lone surrogates."""
    joined = "".join(fields)
    if joined.isascii():
        return False
    try:
        joined.encode()
    except UnicodeEncodeError:
        return True
    return False


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
            get = decode_row(line).get
            values = [get(name) for name in names]
            cells = [value if type(value) is str else cell_text(value) for value in values]
            if safe:
                in_quotes.writerow(list(map(harmless_text, cells)))
            else:
                writer.writerow(cells)
    text.flush()
    text.detach()  # the file stays open for its owner
