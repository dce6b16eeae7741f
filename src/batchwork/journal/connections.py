"""Opens journal files: makes a new one, recognises one of ours, refuses one that has lost something.

A journal is made aside and renamed into its place, whole. So a file without tables is not one whose making was cut off
but one that has lost them.

Connections are counted per file, because of what POSIX locks are: when a process closes a file, all its locks on that
file are gone, whoever in it holds them. Another process would then take the index of a living log for one left behind,
and cut it off under our feet. So a file that SQLite has open here is opened by SQLite alone. Whoever wants to look at
one himself asks first, and holds `LOOKING` while he looks.
"""

import logging
import os
import sqlite3
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import JournalDamagedError, JournalError, JournalWriteError
from batchwork.journal.atomic import sync_folder
from batchwork.journal.companions import INDEX, LOG, MARK, PRIVATE_FILE, beside, mode_of, real
from batchwork.journal.mark import Mark, read_mark
from batchwork.journal.rows import SELECT_SUMS, Sums
from batchwork.journal.write_ahead_log import is_all_there_is, lost_writes

_log = logging.getLogger(__name__)
APPLICATION_ID = 0x62747771  # "btwq"
FORMAT = 1
# What a damaged file may make SQLite raise; where its own text is damaged, even the message cannot be decoded.
FAULTS = (sqlite3.Error, UnicodeDecodeError)
MAGIC = b"SQLite format 3\0"
PAGE_BYTES = 4096
LARGE_PAGE_BYTES = 32768  # where the rows have megabytes: writing them costs half as much
PAGE_SIZES = (PAGE_BYTES, LARGE_PAGE_BYTES)  # of the journals that were ever made
_LOG_BYTES = 4000 * PAGE_BYTES  # from here on the log is brought into the file
_SETTINGS = ("cache_size = -16384", "temp_store = MEMORY")
_TABLES = Path(__file__).with_name("tables.sql").read_text("utf-8")

LOOKING = threading.RLock()
_File = tuple[int, int]  # device and inode: a journal may be renamed while it is open
_open_here: Counter[_File] = Counter()


def connect(path: Path, *, writable: bool, page_bytes: int = PAGE_BYTES) -> sqlite3.Connection:
    """A connection to a journal file, made if it is new and `writable`; a JournalError says why there is none.

    `page_bytes` is for a new one: one that is there keeps its pages.
    """
    try:
        with LOOKING:
            mark = read_mark(path)  # before the journal is read, since a run may go on writing it
            if not is_open_here(path):
                _look(path, mark, page_bytes if writable else None)
            connection = _open(path, "rw" if writable else "ro")
        try:
            _check(connection, path, mark)
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            if writable:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_BYTES // _page_bytes(connection)}")
                _begin_total(connection)
        except BaseException:
            connection.close()
            raise
    except FAULTS as error:
        raise translated(error, path) from error
    return connection


def _look(path: Path, mark: Mark | None, page_bytes: int | None) -> None:
    """Look at the files themselves: whether there is a journal, or one can be made, and whether its log is whole."""
    if _is_nothing(path, mark):
        if page_bytes is None:
            raise JournalError(f"there is no journal at {path}")
        if mark is not None and mark.seq:
            _log.warning("the journal %s, which had %s events, is gone: starting anew", path, f"{mark.seq:,}")
        _create(path, page_bytes)
        return
    # SQLite makes up its mind about the log on a connection that can only read: one that can write would bring what it
    # takes for whole into the file when it is closed, and delete the rest with the log.
    with closing(_open(path, "ro")) as connection:
        if lost := lost_writes(path, _page_bytes(connection)):
            raise damaged(path, f"{lost} finished writes in its log cannot be read")
        _check(connection, path, mark)


def holds_nothing(path: Path) -> bool:
    """Whether there is no journal yet: no file, or an empty one. A JournalError when there is something else."""
    with LOOKING:
        return not is_open_here(path) and _is_nothing(path, read_mark(path))


