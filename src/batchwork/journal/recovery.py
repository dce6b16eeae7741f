"""Save what is whole in a damaged journal: read every event by its checksum, replay them into a new file.

Nothing is trusted but the events themselves: tables, indexes and totals are made anew. The damaged file is kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from batchwork.core.errors import JournalDamagedError, JournalError, JournalWriteError
from batchwork.core.event import (
    Attempted,
    BatchEvent,
    BatchIntended,
    BatchReopened,
    Began,
    Ended,
    Event,
    ItemEvent,
    Opened,
)
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake
from batchwork.core.money import show
from batchwork.journal import codec
from batchwork.journal.aside import move_aside
from batchwork.journal.companions import INDEX, LOG, MARK, PRIVATE_FILE, beside, mode_of, real
from batchwork.journal.lock import WriterLock
from batchwork.journal.log import is_all_there_is
from batchwork.journal.mark import Mark, read_mark
from batchwork.journal.pages import PageFile
from batchwork.journal.rows import Row, Sums, columns_digest
from batchwork.journal.sqlite import SqliteJournal
from batchwork.journal.tables import connect

_SCRATCH = """
CREATE TABLE event (seq INTEGER PRIMARY KEY, kind INTEGER, item INTEGER, body BLOB, crc INTEGER, at REAL);
CREATE TABLE blob (digest BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID;
"""
_WRITE_EVERY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What was saved, and where everything is now."""

    path: Path  # the new journal, under the old name
    kept: Path  # the damaged one
    items: int
    outcomes: int
    lost_events: int
    note: str


def recover(path: Path) -> Recovered:
    """Replace a damaged journal by a new one with everything that is whole in it; keep the damaged file beside it.

    Raises:
        JournalLockedError: another process is writing it.
        JournalError: there is nothing to recover, and nothing was changed.
    """
    path = real(path)
    if not path.is_file() and not is_all_there_is(path):
        raise JournalError(f"there is no journal at {path}")
    lock = WriterLock(path)
    new, scratch = (path.with_name(f"{path.name}.{what}") for what in ("recovered", "scratch"))
    try:
        path.touch(PRIVATE_FILE)  # where only its log is left
        _remove(new, scratch)  # left by a recovery that was cut off
        with closing(_gather(path, scratch)) as gathered:
            replay = _Replay(gathered, new)
            replay.all_events()
        new.chmod(mode_of(path))
        kept = move_aside(path, name="damaged", instead=new)
        _carry_outputs(kept, path)
    except OSError as error:
        raise JournalWriteError(f"cannot recover {path}: {error.strerror}") from error
    finally:
        _remove(new, scratch)
        lock.release()
    return replay.told(path, kept)


def _carry_outputs(old: Path, new: Path) -> None:
    """Whatever can still be told of the files that the journal wrote: they remain its own to replace."""
    try:
        with closing(sqlite3.connect(f"{old.absolute().as_uri()}?mode=ro", uri=True)) as damaged:
            written = damaged.execute("SELECT path, size, mtime_ns FROM output").fetchall()
        with closing(connect(new, writable=True)) as journal:
            journal.executemany("INSERT OR REPLACE INTO output VALUES (?,?,?)", written)
    except sqlite3.Error:
        return  # then the user is asked for --overwrite


def _remove(*ours: Path) -> None:
    for file in ours:
        for part in ("", LOG, INDEX, MARK):
            beside(file, part).unlink(missing_ok=True)


class _Gathered:
    """Every event and shared part that is whole, in a scratch file: a large journal does not fit into memory."""

    def __init__(self, scratch: sqlite3.Connection, sums: Sums | None, mark: Mark | None) -> None:
        self._scratch = scratch
        self.sums = sums
        known = [Mark(sums.run_id, sums.seq, sums.spent)] if sums is not None else []
        known += [mark] if mark is not None else []
        self._seq = max((told.seq for told in known), default=0)
        self.spent_nano = max((told.spent_nano for told in known), default=None)

    def close(self) -> None:
        self._scratch.close()

    def blob(self, key: bytes) -> bytes | None:
        row = self._scratch.execute("SELECT body FROM blob WHERE digest = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def events(self) -> Iterator[tuple[float, Event]]:
        for *row, at in self._scratch.execute("SELECT seq, kind, item, body, crc, at FROM event ORDER BY seq"):
            try:
                yield at, codec.decode((row[0], row[1], row[2], row[3], row[4]), self.blob)
            except JournalDamagedError:
                continue  # a shared part of it is lost, or it is no event at all

    def count(self) -> int:
        """How many events were written, as far as anything left tells."""
        (last,) = self._scratch.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()
        return max(int(last), self._seq)


def _gather(path: Path, scratch: Path) -> _Gathered:
    scratch.touch(PRIVATE_FILE)
    connection = sqlite3.connect(scratch, isolation_level=None)
    connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCRATCH} BEGIN;")
    sums: Sums | None = None
    pages = PageFile(path)
    try:
        for row_id, values in pages.records():
            if len(values) == 6 and _is_event(row_id, values):
                _, at, kind, item, body, crc = values
                whole = (row_id, kind, item, body, crc, at)
                connection.execute("INSERT OR IGNORE INTO event VALUES (?,?,?,?,?,?)", whole)
            elif len(values) == 3 and _is_blob(values):
                connection.execute("INSERT OR IGNORE INTO blob VALUES (?,?)", values[:2])
            elif len(values) == 1 + len(Sums._fields) + 1:
                found = _sums(values)
                sums = found if sums is None or (found is not None and found.seq > sums.seq) else sums
    finally:
        pages.close()
    connection.execute("COMMIT")
    gathered = _Gathered(connection, sums, _mark_of(path, sums))
    if not connection.execute("SELECT 1 FROM event").fetchone():
        gathered.close()
        raise JournalError(
            f"there is nothing in {path} that could be recovered; it was left as it is. --fresh (in Python fresh=True)"
            " starts anew and keeps it under another name"
        )
    return gathered


def _mark_of(path: Path, sums: Sums | None) -> Mark | None:
    """How far the journal was; nothing where its mark is damaged or belongs to another journal."""
    with suppress(JournalDamagedError):
        mark = read_mark(path)
        return mark if mark is None or sums is None or mark.run_id == sums.run_id else None
    return None


def _is_event(seq: int, values: list[Any]) -> bool:
    _, _, kind, item, body, crc = values
    if not (isinstance(kind, int) and isinstance(item, int) and isinstance(body, bytes)):
        return False
    return bool(codec.checksum(seq, kind, item, body) == crc)


def _is_blob(values: list[Any]) -> bool:
    key, body, crc = values
    return isinstance(key, bytes) and isinstance(body, bytes) and codec.blob_checksum(key, body) == crc


def _sums(values: list[Any]) -> Sums | None:
    try:
        return Sums.unsealed(tuple(values[1:]))
    except (JournalDamagedError, TypeError):
        return None


class _NewJournal(SqliteJournal):
    """A journal that is told what happened instead of being asked which item a row is."""

    def __init__(self, path: Path, *, utc: Callable[[], float], run_id: str | None) -> None:
        super().__init__(path, utc=utc)
        self.run_id = run_id or self.run_id
        self._is_first = False
        self._placed: set[int] = set()  # places taken by what is not yet written

    def flush(self) -> None:
        """Write everything queued, so that look-ups see it."""
        super().flush()
        self._placed.clear()
        self._reader.refresh(moved=True)

    def opened(self, event: Opened) -> None:
        """A row was read, for the first time or again."""
        if event.index in self._placed:
            self.flush()
        self._placed.add(event.index)
        row = self._rows.get(event.item) or self._reader.row(event.item)
        if row is None:
            row = Row(event.item, event.fingerprint, event.occurrence)
            row.is_new = True
            self._next_item = event.item + 1
        digest = 0 if event.columns is None else columns_digest(event.columns)
        intake = Intake(fingerprint=event.fingerprint, request=event.request, columns=event.columns)
        self._open(row, event.index, intake, digest)
        self.release(event.item)

    def ran(self, event: Began | Ended) -> None:
        """A run began or ended."""
        self.flush()
        self.record(event)
        if isinstance(event, Began):
            self._began = self._seq
        self.flush()

    def settled(self) -> int:
        """How many items have an outcome, wherever they stand."""
        self.flush()
        (count,) = self._writer.execute("SELECT count(*) FROM item WHERE settled_seq > 0").fetchone()
        return int(count)


class _Replay:
    """Records every event again, in its order, in a new journal; items are numbered anew where some are lost."""

    def __init__(self, gathered: _Gathered, new: Path) -> None:
        self._gathered = gathered
        self._at = 0.0
        run_id = gathered.sums.run_id if gathered.sums is not None else None
        self._journal = _NewJournal(new, utc=lambda: self._at, run_id=run_id)
        self._items: dict[int, int] = {}
        self._replayed = 0
        self._lost = 0
        self._settled = 0
        self._missing_nano = 0

    def all_events(self) -> None:
        """Everything there is, and what the old totals say was spent beyond it."""
        try:
            for at, event in self._gathered.events():
                self._at = at
                self._replayed += self._again(event)
                if self._replayed % _WRITE_EVERY == 0:
                    self._journal.flush()
            self._lost = self._gathered.count() - self._replayed
            self._book_what_is_missing()
            self._settled = self._journal.settled()
        finally:
            self._journal.close()

    def _again(self, event: Event) -> bool:
        if isinstance(event, Opened):
            if event.item not in self._items:
                self._items[event.item] = len(self._items)
            self._journal.opened(msgspec.structs.replace(event, item=self._items[event.item]))
            return True
        if isinstance(event, ItemEvent):
            if (item := self._items.get(event.item)) is None:
                return False  # its request is lost, and with it what it was about
            self._journal.take(item)
            self._journal.record(msgspec.structs.replace(event, item=item))
            self._journal.release(item)
            return True
        if isinstance(event, BatchEvent):
            return self._batch_again(event)
        self._journal.ran(event)
        return True

    def _batch_again(self, event: BatchEvent) -> bool:
        if isinstance(event, BatchIntended):
            kept = [number for number, item in enumerate(event.items) if item in self._items]
            event = msgspec.structs.replace(
                event,
                items=tuple(self._items[event.items[number]] for number in kept),
                custom_ids=tuple(event.custom_ids[number] for number in kept),
                worst_nano=tuple(event.worst_nano[number] for number in kept) if event.worst_nano else (),
            )
        elif isinstance(event, BatchReopened):
            if event.chunk not in {ticket.chunk for ticket in self._journal.batches.lost()}:
                return False
            known_items = tuple(self._items[item] for item in event.items if item in self._items)
            event = msgspec.structs.replace(event, items=known_items)
        elif not self._journal.batches.is_open(event.chunk):
            return False
        self._journal.record(event)
        return True

    def _book_what_is_missing(self) -> None:
        """Money that was surely spent by events that are lost still counts against the ceiling."""
        self._missing_nano = max(0, (self._gathered.spent_nano or 0) - self._journal.totals().spent_nano)
        if not self._missing_nano or not self._items:
            return
        self._journal.take(0)
        self._journal.record(
            Attempted(item=0, kind=FailureKind.INTERNAL, charged_nano=self._missing_nano, unconfirmed=True)
        )
        self._journal.release(0)

    def told(self, path: Path, kept: Path) -> Recovered:
        """What came of it."""
        lost, settled = self._lost, self._settled
        note = f"recovered {settled:,} outcomes of {len(self._items):,} items"
        note += f"; {lost:,} events were lost" if lost else "; no event was lost"
        if lost and self._gathered.spent_nano is None:
            note += " (their cost is not known: the total may be too low)"
        if self._missing_nano:
            note += f" ({show(self._missing_nano)} of lost calls is booked as unconfirmed)"
        return Recovered(
            path=path,
            kept=kept,
            items=len(self._items),
            outcomes=settled,
            lost_events=lost,
            note=f"{note}; the damaged file is kept as {kept.name}",
        )
