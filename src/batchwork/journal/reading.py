"""Read a journal without holding it in memory: look-ups for a run, results in input order, counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import Began, Event, Opened, Settled
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.ports import Entry, Totals
from batchwork.journal import codec
from batchwork.journal.placing import outcome_at
from batchwork.journal.rows import COLUMNS, Row, row_from, status_code, status_of
from batchwork.journal.tables import connect, damaged, translated

_AHEAD = 1024  # places read at once while an input is compared with the journal


class JournalReader:
    """A read-only view of a journal file; needs no lock and sees what is committed."""

    def __init__(self, path: Path) -> None:
        self.path = path
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

    def _query(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """One read inside a transaction that is kept open: a snapshot per commit, not per look-up."""
        try:
            if not self._reading:
                self._connection.execute("BEGIN")
                self._reading = True
            return self._connection.execute(sql, values)
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    # -- look-ups -------------------------------------------------------------------------------

    def row_at(self, index: int) -> Row | None:
        """The row at this place."""
        if not self._ahead_from <= index < self._ahead_to:
            self._ahead_from, self._ahead_to = index, index + _AHEAD
            cursor = self._query(f"SELECT {COLUMNS} FROM item WHERE idx >= ? AND idx < ?", (index, index + _AHEAD))  # noqa: S608
            self._ahead = {values[3]: self._row(values) for values in self._all(cursor)}
        return self._ahead.get(index)

    def find(self, fingerprint: bytes, occurrence: int) -> Row | None:
        """The row of this identity."""
        sql = f"SELECT {COLUMNS} FROM item WHERE fingerprint = ? AND occurrence = ?"  # noqa: S608
        values = self._query(sql, (fingerprint, occurrence)).fetchone()
        return None if values is None else self._row(values)

    def row(self, item: int) -> Row | None:
        """The row of this item."""
        values = self._query(f"SELECT {COLUMNS} FROM item WHERE id = ?", (item,)).fetchone()  # noqa: S608
        return None if values is None else self._row(values)

    def reserved_rows(self) -> list[Row]:
        """Items with a call whose fate is open."""
        cursor = self._query(f"SELECT {COLUMNS} FROM item WHERE reserved <> 0")  # noqa: S608
        return [self._row(values) for values in self._all(cursor)]

    def _row(self, values: tuple[Any, ...]) -> Row:
        try:
            return row_from(values)
        except JournalDamagedError as error:
            raise damaged(self.path, str(error)) from error

    def _all(self, cursor: sqlite3.Cursor) -> Iterator[Any]:
        try:
            yield from cursor
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    # -- the whole ------------------------------------------------------------------------------

    def totals_row(self) -> tuple[str, int, int, int, int] | None:
        """Run id, last event, spent, unconfirmed and reserved money; None in a file that is still empty."""
        row: tuple[str, int, int, int, int] | None = self._query(
            "SELECT run_id, seq, spent, unconfirmed, reserved FROM total"
        ).fetchone()
        (last,) = self._query("SELECT coalesce(max(seq), 0) FROM event").fetchone()
        if row is None and last:
            raise damaged(self.path, "its totals are missing")
        if row is not None and row[1] != last:
            raise damaged(self.path, f"it ends at event {last}, but {row[1]} were written")
        return row

    def next_item(self) -> int:
        """The ordinal a new item takes."""
        (last,) = self._query("SELECT coalesce(max(id), -1) FROM item").fetchone()
        return int(last) + 1

    def totals(self) -> Totals:
        """The money, over all runs."""
        row = self.totals_row()
        return Totals(spent_nano=row[2], unconfirmed_nano=row[3]) if row else Totals(spent_nano=0, unconfirmed_nano=0)

    def count(self) -> int:
        """How many places the latest input has."""
        (count,) = self._query("SELECT count(idx) FROM item").fetchone()
        return int(count)

    def counts(self) -> dict[Status, int]:
        """How many of them stand where."""
        counts = dict.fromkeys(Status, 0)
        for code, count in self._all(
            self._query("SELECT status, count(*) FROM item WHERE idx IS NOT NULL GROUP BY status")
        ):
            counts[status_of(code)] = count
        return counts

    def last_run(self) -> Began | None:
        """How the latest run on this journal was started."""
        sql = "SELECT seq, kind, item, body, crc FROM event WHERE kind = ? ORDER BY seq DESC LIMIT 1"
        values = self._query(sql, (codec.KINDS[Began],)).fetchone()
        event = None if values is None else self._decode(values)
        return event if isinstance(event, Began) else None

    def outputs(self) -> list[tuple[str, int, int]]:
        """The files this journal wrote, the latest last: path, size and time of change."""
        return list(self._all(self._query("SELECT path, size, mtime_ns FROM output ORDER BY rowid")))

    def events(self) -> Iterator[Event]:
        """Every event from the first to the last."""
        for values in self._all(self._query("SELECT seq, kind, item, body, crc FROM event ORDER BY seq")):
            yield self._decode(values)

    # -- results --------------------------------------------------------------------------------

    def entries(
        self, start: int = 0, stop: int | None = None, *, statuses: frozenset[Status] | None = None, bodies: bool = True
    ) -> Iterator[Entry]:
        """Places in input order, read in pages so that a long iteration pins no snapshot."""
        wanted = "" if statuses is None else f" AND status IN ({','.join(str(status_code(s)) for s in statuses)})"
        sql = f"SELECT {COLUMNS} FROM item WHERE idx >= ? AND idx < ?{wanted} ORDER BY idx LIMIT {_AHEAD}"  # noqa: S608
        end = stop if stop is not None else 1 << 62
        while True:
            rows = [self._row(values) for values in self._all(self._query(sql, (start, end)))]
            for row in rows:
                yield self._entry(row, bodies)
            if len(rows) < _AHEAD:
                return
            assert rows[-1].index is not None
            start = rows[-1].index + 1

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
        values = self._query("SELECT seq, kind, item, body, crc FROM event WHERE seq = ?", (seq,)).fetchone()
        return None if values is None else self._decode(values)

    def _decode(self, values: tuple[int, int, int, bytes, int]) -> Event:
        try:
            return codec.decode(values, self._blob)
        except JournalDamagedError as error:
            raise damaged(self.path, str(error)) from error

    def _read_blob(self, key: bytes) -> bytes | None:
        row = self._query("SELECT body FROM blob WHERE digest = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])
