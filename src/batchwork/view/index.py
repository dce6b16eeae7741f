"""The side index of a journal: an SQLite file in the user's cache folder, filled as the journal grows.

It holds nothing that the journal does not hold, so it may be deleted at any time, and one that does not fit its journal
is made anew. Several viewers may share one: each step goes on from where the file is.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import ConfigError
from batchwork.journal import JournalReader
from batchwork.journal.companions import PRIVATE_FILE, make_folder, real
from batchwork.view.fold import Fold, Row

_TABLES = Path(__file__).with_name("index_tables.sql").read_text("utf-8")
_FORMAT = crc32(_TABLES.encode(), 1)  # a change of the tables, or of this number, makes every index anew
_COLUMNS = (
    "id, coalesce(place, -1), status, kind, paid, latency, input, output, attempts, opened_at, settled_at, settled_seq"
)
_SETTINGS = ("journal_mode = WAL", "synchronous = OFF", "cache_size = -65536", "temp_store = MEMORY")
_MOST_HITS = 30_000  # prompts, and answers, that a search for words finds at most
_MOST_LOOKUPS = 90_000  # words that it looks for in them: many words take longer


class RunRow(NamedTuple):
    """A run as the index knows it: the numbers of its first and last event, and when they were recorded."""

    seq: int
    began_at: float
    ended_seq: int | None
    ended_at: float | None
    last_at: float  # when it was last at work
    limits: dict[str, float]  # per minute, as the provider told them last


class BatchRow(NamedTuple):
    """A provider batch as the index knows it."""

    chunk: int
    batch_id: str | None
    items: int
    intended_at: float
    submitted_at: float | None
    closed_at: float | None
    how: str | None


class Hits(NamedTuple):
    """What a search for words finds: items by their prompts, the numbers of outcomes by their answers."""

    items: list[int]
    outcomes: list[int]
    most: int | None  # it stopped at so many prompts or answers, and there may be more


def index_path(journal: JournalAddress, cache: Path) -> Path:
    """Where the index of a journal is."""
    name = sha256(os.fsencode(real(journal).absolute() if isinstance(journal, Path) else str(journal))).hexdigest()[:24]
    return cache / "view" / f"{name}.db"


def open_index(path: Path, reader: JournalReader) -> "SideIndex":
    """The index at this path, made anew where there is none, or where it is of another journal or version.

    Raises ConfigError: it cannot be written.
    """
    try:
        make_folder(path.parent)
        with _alone_in(path.parent):
            index = SideIndex(path)
            try:
                if index.fits(reader):
                    return index
            except sqlite3.DatabaseError:  # there is nothing yet, or something else
                pass
            index.close()
            for part in ("", "-wal", "-shm"):
                path.with_name(path.name + part).unlink(missing_ok=True)
            index = SideIndex(path)
            index.make(reader)
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(
            f"the index {path} cannot be written ({error}): set XDG_CACHE_HOME to another folder"
        ) from error
    return index


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Two who look at one journal for the first time make one index."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class SideIndex:
    """One connection to an index; not for two threads at once."""

    def __init__(self, path: Path) -> None:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
        self.path = path
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        for setting in _SETTINGS:
            with suppress(sqlite3.DatabaseError):  # whether it is an index at all is looked at later
                self._connection.execute(f"PRAGMA {setting}")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # -- filling it -----------------------------------------------------------------------------

    def make(self, reader: JournalReader) -> None:
        """Make the tables of an index for this journal."""
        self._connection.executescript(_TABLES)
        values = (_FORMAT, reader.sums().run_id, str(reader.path))
        self._connection.execute("INSERT INTO meta VALUES (1, ?, ?, 0, 0.0, ?)", values)

    def fits(self, reader: JournalReader) -> bool:
        """Whether it is of this journal, and as far as that is or less."""
        found = self._connection.execute("SELECT format, run_id, seq, at FROM meta").fetchone()
        if found is None or found[:2] != (_FORMAT, reader.sums().run_id):
            return False
        seq, at = found[2:]
        last = reader.events_after(seq - 1, 1) if seq else []
        return not seq or (bool(last) and last[0][:2] == (seq, at))

    @property
    def seq(self) -> int:
        """The last event that is in it."""
        (seq,) = self._connection.execute("SELECT seq FROM meta").fetchone()
        return int(seq)

    def fill(self, reader: JournalReader, count: int) -> list[Row]:
        """Take in up to so many events; the rows of items that have changed, none when there was nothing to do."""
        with self._transaction():
            events = reader.events_after(self.seq, count)
            if not events:
                return []
            fold = Fold(self._connection)
            for seq, at, event in events:
                fold.apply(seq, at, event)
            fold.finish()
            self._connection.execute("UPDATE meta SET seq = ?, at = ?", events[-1][:2])
        return list(fold.rows.values())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # -- reading it -----------------------------------------------------------------------------

    def rows(self) -> Iterator[tuple[float, ...]]:
        """Every item: its number, place (-1: none) and figures, in the order of `columns.FIELDS`."""
        return self._connection.execute(f"SELECT {_COLUMNS} FROM item ORDER BY id")  # noqa: S608

    def at(self, place: int) -> Row | None:
        """The item at a place of the latest input."""
        values = self._connection.execute("SELECT * FROM item WHERE place = ?", (place,)).fetchone()
        return None if values is None else Row(*values)

    def trace(self, item: int) -> list[int]:
        """The numbers of the events about an item, beside its opening and its latest outcome, in order."""
        return [
            seq for (seq,) in self._connection.execute("SELECT seq FROM trace WHERE item = ? ORDER BY seq", (item,))
        ]

    def misses(self, width: int) -> list[tuple[int, int, int]]:
        """Calls that did not settle their item: second (rounded down to `width`), kind and count."""
        sql = "SELECT second / ?1 * ?1, kind, sum(count) FROM miss GROUP BY 1, 2"
        return self._connection.execute(sql, (width,)).fetchall()

    def recent_misses(self, since: float) -> dict[int, int]:
        """The same since a moment, by kind."""
        sql = "SELECT kind, sum(count) FROM miss WHERE second >= ? GROUP BY kind"
        return dict(self._connection.execute(sql, (int(since),)).fetchall())

    def runs(self) -> list[RunRow]:
        """The runs on the journal, in order."""
        sql = "SELECT seq, began_at, ended_seq, ended_at, last_at, limits FROM run ORDER BY seq"
        return [RunRow._make((*values[:5], json.loads(values[5]))) for values in self._connection.execute(sql)]

    def batches(self) -> list[BatchRow]:
        """The provider batches, in order."""
        sql = "SELECT chunk, batch_id, items, intended_at, submitted_at, closed_at, how FROM batch ORDER BY chunk"
        return [BatchRow(*values) for values in self._connection.execute(sql)]

    def with_words(self, words: list[str]) -> "Hits":
        """Where all these words stand: in the prompts of items, and in answers."""
        query, most = " AND ".join(f'"{word}"' for word in words), min(_MOST_HITS, _MOST_LOOKUPS // len(words))
        found = [
            [number for (number,) in self._connection.execute(sql, (query, most))]
            for sql in (
                "SELECT rowid FROM prompt_words WHERE prompt_words MATCH ? LIMIT ?",
                "SELECT rowid FROM answer_words WHERE answer_words MATCH ? LIMIT ?",
            )
        ]
        return Hits(found[0], found[1], most=most if max(map(len, found)) >= most else None)
