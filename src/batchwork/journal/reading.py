"""Read a journal without holding it in memory: look-ups for a run, results in input order, counts."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from batchwork.core.batch_book import BatchBook
from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import Attempted, BatchEvent, Began, Event, Opened, Settled
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.ports import Entry, Totals
from batchwork.core.request import Request
from batchwork.core.ticket import Ticket
from batchwork.journal import codec
from batchwork.journal.placing import outcome_at
from batchwork.journal.rows import COLUMNS, Row, Sums, row_from, status_of
from batchwork.journal.tables import FAULTS, connect, damaged, translated

_SUMS = "SELECT run_id, seq, spent, unconfirmed, reserved, standing, began, items, batches, noted, crc FROM total"
_ANSWERS = f"{codec.KINDS[Attempted]}, {codec.KINDS[Settled]}"  # an item of a batch that was read has one of these
_AHEAD = 1024  # places read at once while an input is compared with the journal


class JournalReader:
    """A read-only view of a journal file; needs no lock and sees what is committed.

    With `pinned` it goes on seeing what was committed at its first read until `refresh`, which is faster.
    """

    def __init__(self, path: Path, *, pinned: bool = False) -> None:
        self.path = path
        self._pinned = pinned
        self._connection = connect(path, writable=False)
        self._reading = False
        self._ahead: dict[int, Row] = {}
        self._ahead_from = self._ahead_to = 0
        self._blob = lru_cache(maxsize=64)(self._read_blob)

    def close(self) -> None:
        """Let go."""
        self._connection.close()

    def refresh(self, *, moved: bool = False) -> None:
        """See what has been committed since; forget what was read ahead when places have changed hands."""
        if self._reading:
            self._connection.execute("ROLLBACK")
            self._reading = False
        if moved:
            self._ahead, self._ahead_to = {}, 0

    def follow(self, rows: Iterable[Row]) -> None:
        """Replace what was read ahead by what has been written since: an item may settle before its place is read."""
        for row in rows:
            if row.index is not None and self._ahead_from <= row.index < self._ahead_to:
                self._ahead[row.index] = row

    def _query(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """One read inside a transaction that is kept open: a snapshot per commit, not per look-up."""
        try:
            if not self._reading:
                self._connection.execute("BEGIN")
                self._reading = True
            return self._connection.execute(sql, values)
        except FAULTS as error:
            raise translated(error, self.path) from error

    def _one(self, sql: str, values: tuple[Any, ...] = ()) -> Any | None:
        cursor = self._query(sql, values)
        try:
            return cursor.fetchone()
        except FAULTS as error:
            raise translated(error, self.path) from error

    def _all(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        cursor = self._query(sql, values)
        try:
            return cursor.fetchall()
        except FAULTS as error:
            raise translated(error, self.path) from error

    def _let_go(self) -> None:
        """A snapshot that is kept keeps the log from shrinking."""
        if not self._pinned:
            self.refresh()

    # -- look-ups -------------------------------------------------------------------------------

    def row_at(self, index: int) -> Row | None:
        """The row at this place."""
        if not self._ahead_from <= index < self._ahead_to:
            self._ahead_from, self._ahead_to = index, index + _AHEAD
            sql = f"SELECT {COLUMNS} FROM item WHERE idx >= ? AND idx < ?"  # noqa: S608
            self._ahead = {values[3]: self._row(values) for values in self._all(sql, (index, index + _AHEAD))}
        return self._ahead.get(index)

    def item_of(self, fingerprint: bytes, occurrence: int) -> int | None:
        """The item of this identity, if it stands in the table of identities."""
        sql = "SELECT item FROM identity WHERE fingerprint = ? AND occurrence = ?"
        values = self._one(sql, (fingerprint, occurrence))
        return None if values is None else values[0]

    def identities(self, start: int) -> dict[tuple[bytes, int], int]:
        """The identities of the items from `start` on."""
        sql = "SELECT fingerprint, occurrence, id FROM item WHERE id >= ?"
        return {(fingerprint, occurrence): item for fingerprint, occurrence, item in self._all(sql, (start,))}

    def row(self, item: int) -> Row | None:
        """The row of this item."""
        values = self._one(f"SELECT {COLUMNS} FROM item WHERE id = ?", (item,))  # noqa: S608
        return None if values is None else self._row(values)

    def reserved_rows(self) -> list[Row]:
        """Items with a call whose fate is open."""
        return [self._row(v) for v in self._all(f"SELECT {COLUMNS} FROM item WHERE reserved <> 0")]  # noqa: S608

    def _row(self, values: tuple[Any, ...]) -> Row:
        try:
            return row_from(values)
        except JournalDamagedError as error:
            raise damaged(self.path, str(error)) from error

    # -- the whole ------------------------------------------------------------------------------

    def sums(self) -> Sums | None:
        """What it all adds up to; None in a file that is still empty."""
        values = self._one(_SUMS)
        (last,) = self._one("SELECT coalesce(max(seq), 0) FROM event") or (0,)
        if values is None:
            if last:
                raise damaged(self.path, "its totals are missing")
            return None
        try:
            sums = Sums.unsealed(values)
        except JournalDamagedError as error:
            raise damaged(self.path, str(error)) from error
        if sums.seq != last:
            raise damaged(self.path, f"it ends at event {last}, but {sums.seq} were written")
        return sums

    def check_indexes(self) -> None:
        """That every item is found by its key and at its place: one that is not would be asked, and paid, again."""
        sums = self.sums() or Sums(run_id="")
        same = "j.fingerprint = i.fingerprint AND j.occurrence = i.occurrence AND j.item = i.id"
        by_key = f"(i.id >= {sums.noted} OR EXISTS (SELECT 1 FROM identity j WHERE {same}))"  # noqa: S608
        by_place = "EXISTS (SELECT 1 FROM item j INDEXED BY item_place WHERE j.idx = i.idx AND j.id = i.id)"
        sql = f"SELECT count(*), coalesce(sum({by_key}), 0), coalesce(sum({by_place}), 0) FROM item i NOT INDEXED"  # noqa: S608
        if self._one(sql) != (sums.items, sums.items, sums.places):
            raise damaged(self.path, "not every item is found again")

    def totals(self) -> Totals:
        """The money, over all runs."""
        sums = self.sums() or Sums(run_id="")
        self._let_go()
        return Totals(spent_nano=sums.spent, unconfirmed_nano=sums.unconfirmed)

    def count(self) -> int:
        """How many places the latest input has."""
        sums = self.sums()
        self._let_go()
        return 0 if sums is None else sums.places

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """How many of them, or of those below a place, stand where; counted afresh."""
        sums = self.sums() or Sums(run_id="")
        # One pass with a counter each: GROUP BY would sort all rows in memory.
        each = ", ".join(f"count(*) FILTER (WHERE status = {code})" for code in range(len(Status)))
        where = "idx IS NOT NULL" if below is None else f"idx < {int(below)}"
        ((total, *found),) = self._all(f"SELECT count(*), {each} FROM item WHERE {where}")  # noqa: S608
        if sum(found) != total:
            raise damaged(self.path, f"{total - sum(found)} rows have a status that does not exist")
        counts = {status_of(code): count for code, count in enumerate(found)}
        self._let_go()
        if below is None and counts != sums.counts:
            raise damaged(self.path, f"{sum(counts.values())} rows are there, {sums.places} were written")
        return counts

    def last_run(self) -> Began | None:
        """How the latest run on this journal was started."""
        sums = self.sums()
        event = None if sums is None or not sums.began else self._event(sums.began)
        self._let_go()
        if sums is not None and sums.began and not isinstance(event, Began):
            raise damaged(self.path, "the start of its latest run is missing")
        return event if isinstance(event, Began) else None

    def settled_times(self) -> dict[int, float]:
        """When the item at each place of the latest input settled: UTC by place."""
        sql = "SELECT i.idx, e.at FROM item i JOIN event e ON e.seq = i.settled_seq WHERE i.idx IS NOT NULL"
        times = dict(self._all(sql))
        self._let_go()
        return times

    def outputs(self) -> list[tuple[Path, int, int]]:
        """The files this journal wrote, the latest last: path, size and time of change."""
        rows = self._all("SELECT path, size, mtime_ns FROM output ORDER BY rowid")
        self._let_go()
        return [(self.path.parent / path, size, mtime_ns) for path, size, mtime_ns in rows]

    def events(self) -> Iterator[Event]:
        """Every event from the first to the last."""
        sums, last = self.sums(), 0
        while rows := self._all(
            f"SELECT seq, kind, item, body, crc FROM event WHERE seq > ? ORDER BY seq LIMIT {_AHEAD}",  # noqa: S608
            (last,),
        ):
            for values in rows:
                last += 1
                if values[0] != last:
                    raise damaged(self.path, f"event {last} is missing")
                yield self._decode(values)
        if sums is not None and last < sums.seq:
            raise damaged(self.path, f"it ends at event {last}, but {sums.seq} were written")
        self._let_go()

    def batch_events(self) -> Iterator[BatchEvent]:
        """What was recorded about provider batches, from the first to the last."""
        return (event for _, event in self._numbered_batch_events())

    def _numbered_batch_events(self) -> list[tuple[int, BatchEvent]]:
        sums = self.sums() or Sums(run_id="")
        rows = self._all("SELECT seq, kind, item, body, crc FROM event WHERE kind >= 8 ORDER BY seq")
        if len(rows) != sums.batches:
            raise damaged(self.path, f"{len(rows)} events of provider batches are there, {sums.batches} were written")
        return [(values[0], cast(BatchEvent, self._decode(values))) for values in rows]

    def open_batches(self) -> list[Ticket]:
        """Provider batches that were intended and not closed, oldest first, with the items that still ride in them."""
        book = self.batch_book()
        self._let_go()
        return book.open()

    def batch_book(self) -> BatchBook:
        """What all events say about provider batches."""
        events = self._numbered_batch_events()
        book = BatchBook()
        for _, event in events:
            book.apply(event)
        if not book.rides:
            return book
        # Some are open: which of their items are answered is said by the items' own events since.
        open_chunks = {ticket.chunk for ticket in book.open()}
        since = min(seq for seq, event in events if event.chunk in open_chunks)
        sql = f"SELECT seq, item FROM event WHERE seq > ? AND kind IN ({_ANSWERS}) ORDER BY seq"  # noqa: S608
        book = BatchBook()
        for _, told in heapq.merge(events, self._query(sql, (since,)), key=itemgetter(0)):
            if isinstance(told, int):
                book.answered(told)
            else:
                book.apply(told)
        return book

    def request_of(self, item: int) -> Request:
        """What an item asks."""
        row = self.row(item)
        request = None if row is None else self._opened(row, row.request_seq).request
        if request is None:
            raise damaged(self.path, f"item {item} has lost its request")
        return request

    # -- results --------------------------------------------------------------------------------

    def entries(
        self, start: int = 0, stop: int | None = None, *, statuses: frozenset[Status] | None = None, bodies: bool = True
    ) -> Iterator[Entry]:
        """Places in input order, read in pages so that a long iteration pins no snapshot."""
        sql = f"SELECT {COLUMNS} FROM item WHERE idx >= ? AND idx < ? ORDER BY idx LIMIT {_AHEAD}"  # noqa: S608
        end = stop if stop is not None else 1 << 62
        self._must_hold(start, stop)
        try:
            while True:
                rows = [self._row(values) for values in self._all(sql, (start, end))]
                for row in rows:
                    if row.index is None or not start <= row.index < end:
                        raise damaged(self.path, f"item {row.item} stands in the wrong place")
                    start = row.index + 1
                    if statuses is None or row.status in statuses:
                        yield self._entry(row, bodies)
                if len(rows) < _AHEAD:
                    return
                self._let_go()
        finally:
            self._let_go()

    def _must_hold(self, start: int, stop: int | None) -> None:
        """That the index of places has lost none of those asked for: it alone decides what is read."""
        sums = self.sums()
        places = sums.places if sums is not None else 0
        end = places if stop is None else stop
        sql = "SELECT count(*) FROM item {} WHERE idx >= ? AND idx < ?"
        range_ = (max(0, start), end if start > 0 or stop is not None else 1 << 62)
        (found,) = self._one(sql.format("INDEXED BY item_place"), range_) or (0,)
        if found >= min(end, places) - range_[0]:
            return
        # Fewer than there would be without a gap. A run that ended early may leave gaps, but not in the index alone.
        (really,) = self._one(sql.format("NOT INDEXED"), range_) or (0,)
        if found != really or (range_ == (0, 1 << 62) and found != places):
            raise damaged(self.path, f"{found} rows of the input are there, {max(really, places)} were written")

    def _entry(self, row: Row, bodies: bool) -> Entry:
        assert row.index is not None
        entry = Entry(index=row.index, item=row.item, status=row.status, paid_nano=row.paid_nano, attempts=row.attempts)
        if not bodies:
            return entry
        opened = self._opened(row, row.columns_seq)
        if opened.index != row.index:
            raise damaged(self.path, f"item {row.item} stands in the wrong place")
        entry.columns = opened.columns
        first = opened if row.request_seq == row.columns_seq else self._opened(row, row.request_seq)
        entry.request = first.request
        entry.outcome = outcome_at(self._outcome(row), row.index)
        return entry

    def _opened(self, row: Row, seq: int) -> Opened:
        event = self._event(seq)
        if not isinstance(event, Opened) or event.item != row.item:
            raise damaged(self.path, f"item {row.item} has lost its request")
        return event

    def _outcome(self, row: Row) -> AnyOutcome | None:
        if not row.settled_seq:
            return None
        event = self._event(row.settled_seq)
        if not isinstance(event, Settled) or event.item != row.item or event.outcome.status is not row.status:
            raise damaged(self.path, f"item {row.item} has lost its outcome")
        return event.outcome

    def _event(self, seq: int) -> Event | None:
        values = self._one("SELECT seq, kind, item, body, crc FROM event WHERE seq = ?", (seq,))
        return None if values is None else self._decode(values)

    def _decode(self, values: tuple[int, int, int, bytes, int]) -> Event:
        try:
            return codec.decode(values, self._blob)
        except (JournalDamagedError, TypeError) as error:
            raise damaged(self.path, str(error)) from error

    def _read_blob(self, key: bytes) -> bytes | None:
        row = self._one("SELECT body, crc FROM blob WHERE digest = ?", (key,))
        if row is None:
            return None
        if codec.blob_checksum(key, row[0]) != row[1]:
            raise JournalDamagedError(f"a part shared by several requests is damaged ({key.hex()})")
        return bytes(row[0])
