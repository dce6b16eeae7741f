"""Sets an old journal aside under a new name, and copies one while a run may be writing it.

Nothing of the user's is ever deleted or replaced. SQLite copies: a copy of the files by anybody else may take the file
of one instant and the log of another. The copy is made aside, read from its first event to its last, and only then
given its name, which must be free.
"""

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from batchwork.core.errors import ConfigError, JournalDamagedError, JournalError, JournalWriteError
from batchwork.journal.atomic import sync_folder
from batchwork.journal.companions import MARK, PARTS, PRIVATE_FILE, VECTORS, WriterLock, beside, remove_with_parts
from batchwork.journal.connections import FAULTS, ReadConnection, connect, translated
from batchwork.journal.mark import MarkFile
from batchwork.journal.reader import JournalReader
from batchwork.journal.rows import Sums
from batchwork.journal.vector_file import copy_vectors
from batchwork.journal.write_ahead_log import is_all_there_is


def set_aside(path: Path) -> Path | None:
    """Rename the journal to the first free `NAME.old-N`; None when there is none."""
    if not path.exists() and not is_all_there_is(path):
        return None
    lock = WriterLock(path)
    try:
        # Bring what a killed run left in the log into the file: a kill between two renames must not part them.
        with suppress(JournalError, sqlite3.Error), closing(connect(path, writable=True)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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
    parts = ("",) if path.is_symlink() else PARTS  # what a link points to stays where it is
    try:
        for part in parts:
            source, target = (journal.with_name(journal.name + part) for journal in (path, aside))
            if not source.exists():
                continue
            if part == VECTORS or (instead is not None and part in ("", MARK)):
                _also_named(source, target)
            else:
                source.rename(target)
        if instead is not None:
            instead.replace(path)
            beside(instead, MARK).replace(beside(path, MARK))
            sync_folder(path.parent)
        elif VECTORS in parts:  # until here both have them: a kill must not part them from either
            path.with_name(path.name + VECTORS).unlink(missing_ok=True)
    except OSError as error:
        raise JournalWriteError(f"cannot set {path} aside: {error.strerror}") from error
    return aside


def _also_named(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without second names
        shutil.copy2(source, target)


def back_up(journal: Path, to: Path) -> int:
    """Copy a journal as it is now; how many events the copy has. Of one that is damaged, nothing is written."""
    if to.is_dir():
        raise ConfigError(f"{to} is a folder: name the file that the backup becomes")
    if taken := [path for part in PARTS if os.path.lexists(path := to.with_name(to.name + part))]:
        raise _taken(taken[0])
    if not to.parent.is_dir():
        raise ConfigError(f"there is no folder {to.parent} for the backup {to.name}")
    aside = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        with closing(ReadConnection(journal, pinned=False)) as source:
            _copy(source, aside)
        copy_vectors(journal, aside)
        try:
            sums = check_whole(aside)
        except JournalDamagedError:
            check_whole(journal)  # the copy is damaged where the journal is, which is then the one to name
            raise
        give_name(aside, to, sums)
    except FAULTS as error:
        raise translated(error, to) from error
    except OSError as error:
        raise JournalWriteError(f"cannot write {to}: {error.strerror}; nothing is there") from error
    finally:
        remove_with_parts(aside)
    return sums.seq


def check_whole(journal: Path) -> Sums:
    """Read everything in a journal; what it adds up to. A JournalDamagedError when anything is damaged or missing."""
    with closing(JournalReader(journal)) as reader:
        for _ in reader.events():
            pass
        for _ in reader.entries():
            pass
        reader.counts()
        return reader.sums()


def _taken(path: Path) -> ConfigError:
    return ConfigError(f"{path} exists, and a backup replaces nothing: name another file")


def _copy(source: ReadConnection, aside: Path) -> None:
    aside.unlink(missing_ok=True)
    os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    with closing(sqlite3.connect(aside, isolation_level=None)) as target:
        source.back_up(target)  # in one step: a run that writes meanwhile neither waits nor changes what is copied


def give_name(aside: Path, to: Path, sums: Sums) -> None:
    """Give a journal that was made aside its name, which must be free."""
    if beside(aside, VECTORS).exists():
        _also_named(beside(aside, VECTORS), beside(to, VECTORS))
    try:
        os.link(aside, to)  # unlike a rename, it refuses when somebody has taken the name meanwhile
    except FileExistsError:
        raise _taken(to) from None
    except OSError:  # a file system without second names
        aside.rename(to)
    with closing(MarkFile(to)) as mark:
        mark.write(sums.mark)
    sync_folder(to.parent)
