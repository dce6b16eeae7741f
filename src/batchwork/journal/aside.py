"""Set an old journal aside under a new name: nothing of the user's is ever deleted."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from batchwork.core.errors import JournalError, JournalWriteError
from batchwork.journal.lock import WriterLock
from batchwork.journal.tables import connect

_PARTS = ("", "-wal", "-shm")


def set_aside(path: Path) -> Path | None:
    """Rename the journal to the first free `NAME.old-N`; None when there is none.

    Raises:
        JournalLockedError: another process is writing it.
    """
    if not path.exists():
        return None
    lock = WriterLock(path)
    try:
        _write_out_log(path)
        return move_aside(path, mark="old")
    finally:
        lock.release()


def move_aside(path: Path, *, mark: str) -> Path:
    """Rename a journal of which this process is the writer, with all its parts, to the first free `NAME.MARK-N`."""
    number = 1
    while (aside := path.with_name(f"{path.name}.{mark}-{number}")).exists():
        number += 1
    try:
        for part in _PARTS:
            source = path.with_name(path.name + part)
            if source.exists():
                source.rename(aside.with_name(aside.name + part))
    except OSError as error:
        raise JournalWriteError(f"cannot set {path} aside: {error.strerror}") from error
    return aside


def _write_out_log(path: Path) -> None:
    """Bring what a killed run left in the log into the file: a kill between two renames must not part them."""
    with suppress(JournalError, sqlite3.Error), closing(connect(path, writable=True)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