def _is_nothing(path: Path, mark: Mark | None) -> bool:
    if not _is_empty(path):
        return False
    is_there = path.exists()
    if is_all_there_is(path):  # SQLite would delete it
        log, gone = beside(path, LOG).name, "empty" if is_there else "gone"
        raise JournalDamagedError(
            f"the journal {path} is damaged (it is {gone}, but its log {log} is there). Put the file back beside its"
            f" log; `batchwork recover {path}` saves what the log holds; to start anew, move {log} away"
        )
    if is_there and mark is not None and mark.seq:
        raise _behind(path, 0, mark)
    return True


def _open(path: Path, mode: str) -> sqlite3.Connection:
    connection = open_counted(path, f"mode={mode}")
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        # Reading needs a file beside the journal, which a folder that cannot be written refuses. Nobody writes
        # there, so without a log of its own the file is all there is.
        if mode != "ro" or beside(path, LOG).exists():
            raise
        return open_counted(path, "mode=ro&immutable=1")
    except FAULTS:
        connection.close()
        raise
    return connection


def _is_empty(path: Path) -> bool:
    """Whether there is nothing yet; raises when there is something that is not SQLite's."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except FileNotFoundError:
        return True
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
    if head and head != MAGIC:
        raise JournalError(f"{path} is not a batchwork journal, and there is none beside it; name another file")
    return not head


def _create(path: Path, page_bytes: int) -> None:
    """Make a journal aside, with its tables in the file itself and not in a log, and rename it into its place."""
    path = real(path)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)  # left by one who was cut off
    try:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
        with suppress(FileNotFoundError):
            new.chmod(mode_of(path))
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            names = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
            connection.executescript(f"PRAGMA page_size = {page_bytes}; BEGIN IMMEDIATE; {_TABLES} {names}")
            _begin_total(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        for part in (LOG, INDEX):  # a rest of the one before, from which SQLite must not read
            beside(path, part).unlink(missing_ok=True)
        new.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise JournalWriteError(f"cannot write the journal {path} ({error.strerror}); check the folder") from error


def _page_bytes(connection: sqlite3.Connection) -> int:
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(size)


def _begin_total(connection: sqlite3.Connection) -> None:
    """Begin the sums at zero, where there are none yet and no events."""
    zeros = Sums(run_id=uuid.uuid4().hex[:12]).values()
    is_empty = "NOT EXISTS (SELECT 1 FROM total) AND NOT EXISTS (SELECT 1 FROM event)"
    connection.execute(f"INSERT INTO total SELECT 1,?,?,?,?,?,?,?,?,?,?,? WHERE {is_empty}", zeros)


def _check(connection: sqlite3.Connection, path: Path, mark: Mark | None) -> None:
    """Refuse a file that is not ours, is of a newer version, or has lost something."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
        raise damaged(path, f"it has no tables: is its log {beside(path, LOG).name} gone?")
    if application != APPLICATION_ID:
        raise JournalError(f"{path} is an SQLite file, but not a batchwork journal; name another file")
    if version > FORMAT:
        raise JournalError(
            f"{path} was written by a newer batchwork (journal format {version}, this one knows {FORMAT}); upgrade"
        )
    while mark is not None:  # the journal must be as far as its mark; the mark of another journal says nothing
        run_id, seq = connection.execute("SELECT run_id, seq FROM total").fetchone() or (mark.run_id, 0)
        if run_id != mark.run_id or not isinstance(seq, int) or seq >= mark.seq:
            return
        before, mark = mark, read_mark(path)
        if mark == before:
            raise _behind(path, seq, mark)


def translated(error: Exception, path: JournalAddress) -> JournalError:
    """Our error for one of SQLite's, with the remedy."""
    text = str(error)
    if isinstance(error, UnicodeDecodeError):
        return damaged(path, "its tables cannot be read")
    code = getattr(error, "sqlite_errorname", "") or ""
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "malformed" in text:
        return damaged(path, text)
    if code.startswith("SQLITE_FULL") or "full" in text:
        return JournalWriteError(f"no space left for the journal {path}; free some and run the same command again")
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return JournalWriteError(f"cannot write the journal {path} ({text}); check the folder's permissions")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return JournalError(f"the journal {path} is in use by another program ({text})")
    return JournalWriteError(f"the journal {path} cannot be used: {text}")


