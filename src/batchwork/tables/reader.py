"""Which reader a source gets (its suffix decides), and how many rows it has when that is cheap to know."""

import sys
from pathlib import Path
from typing import BinaryIO

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables.delimited import DelimitedFile
from batchwork.tables.encoding import checked_encoding, is_wide
from batchwork.tables.jsonl import JsonLinesFile, JsonLinesStream
from batchwork.tables.parquet import ParquetFile
from batchwork.tables.table import Table, cannot_read, open_input

STDIN = "-"
JSONL_SUFFIXES = (".jsonl", ".ndjson", ".json")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET_SUFFIX = ".parquet"
SUFFIXES = (*JSONL_SUFFIXES, *DELIMITERS, PARQUET_SUFFIX)
_BLOCK = 1 << 20
_LOOK = 10  # rows of standard input that are all unreadable: it is something else


def open_table(source: str | Path, *, stdin: BinaryIO | None = None, encoding: str | None = None) -> Table:
    """The table at `source`, by its suffix, or `-` for JSONL on standard input; `encoding` is UTF-8 unless it is named.

    Raises InputError where it cannot be read, and ConfigError where the encoding makes no sense.
    """
    if encoding is not None and _suffix(source) == PARQUET_SUFFIX:
        raise ConfigError(f"{source}: a Parquet file says itself how its texts are written; leave --encoding away")
    table = _table(source, stdin, checked_encoding(encoding))
    first = table.first()
    problem = None if first is None else first.problem
    if problem is not None and _suffix(table.name) == ".json":
        raise InputError(
            f"{table.name} is not JSON lines (one object per line): {problem}; "
            "for a JSON array, convert it with: jq -c '.[]' IN.json > IN.jsonl"
        )
    # One good row is enough: the next may come late.
    if problem is not None and isinstance(table, JsonLinesStream) and all(row.problem for row in table.buffer(_LOOK)):
        raise InputError(
            f"{table.name} must be JSONL, one JSON object per line: {problem}; other formats are read from a file"
        )
    return table


def _table(source: str | Path, stdin: BinaryIO | None, encoding: str | None) -> Table:
    if str(source) == STDIN:
        return JsonLinesStream(stdin if stdin is not None else _own_stdin(), "standard input", encoding)
    path, name, suffix = Path(source), str(source), _suffix(source)
    if suffix in JSONL_SUFFIXES:
        return JsonLinesFile(path, name, encoding)
    if suffix in DELIMITERS:
        return DelimitedFile(path, name, DELIMITERS[suffix], encoding)
    if suffix == PARQUET_SUFFIX:
        return ParquetFile(path, name)
    open_input(path).close()  # a missing file or a folder is the better message
    raise InputError(
        f"{name}: the suffix {suffix!r} is not known; known are {', '.join(SUFFIXES)}, "
        "and '-' for JSONL on standard input"
    )


def _own_stdin() -> BinaryIO:
    """A buffer of our own: a thread that still waits for input when the program ends must not hold the system's."""
    return open(sys.stdin.fileno(), "rb", closefd=False)


def _suffix(source: str | Path) -> str:
    return Path(source).suffix.lower()


def total_rows(source: str | Path, *, encoding: str | None = None) -> int | None:
    """How many rows (of JSONL: lines) `source` has, for a progress bar; None when only reading it would tell."""
    suffix = _suffix(source)
    if str(source) == STDIN or suffix not in SUFFIXES or is_wide(checked_encoding(encoding)):
        return None
    if suffix == PARQUET_SUFFIX:
        return ParquetFile(Path(source), str(source)).count()
    is_delimited = suffix in DELIMITERS
    try:
        lines = _count_lines(Path(source), quoted=is_delimited)
    except OSError as error:
        raise cannot_read(source, error) from error
    return max(0, lines - 1) if is_delimited else lines


def _count_lines(path: Path, *, quoted: bool) -> int:
    """Lines in the file; with `quoted`, line ends between double quotes belong to their field and do not count."""
    lines = 0
    outside = 0  # 0 while the next piece stands outside of quotes, 1 while inside
    last = b"\n"
    with open_input(path) as file:
        while block := file.read(_BLOCK):
            if quoted and (outside or b'"' in block):
                pieces = block.split(b'"')
                lines += sum(piece.count(b"\n") for piece in pieces[outside::2])
                outside = (outside + len(pieces) - 1) % 2
            else:
                lines += block.count(b"\n")
            last = block[-1:]
    return lines if last == b"\n" else lines + 1
