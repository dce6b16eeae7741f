"""Reads a journal in a database: the same tables as in a file, fetched many rows at once because they are far away.

Every statement stands alone: an open transaction would keep the whole database from cleaning up. Rows point at events,
and events never change, so what is read in two statements still fits together.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from threading import Event as Flag
from typing import Any, cast

import psycopg

from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalDamagedError, JournalError
from batchwork.core.event import Attempted, BatchEvent, Event, Settled
from batchwork.core.late_answer import OPEN, LateAnswer
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry
from batchwork.core.request import Request
from batchwork.journal import codec
from batchwork.journal.connections import ReadConnection
from batchwork.journal.reader import JournalReader
from batchwork.journal.rows import ITEM_COLUMNS, STATUSES, ItemRow, Sums
from batchwork.journal.tables import EventTable, ItemTable
from batchwork.postgres import schema
from batchwork.postgres.connection import LOST, DatabaseAwayError, SyncConnection, away, connect_reader, in_our_words
from batchwork.postgres.workers import GRACE_S

_PAGE = 1024  # rows read at once
_NEAR = 32 * _PAGE  # rows that are kept at hand: the results of a large batch come in any order
_BODIES = 128  # events read at once, which may be long
_TRIES, _APART_S = 6, 0.5  # for a database that is just coming back
_ITEM = f"SELECT {ITEM_COLUMNS} FROM item"
_OF_ITEM = f"SELECT {', '.join(f'i.{column}' for column in ITEM_COLUMNS.split(', '))} FROM"
_ALIKE = (
    f"{_OF_ITEM} unnest(?::bytea[], ?::bytea[]) AS u (low, high) JOIN item i"
    " ON i.fingerprint >= u.low AND i.fingerprint <= u.high AND i.occurrence = 0"
)
_FOUND = (
    f"{_OF_ITEM} unnest(?::bytea[], ?::bigint[], ?::bigint[]) AS u (fingerprint, low, high) JOIN item i"
    " ON i.fingerprint = u.fingerprint AND i.occurrence >= u.low AND i.occurrence < u.high"
)
IN_A_BLOCK = "EXISTS (SELECT FROM block b WHERE b.first <= idx AND idx < b.stop)"
_HAS_OPEN = (
    f"SELECT FROM item WHERE id = ANY(?) AND (status = {STATUSES.index(Status.PENDING)}"
    f" OR status = {STATUSES.index(Status.DEFERRED)} AND {IN_A_BLOCK}) LIMIT 1"
)
_WRITER = (
    "SELECT name FROM worker WHERE state = 'live' AND (renewed_at > clock_timestamp() - ? * interval '1 s' OR EXISTS"
    " (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND classid = ?::text::oid"
    " AND objid = ?::text::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))"
    " ORDER BY id DESC LIMIT 1"
)
_OF_BATCHES = (
    f"SELECT seq, kind, item, body, crc, place FROM event WHERE kind >= {codec.FIRST_OF_BATCHES} ORDER BY place"
)
_EVENT = "SELECT seq, kind, item, body, crc FROM event"
DONE = ", ".join(f"coalesce(sum(standing[{number}]), 0)" for number in range(1, len(STATUSES) + 1))
# Whoever has a block takes in what is late of its items, and the owner what is in no block; of several, the first does,
# and only about what is settled, since another one may be about to offer the rest.
_LATE = (
    "SELECT l.seq, l.kind, l.item, l.body, l.crc, l.attempts, l.reserved FROM late l JOIN item i ON i.id = l.item"
    " LEFT JOIN block b ON i.idx >= b.first AND i.idx < b.stop"
    " CROSS JOIN (SELECT min(id) AS first, count(*) AS count FROM worker WHERE state = 'live' AND is_owner) AS o"
    " WHERE CASE WHEN b.first IS NULL THEN o.first = ? AND (o.count = 1 OR i.status <> ALL(?)) ELSE b.worker = ? END"
    " ORDER BY l.seq"
)
_SUMS = (
    "SELECT (SELECT run_id FROM meta), (SELECT events FROM meta), coalesce(sum(spent), 0),"
    " coalesce(sum(unconfirmed), 0),"
    " coalesce(sum(reserved), 0), coalesce(max(began), 0), coalesce(sum(items), 0), coalesce(sum(batches), 0),"
    f" {DONE} FROM worker"
)


@lru_cache(maxsize=256)
def _ours(text: str) -> bytes:
    """A statement with the driver's own mark for a value."""
    return text.replace("?", "%s").encode()


