"""What every input table offers, whatever its format."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from batchwork.core.errors import InputError
from batchwork.tables.row import Row

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
READ_BUFFER = 1 << 20


class Table(ABC):
    """Rows that are read lazily, any number of times where the source allows it."""

    name: str
    """The source as the user wrote it, for messages."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The column names: the header, or for JSONL the keys seen in the first 1,000 rows."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """All rows in order, lazily.

        Raises:
            InputError: the source cannot be read (any further).
        """

    def lacking(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of `names` that are no column of the table."""
        here = frozenset(self.columns)
        return tuple(name for name in dict.fromkeys(names) if name not in here)


def open_input(path: Path) -> BinaryIO:
    """The file for reading; what stands in the way is said with its name.

    Raises:
        InputError: there is no such file, it is a folder, or it may not be read.
    """
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


def refuse_utf16(name: object, head: bytes) -> None:
    """Say at once what is wrong with a UTF-16 file, instead of failing every line of it.

    Raises:
        InputError: the file starts with a UTF-16 byte order mark.
    """
    if head.startswith(_UTF16_MARKS):
        raise InputError(f"{name} is UTF-16 text; save it as UTF-8 (for example with: iconv -f UTF-16 -t UTF-8)")
