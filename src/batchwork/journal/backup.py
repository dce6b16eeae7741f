"""Copy a journal while a run may be writing it, and find out that a journal is whole.

SQLite copies: a copy of the files by anybody else may take the file of one instant and the log of another. The copy is
made aside, read from its first event to its last, and only then given its name, which must be free.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from batchwork.core.errors import ConfigError, JournalWriteError
from batchwork.journal.atomic import sync_folder
from batchwork.journal.companions import PARTS, PRIVATE_FILE, remove_with_parts
from batchwork.journal.connections import FAULTS, connect, translated
from batchwork.journal.mark import MarkFile
from batchwork.journal.reader import JournalReader
from batchwork.journal.sums import Sums


def back_up(journal: Path, to: Path) -> int:
    """Copy a journal as it is now; how many events the copy has. Of one that is damaged, nothing is written."""
    if taken := [path for part in PARTS if os.path.lexists(path := to.with_name(to.name + part))]:
        raise _taken(taken[0])
    if not to.parent.is_dir():
        raise ConfigError(f"there is no folder {to.parent} for the backup {to.name}")
    aside = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        with closing(connect(journal, writable=False)) as source:
            _copy(source, aside)
        sums = check_whole(aside)
        _give_name(aside, to, sums)
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


def _copy(source: sqlite3.Connection, aside: Path) -> None:
    aside.unlink(missing_ok=True)
    os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    with closing(sqlite3.connect(aside, isolation_level=None)) as target:
        source.backup(target)  # in one step: a run that writes meanwhile neither waits nor changes what is copied


def _give_name(aside: Path, to: Path, sums: Sums) -> None:
    try:
        os.link(aside, to)  # unlike a rename, it refuses when somebody has taken the name meanwhile
    except FileExistsError:
        raise _taken(to) from None
    except OSError:  # a file system without second names
        aside.rename(to)
    with closing(MarkFile(to)) as mark:
        mark.write(sums.mark)
    sync_folder(to.parent)