def damaged(path: JournalAddress, what: str) -> JournalDamagedError:
    """The error for a file that contradicts itself."""
    return JournalDamagedError(
        f"the journal {path} is damaged ({what}); `batchwork recover {path}` saves what is whole into a new one"
        " and keeps this file"
    )


def _behind(path: Path, seq: int, mark: Mark) -> JournalDamagedError:
    log, note = beside(path, LOG).name, beside(path, MARK).name
    return JournalDamagedError(
        f"the journal {path} is damaged (it ends at event {seq:,}, but {note} says that {mark.seq:,} were written: its"
        f" log {log} is gone, or an older copy took its place). Put back what is missing; without it, what the lost"
        f" events settled is asked and paid again: `batchwork recover {path}` goes on so and keeps the money in the"
        f" books, deleting {note} goes on as if nothing had been"
    )


# -- connections, counted ---------------------------------------------------------------------------


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


def _remove_empty_log(path: Path) -> None:
    """Reading makes a log and its index, which only a connection that can write takes away, if it is the last one."""
    with LOOKING, suppress(OSError, sqlite3.Error):
        if not is_open_here(path) and not beside(path, LOG).stat().st_size:
            with closing(open_counted(path, "mode=rw")) as connection:
                connection.execute("PRAGMA user_version").fetchone()


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


class ReadConnection:
    """What was committed at the first read, until `refresh`.

    A read transaction is kept open between look-ups: a snapshot per commit is cheaper than one per look-up. As long as
    it is open it keeps SQLite's log from shrinking.
    """

    def __init__(self, path: Path, *, pinned: bool) -> None:
        self.path = path
        self._pinned = pinned
        self._makes_log = not beside(path, LOG).exists()
        self._connection = connect(path, writable=False)
        self._reading = False

    def close(self) -> None:
        """Close the connection, and leave no empty log behind that was not there before."""
        self._connection.close()
        if self._makes_log:
            self._makes_log = False
            _remove_empty_log(self.path)

    def refresh(self) -> None:
        """See what has been committed since."""
        if self._reading:
            self._connection.execute("ROLLBACK")
            self._reading = False

    def let_go(self) -> None:
        """See it at the next read, unless this connection is pinned to what it sees."""
        if not self._pinned:
            self.refresh()

    def _execute(self, sql: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        if not self._reading:
            self._connection.execute("BEGIN")
            self._reading = True
        return self._connection.execute(sql, values)

    def back_up(self, target: sqlite3.Connection) -> None:
        """Copy the whole file into another."""
        self._connection.backup(target)

    def one(self, sql: str, values: tuple[Any, ...] = ()) -> Any | None:
        """The first row of a query."""
        try:
            return self._execute(sql, values).fetchone()
        except FAULTS as error:
            raise translated(error, self.path) from error

    def each(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[Any]:
        """The rows of a query, one by one."""
        try:
            yield from self._execute(sql, values)
        except FAULTS as error:
            raise translated(error, self.path) from error

    def all(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """All rows of a query."""
        try:
            return self._execute(sql, values).fetchall()
        except FAULTS as error:
            raise translated(error, self.path) from error

    def sums(self) -> Sums:
        """What it all adds up to; zeros in a file that is still empty."""
        values = self.one(SELECT_SUMS)
        (last,) = self.one("SELECT coalesce(max(seq), 0) FROM event") or (0,)
        if values is None and last:
            raise self.damaged("its totals are missing")
        try:
            sums = Sums(run_id="") if values is None else Sums.stored(values)
        except JournalDamagedError as error:
            raise self.damaged(error) from error
        if sums.seq != last:
            raise self.damaged(f"it ends at event {last}, but {sums.seq} were written")
        return sums

    def damaged(self, what: object) -> JournalDamagedError:
        """The error for a file that contradicts itself."""
        return damaged(self.path, str(what))
