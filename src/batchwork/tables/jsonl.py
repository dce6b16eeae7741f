"""JSONL in: one JSON object per line, from a file or from standard input.

The loop in `_parse` is the hot path of resuming a million settled rows. It does nothing on a good line but decode it;
everything that is rare (blank lines, byte order mark, bad JSON) is found out in the handler of the decoder's error.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from batchwork.tables.encoding import other_encoding, refuse_foreign, utf8_lines
from batchwork.tables.table import SAMPLE_ROWS, RowStream, Table, TableRow, bad_row, cannot_read, keys_of, open_input

_BOM = b"\xef\xbb\xbf"
_UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
decode_row = msgspec.json.Decoder(dict[str, Any]).decode


def _parse(lines: Iterable[bytes], name: str) -> Iterator[TableRow]:
    decode = decode_row
    try:
        for number, line in enumerate(lines, 1):
            try:
                columns = decode(line)
            except _UNDECODABLE as error:
                row = _rare(number, line, error)
                if row is not None:
                    yield row
                continue
            yield TableRow(number, columns)
    except OSError as error:
        raise cannot_read(name, error) from error


def _rare(number: int, line: bytes, error: Exception) -> TableRow | None:
    """The row of a line that did not decode: none for a blank line, else a good one after all or a bad one."""
    if number == 1 and line.startswith(_BOM):
        line = line[len(_BOM) :]
        try:
            return TableRow(number, decode_row(line))
        except _UNDECODABLE as again:
            error = again
    if not line.strip():
        return None
    return bad_row(number, f"line {number} {_complaint(line, error)}", line)


def _complaint(line: bytes, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is not usable JSON: it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"is not JSON: it is not UTF-8 text (byte {error.object[error.start]:#04x}); {other_encoding(line)}"
    if isinstance(error, msgspec.ValidationError):
        message = str(error)
        if message.startswith("Expected `object`"):
            return f"is not a JSON object: {message.partition(', ')[2].replace('`', '')}"
        return f"is not usable JSON: {message}"
    if b"\\ud" in line.lower():  # the decoder's own words for this one ("truncated") lead astray
        return f"is not JSON: half of a surrogate pair in a \\u escape, or: {error}"
    return f"is not JSON: {error}"


class JsonLinesFile(Table):
    """A JSONL file on disk."""

    sampled = True

    def __init__(self, path: Path, name: str, encoding: str | None = None) -> None:
        self.name = name
        self._path = path
        self._encoding = encoding
        if encoding is None:
            with open_input(path) as raw:
                refuse_foreign(name, raw)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return keys_of(islice(self.rows(), SAMPLE_ROWS))

    def rows(self) -> Iterator[TableRow]:
        with open_input(self._path) as raw:
            yield from _parse(utf8_lines(raw, self._encoding, self.name), self.name)


class JsonLinesStream(RowStream):
    """JSONL on standard input, which can be read once."""

    def __init__(self, stream: BinaryIO, name: str, encoding: str | None = None) -> None:
        super().__init__(_parse(utf8_lines(stream, encoding, name), name), name)
