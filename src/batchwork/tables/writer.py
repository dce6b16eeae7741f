"""The writer of rows: JSONL, CSV or Parquet by suffix, whole or not at all.

Rows go into a file aside, in the folder of the real one; at the end it is synced and renamed over it. An error or an
interruption leaves what was there before. CSV and Parquet are written in two steps, because their columns (and a
Parquet column's type) are known only when the last row is: rows first gather in a JSONL file aside.
"""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from batchwork.core.errors import ConfigError, InputError
from batchwork.journal.atomic import sync_folder
from batchwork.journal.outputs import final_output
from batchwork.tables.arrow import pyarrow
from batchwork.tables.cells import json_line
from batchwork.tables.columns import Shape
from batchwork.tables.delimited import write_delimited
from batchwork.tables.parquet import write_parquet
from batchwork.tables.reader import DELIMITERS, JSONL_SUFFIXES, PARQUET_SUFFIX, SUFFIXES
from batchwork.tables.table import READ_BUFFER


def check_output(path: str | Path) -> None:
    """Find out before a run, by a ConfigError, whether its results can be written to `path`; nothing is written."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(f"{path}: the suffix {suffix!r} is not known; known are {', '.join(SUFFIXES)}")
    if path.is_dir():
        raise ConfigError(f"{path} is a folder, not a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: the folder {path.parent} cannot be written to")
    if suffix == PARQUET_SUFFIX:
        pyarrow()


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write into that takes the place of `path` at the end, whole; an error leaves what was there before."""
    aside = AsideFiles(path)
    try:
        file = aside.open_first()
        try:
            yield file
            aside.replace(file)
        except OSError as error:
            raise aside.cannot_write(error) from error
        finally:
            with suppress(OSError):  # a full disk may refuse the last flush; the file goes away anyhow
                file.close()
    finally:
        aside.clear()


class AsideFiles:
    """Files beside the one that is to be written, the last of which takes its place."""

    def __init__(self, path: Path) -> None:
        self.path = final_output(path)  # for words
        self.paths: list[Path] = []
        self._target = Path(os.path.realpath(path))  # a link stays a link, what it points to is replaced

    def open_first(self) -> BinaryIO:
        """The first of them; a ConfigError when the system refuses."""
        try:
            return self.open()
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def open(self) -> BinaryIO:
        """One more of them."""
        path = self._target.with_name(f".{self._target.name}.{secrets.token_hex(4)}.part")
        # As private as what it will replace, from its first byte on; a new file is as the umask says.
        mode = 0o600 if self._target.exists() else 0o666
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb", READ_BUFFER)
        self.paths.append(path)
        return file

    def replace(self, file: BinaryIO) -> None:
        """Put the last one, open as `file`, into its place."""
        file.flush()
        os.fsync(file.fileno())
        if self._target.exists():
            shutil.copymode(self._target, self.paths[-1])
        self.paths[-1].replace(self._target)
        sync_folder(self._target.parent)  # the new name too has to survive a power cut

    def clear(self) -> None:
        """Remove them."""
        for path in self.paths:
            path.unlink(missing_ok=True)

    def cannot_write(self, error: OSError) -> InputError:
        """The error for a file that the system refuses to write."""
        return InputError(
            f"{self.path}: cannot be written: {error.strerror or error}; what was there before is untouched"
        )


class TableWriter:
    """Rows on their way into a file. Made by `write_table`, which also ends it."""

    def __init__(self, path: Path, columns: Iterable[str], *, csv_safe: bool) -> None:
        check_output(path)
        self._csv_safe = csv_safe
        self.rows = 0  # how many rows were written
        self._suffix = path.suffix.lower()
        self._shape = None if self._suffix in JSONL_SUFFIXES else Shape(columns)
        self._aside = AsideFiles(path)
        self._file = self._aside.open_first()

    def write(self, row: dict[str, Any]) -> None:
        """Add one row; columns that were not announced come after those that were."""
        if self._shape is not None:
            self._shape.see(row)
        try:
            self._file.write(json_line(row))
        except OSError as error:
            raise self._aside.cannot_write(error) from error
        self.rows += 1

    def finish(self) -> None:
        """Put the file into its place; an InputError when the system refuses: what was there before is untouched."""
        try:
            self._file.flush()
            if self._shape is None:
                self._aside.replace(self._file)
                return
            with self._aside.open() as final:
                gathered = self._aside.paths[0]
                if self._suffix == PARQUET_SUFFIX:
                    write_parquet(gathered, final, self._shape)
                else:
                    write_delimited(gathered, final, self._shape, DELIMITERS[self._suffix], safe=self._csv_safe)
                self._aside.replace(final)
        except OSError as error:
            raise self._aside.cannot_write(error) from error

    def clear(self) -> None:
        """Remove what was written aside."""
        with suppress(OSError):  # a full disk may refuse the last flush; the file goes away anyhow
            self._file.close()
        self._aside.clear()


@contextmanager
def write_table(path: str | Path, columns: Iterable[str] = (), *, csv_safe: bool = False) -> Iterator[TableWriter]:
    """A context manager whose `write(dict)` adds rows to a JSONL, CSV, TSV or Parquet file, by its suffix.

    `columns` come first and in this order; a row's other columns follow. In CSV, objects and lists are JSON text. In
    Parquet a column is of whole numbers, of numbers, of booleans or of text; one of mixed kinds, of objects, of lists
    or of whole numbers beyond 64 bits is text, each value as CSV would have it. JSONL rows are written as they are.
    With `csv_safe` a cell of CSV or TSV that a spreadsheet would take for a formula begins with a quote (').
    A ConfigError on entering the block says why the path cannot be written to, an InputError later why it could not.
    """
    writer = TableWriter(Path(path), columns, csv_safe=csv_safe)
    try:
        yield writer
        writer.finish()
    finally:
        writer.clear()
