"""Gathers every event and shared part of a damaged journal that agrees with its checksum; nothing else is trusted."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import Event
from batchwork.journal import codec
from batchwork.journal.companions import PRIVATE_FILE
from batchwork.journal.connections import PAGE_BYTES
from batchwork.journal.mark import Mark, read_mark
from batchwork.journal.recovery.page_file import PageFile, page_sizes
from batchwork.journal.rows import SUM_COLUMNS, Sums
from batchwork.journal.vector_file import VectorFile, with_vectors

_SCRATCH = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE event (seq INTEGER PRIMARY KEY, kind INTEGER, item INTEGER, body BLOB, crc INTEGER, at REAL);
CREATE TABLE blob (digest BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID;
BEGIN;
"""


class Salvage:
    """What is whole in a damaged journal, in a scratch file: a large journal does not fit into memory."""

    def __init__(self, journal: Path, scratch: Path) -> None:
        scratch.touch(PRIVATE_FILE)
        self._scratch = sqlite3.connect(scratch, isolation_level=None)
        self.page_bytes = PAGE_BYTES
        self._journal, self._vectors = journal, VectorFile(journal)
        self._sums: Sums | None = None
        self._marks: list[Mark] = []  # whatever tells how far the journal was

    def close(self) -> None:
        """Close the files."""
        self._scratch.close()
        self._vectors.close()

    @property
    def run_id(self) -> str | None:
        """The name of the journal, if it is known."""
        return None if self._sums is None else self._sums.run_id

    def gather(self) -> bool:
        """Keep everything that is whole; whether there is any event."""
        self._scratch.executescript(_SCRATCH)
        for page_bytes in page_sizes(self._journal):  # read by a wrong size, nothing agrees with its checksum
            before = self._scratch.total_changes
            with closing(PageFile(self._journal, page_bytes)) as pages:
                for row_id, values in pages.records():
                    self._keep_if_whole(row_id, values)
            if self._scratch.total_changes > before:
                self.page_bytes = page_bytes
        self._scratch.execute("COMMIT")
        self._marks = [] if self._sums is None else [self._sums.mark]
        with suppress(JournalDamagedError):
            mark = read_mark(self._journal)
            if mark is not None and self.run_id in (None, mark.run_id):  # another journal's says nothing
                self._marks.append(mark)
        return self._last_whole() > 0

    def _keep_if_whole(self, row_id: int, values: list[Any]) -> None:
        if len(values) == 6:
            _, at, kind, item, body, crc = values
            if _are(int, kind, item) and _are(bytes, body) and codec.checksum(row_id, kind, item, body) == crc:
                event = (row_id, kind, item, body, crc, at)
                self._scratch.execute("INSERT OR IGNORE INTO event VALUES (?,?,?,?,?,?)", event)
        elif len(values) == 3:
            key, body, crc = values
            if _are(bytes, key, body) and codec.blob_checksum(key, body) == crc:
                self._scratch.execute("INSERT OR IGNORE INTO blob VALUES (?,?)", (key, body))
        elif len(values) == 1 + len(SUM_COLUMNS) + 1:
            with suppress(JournalDamagedError):
                sums = Sums.stored(tuple(values[1:]))
                if self._sums is None or sums.seq > self._sums.seq:
                    self._sums = sums

    def events(self) -> Iterator[tuple[float, Event]]:
        """Every whole event in its order, with its time."""
        for *row, at in self._scratch.execute("SELECT seq, kind, item, body, crc, at FROM event ORDER BY seq"):
            try:
                event = codec.decode((row[0], row[1], row[2], row[3], row[4]), self._blob)
                with_vectors(event, self._vectors.read)
            except JournalDamagedError:
                continue  # a shared part of it is lost, or its vectors, or it is no event at all
            yield at, event

    def _blob(self, key: bytes) -> bytes | None:
        row = self._scratch.execute("SELECT body FROM blob WHERE digest = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def _last_whole(self) -> int:
        (last,) = self._scratch.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()
        return int(last)

    def written(self) -> int:
        """How many events were written, as far as anything left tells."""
        return max([self._last_whole(), *(mark.seq for mark in self._marks)])

    def spent_nano(self) -> int | None:
        """What was spent, as far as anything left tells."""
        return max((mark.spent_nano for mark in self._marks), default=None)


def _are(kind: type, *values: object) -> bool:
    return all(isinstance(value, kind) for value in values)
