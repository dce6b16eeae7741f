"""Connections to journal files, counted per file, because of what POSIX locks are.

When a process closes a file, all its locks on that file are gone, whoever in it had opened the file and whoever holds
the locks. Another process would then take the index of a living log for one left behind, and cut it off under our
feet. So a file of a journal that SQLite has open here is opened by SQLite alone; whoever wants to look at one himself
asks first, and holds `LOOKING` while he looks.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

LOOKING = threading.RLock()
_File = tuple[int, int]  # device and inode: a journal may be renamed while it is open
_open_here: Counter[_File] = Counter()


class _Counted(sqlite3.Connection):
    """A connection that tells when it lets go of its file."""

    file: _File | None = None

    def close(self) -> None:
        super().close()
        with LOOKING:
            if self.file is not None:
                _open_here[self.file] -= 1
                self.file = None

    def __del__(self) -> None:
        with suppress(sqlite3.Error):
            self.close()


def open_counted(path: Path, uri_options: str) -> sqlite3.Connection:
    """A connection to this file, in autocommit mode, for any thread."""
    with LOOKING:
        uri = f"{path.absolute().as_uri()}?{uri_options}"
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False, timeout=10, factory=_Counted
        )
        connection.file = _file(path)
        if connection.file is not None:
            _open_here[connection.file] += 1
        return connection


def is_open_here(path: Path) -> bool:
    """Whether this process has a connection to this file."""
    file = _file(path)
    return file is not None and _open_here[file] > 0


def _file(path: Path) -> _File | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
