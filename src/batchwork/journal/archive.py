"""Sets an old journal aside under a new name: nothing of the user's is ever deleted."""

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from batchwork.core.errors import JournalError, JournalWriteError
from batchwork.journal.atomic import sync_folder
from batchwork.journal.companions import MARK, PARTS, WriterLock, beside
from batchwork.journal.connections import connect
from batchwork.journal.write_ahead_log import is_all_there_is


def set_aside(path: Path) -> Path | None:
    """Rename the journal to the first free `NAME.old-N`; None when there is none."""
    if not path.exists() and not is_all_there_is(path):
        return None
    lock = WriterLock(path)
    try:
        _write_out_log(path)
        return move_aside(path, name="old")
    finally:
        lock.release()


def move_aside(path: Path, *, name: str, instead: Path | None = None) -> Path:
    """Rename a journal of which this process is the writer, with all its parts, to the first free `PATH.NAME-N`.

    With `instead` another journal takes its place, so that at no instant there is none: the old file keeps its name
    beside the new one until then.
    """
    number = 1
    while any(path.with_name(f"{path.name}.{name}-{number}{part}").exists() for part in PARTS):
        number += 1
    aside = path.with_name(f"{path.name}.{name}-{number}")
    parts = PARTS[:1] if path.is_symlink() else PARTS  # what a link points to stays where it is
    try:
        for part in parts:
            source, target = (journal.with_name(journal.name + part) for journal in (path, aside))
            if not source.exists():
                continue
            if instead is not None and part in ("", MARK):
                _also_named(source, target)
            else:
                source.rename(target)
        if instead is not None:
            instead.replace(path)
            beside(instead, MARK).replace(beside(path, MARK))
            sync_folder(path.parent)
    except OSError as error:
        raise JournalWriteError(f"cannot set {path} aside: {error.strerror}") from error
    return aside


def _also_named(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without second names
        shutil.copy2(source, target)


def _write_out_log(path: Path) -> None:
    """Bring what a killed run left in the log into the file: a kill between two renames must not part them."""
    with suppress(JournalError, sqlite3.Error), closing(connect(path, writable=True)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