class DatabaseConnection(ReadConnection):
    """A connection that reads; one that was lost is opened again, since reading can be repeated."""

    def __init__(self, dsn: Dsn) -> None:
        self.dsn = dsn
        self._session: SyncConnection | None = None
        self._rest = Flag()
        self._connected()

    def _connected(self) -> SyncConnection:
        if self._session is None:
            session = connect_reader(self.dsn)
            try:
                with in_our_words(self.dsn):
                    schema.use(session, self.dsn)
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def refresh(self) -> None:
        """Nothing to do: every statement sees what is committed."""

    def let_go(self) -> None:
        """Nothing to do."""

    def _rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        for left in reversed(range(_TRIES)):
            try:
                return self._connected().execute(_ours(sql), values or None, binary=True).fetchall()
            except DatabaseAwayError:
                if not left:
                    raise
            except LOST as error:
                self.close()
                if not left:
                    raise away(self.dsn, error) from None
            except psycopg.Error as error:
                raise JournalError(f"{self.dsn} cannot be read: {error.diag.message_primary or error}") from None
            self._rest.wait(_APART_S)
        raise AssertionError

    def one(self, sql: str, values: tuple[Any, ...] = ()) -> Any | None:
        return next(iter(self._rows(sql, values)), None)

    def each(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[Any]:
        yield from self._rows(sql, values)

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._rows(sql, values)

    def sums(self) -> Sums:
        """What all workers add up to."""
        row: Any = self.one(_SUMS)
        run_id, seq, spent, unconfirmed, reserved, began, items, batches, *counts = row
        return Sums(
            run_id=run_id,
            seq=seq,
            spent=int(spent),
            unconfirmed=int(unconfirmed),
            reserved=int(reserved),
            counts={status: int(count) for status, count in zip(STATUSES, counts, strict=True)},
            began=began,
            items=int(items),
            batches=int(batches),
            noted=int(items),
        )

    def damaged(self, what: object) -> JournalDamagedError:
        return JournalDamagedError(
            f"the journal {self.dsn} is damaged ({what}); restore it from a dump of the database (pg_restore)"
        )


class DatabaseItems(ItemTable):
    """The rows of items, of which the neighbours are read along where one process alone changes them."""

    def __init__(self, connection: DatabaseConnection, *, pinned: bool) -> None:
        super().__init__(connection)
        self._pinned = pinned
        self._near: dict[int, ItemRow] = {}  # by number
        # Calls that this process has sent: the attempts before, and what is set aside.
        self.under_way: dict[int, tuple[int, int]] = {}

    def row(self, item: int) -> ItemRow | None:
        if item in self._near:
            return self._near[item]
        if not self._pinned:
            return self.now(item)
        first = item - item % _PAGE  # so that each page is read once, in whatever order its rows are asked for
        rows = self._rows("WHERE id >= ? AND id < ?", first, first + _PAGE)
        self.keep([row for row in rows if row.item not in self._near])
        return self._near.get(item)

    def now(self, item: int) -> ItemRow | None:
        """The row of this item as the database has it at this moment."""
        return next(iter(self._rows("WHERE id = ?", item)), None)

    def keep(self, rows: Iterable[ItemRow]) -> None:
        """Have these rows at hand."""
        if len(self._near) > _NEAR:
            self._near = {}
        self._near.update((row.item, row) for row in rows)

    def near(self, item: int) -> list[ItemRow]:
        """An item and those beside it which are at hand."""
        first = item - item % _BODIES
        return [row for number in range(first, first + _BODIES) if (row := self._near.get(number)) is not None]

    def forget_places(self) -> None:
        super().forget_places()
        self._near = {}

    def follow(self, rows: Iterable[ItemRow]) -> None:
        written = list(rows)
        super().follow(written)
        for row in written:
            if row.item in self._near:
                self._near[row.item] = row
            if row.reserved_nano:
                self.under_way[row.item] = (row.attempts, row.reserved_nano)
            else:
                self.under_way.pop(row.item, None)

    def find(self, fingerprint: bytes, occurrence: int) -> int | None:
        row = self._connection.one(
            "SELECT id FROM item WHERE fingerprint = ? AND occurrence = ?", (fingerprint, occurrence)
        )
        return None if row is None else row[0]

    def found(self, spans: dict[bytes, tuple[int, int]]) -> list[ItemRow]:
        """The items of these fingerprints whose occurrences are in the span of each, from the first up to the last."""
        lows, highs = zip(*spans.values(), strict=True)
        rows = cast(DatabaseConnection, self._connection).all(_FOUND, (list(spans), list(lows), list(highs)))
        return self._made(rows)

    def alike(self, spans: Iterable[tuple[bytes, bytes]]) -> list[ItemRow]:
        """The items whose fingerprints are in one of these spans; of several equal ones, the first."""
        return self._made(self._connection.all(_ALIKE, tuple(map(list, zip(*spans, strict=True)))))

    def rows_at(self, first: int, stop: int) -> list[ItemRow]:
        """The rows at these places, as they stand now."""
        return self._rows("WHERE idx >= ? AND idx < ? ORDER BY idx", first, stop)

    def rows_of(self, items: list[int]) -> list[ItemRow]:
        """The rows of these items, as they stand now."""
        return self._made(self._connection.all(f"{_ITEM} WHERE id = ANY(?)", (items,)))

    def has_open(self, items: list[int]) -> bool:
        """Whether any of these items is to be done: what is deferred, while it stands in a block."""
        return self._connection.one(_HAS_OPEN, (items,)) is not None

    def has_blocks(self) -> bool:
        """Whether a run that several processes worked on has left blocks, or is not over."""
        return self._connection.one("SELECT FROM block LIMIT 1") is not None

    def reserved_in_blocks(self, worker: int) -> list[ItemRow]:
        """Items with a call whose fate is open, in the blocks of one worker."""
        where = "EXISTS (SELECT FROM block b WHERE b.worker = ? AND idx >= b.first AND idx < b.stop)"
        return self._rows(f"WHERE reserved <> 0 AND {where}", worker)

    def reserved_beside(self, worker: int) -> list[ItemRow]:
        """The same where no other worker has them in a block."""
        where = "NOT EXISTS (SELECT FROM block b WHERE b.worker <> ? AND idx >= b.first AND idx < b.stop)"
        return self._rows(f"WHERE reserved <> 0 AND {where}", worker)

    def counts(self, below: int | None) -> dict[Status, int]:
        where = "idx IS NOT NULL" if below is None else f"idx < {int(below)}"
        found = dict(self._connection.each(f"SELECT status, count(*) FROM item WHERE {where} GROUP BY status"))
        return {status: found.get(code, 0) for code, status in enumerate(STATUSES)}

    def check_indexes(self) -> None:
        """Nothing to do: the indexes are the database's own affair."""

    def _check_places(self, start: int, stop: int | None) -> None:
        """Nothing to do."""


class DatabaseEvents(EventTable):
    """The events, by their numbers and in the order of their commits."""

    at_once = 3 * _BODIES

    def __init__(self, connection: DatabaseConnection) -> None:
        super().__init__(connection)
        self._at_hand: dict[int, Event] = {}

    def at(self, seq: int) -> Event | None:
        event = self._at_hand.get(seq)
        return super().at(seq) if event is None else event

    def has(self, seq: int) -> bool:
        """Whether an event is at hand."""
        return seq in self._at_hand

    def read_ahead(self, seqs: list[int]) -> None:
        self.fetch(seqs)

    def fetch(self, seqs: Iterable[int]) -> None:
        """Have these events at hand, and no others."""
        rows = self._connection.all(f"{_EVENT} WHERE seq = ANY(?)", (list(seqs),))
        self._at_hand = {values[0]: self._decode(values) for values in rows}

    def all(self) -> Iterator[Event]:
        last = 0
        while page := self.after(last, _PAGE):
            last = page[-1][0]
            yield from (event for _, _, event in page)

    def after(self, seq: int, count: int) -> list[tuple[int, float, Event]]:
        """Up to so many events behind this place in the order of all commits, each with its own place."""
        sql = "SELECT seq, kind, item, body, crc, place, at FROM event WHERE place > ? ORDER BY place LIMIT ?"
        rows = self._connection.all(sql, (seq, count))
        if rows and rows[-1][5] != seq + len(rows):
            raise self._connection.damaged(f"an event between {seq} and {rows[-1][5]} is missing")
        return [(values[5], values[6], self._decode(values[:5])) for values in rows]

    def late(self, worker: int) -> tuple[LateAnswer, ...]:
        """Answers that came late, to items that this worker has."""
        rows = self._connection.all(_LATE, (worker, [STATUSES.index(status) for status in OPEN], worker))
        return tuple(
            LateAnswer(
                seq=values[0],
                event=cast(Attempted | Settled, self._decode(values[:5])),
                attempts=values[5],
                reserved_nano=values[6],
            )
            for values in rows
        )

    def of_batches(self) -> list[tuple[int, BatchEvent]]:
        rows = self._connection.all(_OF_BATCHES)
        return [(values[5], cast(BatchEvent, self._decode(values[:5]))) for values in rows]

    def _answers_since(self, place: int) -> Iterator[tuple[int, int]]:
        return self._connection.each(
            f"SELECT place, item FROM event WHERE place > ? AND kind IN ({codec.ANSWERS}) ORDER BY place",
            (place,),
        )


class DatabaseReader(JournalReader):
    """A read-only view of a journal in a database. With `pinned` nobody else changes the items that it is asked for."""

    items: DatabaseItems
    _events: DatabaseEvents

    def __init__(self, dsn: Dsn, *, pinned: bool = False) -> None:
        connection = DatabaseConnection(dsn)
        self._read_from(dsn, connection, DatabaseItems(connection, pinned=pinned), DatabaseEvents(connection))
        self._dsn, self._pinned = dsn, pinned
        self._last_asked = 0

    def request_of(self, item: int) -> Request:
        row = self.items.row(item)
        if self._pinned and row is not None and not self._events.has(row.request_seq):
            is_in_turn = abs(item - self._last_asked) <= _BODIES  # else what is beside it is as far from the next one
            self._events.fetch([near.request_seq for near in (self.items.near(item) if is_in_turn else [row])])
        self._last_asked = item
        return super().request_of(item)

    def fetch_requests(self, rows: list[ItemRow]) -> None:
        """Have the requests of these items at hand."""
        self._events.fetch([row.request_seq for row in rows])

    def asked(self, row: ItemRow) -> Request | None:
        """What an item asks; None when its row of the input was bad."""
        return self._events.opened(row, row.request_seq).request

    def late(self, worker: int) -> tuple[LateAnswer, ...]:
        """Answers that came late, to items that this worker has."""
        return self._events.late(worker)

    def event(self, seq: int) -> Event | None:
        """The event of this number."""
        return self._events.at(seq)

    def entries_of(self, items: list[int]) -> list[Entry]:
        """These items as they stand, with their outcomes."""
        rows = self.items.rows_of(items)
        self._events.fetch([row.settled_seq for row in rows if row.settled_seq])
        return [self._entry(row, asked=False) for row in rows]

    def last_at(self) -> float:
        (at,) = self._connection.one("SELECT at FROM event ORDER BY place DESC LIMIT 1") or (0.0,)
        return float(at)

    def last_event(self) -> Event | None:
        """The last one of whoever has begun the latest run: others may be at work on it after its end."""
        row = self._connection.one("SELECT seq FROM worker WHERE began > 0 ORDER BY began DESC LIMIT 1")
        return None if row is None else self._events.at(row[0])

    def find(self, fingerprint: bytes, occurrence: int) -> ItemRow | None:
        return next(iter(self.items.found({fingerprint: (occurrence, occurrence + 1)})), None)

    def writer(self) -> str | None:
        """Who works on the journal now: whoever holds its lock, or has shown a sign of life a moment ago."""
        key = schema.lock_key("writer", self._dsn.schema) & (2**64 - 1)
        row = self._connection.one(_WRITER, (GRACE_S, str(key >> 32), str(key & (2**32 - 1))))
        return None if row is None else str(row[0])
