"""The tables of a journal file as one snapshot has them: items, identities and events, checked by their checksums."""

import heapq
import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any, cast

from batchwork.core.batch_book import BatchBook
from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import BatchEvent, Event, Opened, Settled
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.journal import codec
from batchwork.journal.connections import ReadConnection
from batchwork.journal.rows import ITEM_COLUMNS, STATUSES, ItemRow
from batchwork.journal.vector_file import VectorFile, with_vectors

_PAGE = 1024  # rows read at once
_BEYOND = 1 << 62  # no input is that long
_ITEM = f"SELECT {ITEM_COLUMNS} FROM item"  # noqa: S608
_ITEM_BY_NUMBER = f"{_ITEM} WHERE id = ?"
_EVENT = "SELECT seq, kind, item, body, crc FROM event"
_EVENT_BY_NUMBER = f"{_EVENT} WHERE seq = ?"
_AT_ONCE = 32  # events read ahead, which may be large
_EVENTS_BY_NUMBER = f"{_EVENT} WHERE seq IN ({', '.join('?' * _AT_ONCE)})"
_EventRow = tuple[int, int, int, bytes, int]
_NOTED_AT_ONCE = 8192  # identities
_NOTE = (
    "INSERT INTO identity SELECT fingerprint, occurrence, id FROM item WHERE id >= ? AND id < ?"
    " ORDER BY fingerprint, occurrence"
)


class ItemTable:
    """The rows of items: by number, by place and by identity."""

    def __init__(self, connection: ReadConnection) -> None:
        self._connection = connection
        self._ahead: dict[int, ItemRow] = {}  # by place, read before they are asked for
        self._ahead_from = self._ahead_to = 0

    # -- one row --------------------------------------------------------------------------------

    def row(self, item: int) -> ItemRow | None:
        """The row of this item."""
        return next(iter(self._made(self._connection.all(_ITEM_BY_NUMBER, (item,)))), None)

    def at(self, index: int) -> ItemRow | None:
        """The row at this place."""
        if not self._ahead_from <= index < self._ahead_to:
            self._ahead_from, self._ahead_to = index, index + _PAGE
            rows = self._rows("WHERE idx >= ? AND idx < ?", index, index + _PAGE)
            self._ahead = {row.index: row for row in rows if row.index is not None}
        return self._ahead.get(index)

    def forget_places(self) -> None:
        """Places have changed hands: what was read ahead is no longer true."""
        self._ahead, self._ahead_to = {}, 0

    def follow(self, rows: Iterable[ItemRow]) -> None:
        """Replace what was read ahead by what has been written since: an item may settle before its place is read."""
        start, stop = self._ahead_from, self._ahead_to
        for row in rows:
            if (index := row.index) is not None and start <= index < stop:
                self._ahead[index] = row

    def find(self, fingerprint: bytes, occurrence: int) -> int | None:
        """The item of this identity, if it stands in the table of identities."""
        sql = "SELECT item FROM identity WHERE fingerprint = ? AND occurrence = ?"
        values = self._connection.one(sql, (fingerprint, occurrence))
        return None if values is None else values[0]

    def _made(self, rows: list[tuple[Any, ...]]) -> list[ItemRow]:
        try:
            return [ItemRow.stored(values) for values in rows]
        except JournalDamagedError as error:
            raise self._connection.damaged(error) from error

    # -- many rows ------------------------------------------------------------------------------

    def _rows(self, where: str, *values: int) -> list[ItemRow]:
        return self._made(self._connection.all(f"{_ITEM} {where}", values))

    def identities(self, start: int) -> dict[tuple[bytes, int], int]:
        """The identities of the items from `start` on."""
        sql = "SELECT fingerprint, occurrence, id FROM item WHERE id >= ?"
        return {
            (fingerprint, occurrence): item for fingerprint, occurrence, item in self._connection.each(sql, (start,))
        }

    def reserved(self) -> list[ItemRow]:
        """Items with a call whose fate is open."""
        return self._rows("WHERE reserved <> 0")

    def pages(self, start: int, stop: int | None) -> Iterator[list[ItemRow]]:
        """Rows in the order of their places, page by page."""
        end = _BEYOND if stop is None else stop
        self._check_places(start, stop)
        while page := self._rows(f"WHERE idx >= ? AND idx < ? ORDER BY idx LIMIT {_PAGE}", start, end):
            for row in page:
                if row.index is None or not start <= row.index < end:
                    raise self._connection.damaged(f"item {row.item} stands in the wrong place")
                start = row.index + 1
            yield page
            if len(page) < _PAGE:
                return

    def counts(self, below: int | None) -> dict[Status, int]:
        """How many places, or places below one, stand at which status; counted afresh."""
        sums = self._connection.sums()
        # One pass with a counter each: GROUP BY would sort all rows in memory.
        each = ", ".join(f"count(*) FILTER (WHERE status = {code})" for code in range(len(STATUSES)))
        where = "idx IS NOT NULL" if below is None else f"idx < {int(below)}"
        total, *found = self._connection.one(f"SELECT count(*), {each} FROM item WHERE {where}") or (0,)  # noqa: S608
        if sum(found) != total:
            raise self._connection.damaged(f"{total - sum(found)} rows have a status that does not exist")
        counts = dict(zip(STATUSES, found, strict=True))
        if below is None and counts != sums.counts:
            raise self._connection.damaged(f"{sum(found)} rows are there, {sums.places} were written")
        return counts

    # -- whether the indexes are whole ----------------------------------------------------------

    def check_indexes(self) -> None:
        """Refuse a file where an item is not found by its key or at its place: it would be sent, and paid, again."""
        sums = self._connection.sums()
        same = "j.fingerprint = i.fingerprint AND j.occurrence = i.occurrence AND j.item = i.id"
        by_key = f"(i.id >= {sums.noted} OR EXISTS (SELECT 1 FROM identity j WHERE {same}))"  # noqa: S608
        by_place = "EXISTS (SELECT 1 FROM item j INDEXED BY item_place WHERE j.idx = i.idx AND j.id = i.id)"
        sql = f"SELECT count(*), coalesce(sum({by_key}), 0), coalesce(sum({by_place}), 0) FROM item i NOT INDEXED"  # noqa: S608
        if self._connection.one(sql) != (sums.items, sums.items, sums.places):
            raise self._connection.damaged("not every item is found again")

    def _check_places(self, start: int, stop: int | None) -> None:
        """Refuse a file whose index of places has lost some of these: the index alone decides what is read."""
        places = self._connection.sums().places
        end = places if stop is None else stop
        sql = "SELECT count(*) FROM item {} WHERE idx >= ? AND idx < ?"
        wanted = (max(0, start), end if start > 0 or stop is not None else _BEYOND)
        (found,) = self._connection.one(sql.format("INDEXED BY item_place"), wanted) or (0,)
        if found >= min(end, places) - wanted[0]:
            return
        # Fewer than there would be without a gap. A run that ended early may leave gaps, but not in the index alone.
        (really,) = self._connection.one(sql.format("NOT INDEXED"), wanted) or (0,)
        if found != really or (wanted == (0, _BEYOND) and found != places):
            raise self._connection.damaged(f"{found} rows of the input are there, {max(really, places)} were written")


class Identities:
    """The items by fingerprint and occurrence: in memory while they are young, in a table of their own later.

    Fingerprints come in random order. One by one, each would rewrite a page of its own in a large table, commit after
    commit; some thousands at once, in the table's order, share their pages. Until there are so many, memory knows them,
    and when a journal is opened they are read from its last rows.
    """

    def __init__(self, table: ItemTable, *, noted: int, items: int) -> None:
        self._table = table
        self._noted = noted  # items below this ordinal stand in the table
        self._young = table.identities(noted)
        self._is_checked = not items  # an empty journal has nothing to be checked

    def add(self, fingerprint: bytes, occurrence: int, item: int) -> None:
        """A new item."""
        self._young[fingerprint, occurrence] = item

    def find(self, fingerprint: bytes, occurrence: int) -> int | None:
        """The item of this identity."""
        item = self._young.get((fingerprint, occurrence))
        if item is not None:
            return item
        if not self._is_checked:
            self._table.check_indexes()
            self._is_checked = True
        return self._table.find(fingerprint, occurrence)

    def note(self, writer: sqlite3.Connection, items: int) -> int:
        """Put the young ones into the table, in the open transaction, once they are many; how far it reaches then."""
        if items - self._noted < _NOTED_AT_ONCE:
            return self._noted
        writer.execute(_NOTE, (self._noted, items))
        return items

    def noted(self, items: int) -> None:
        """What `note` has put in is on disk: memory need not know it any more."""
        if items > self._noted:
            self._noted = items
            self._young = {identity: item for identity, item in self._young.items() if item >= items}


class EventTable:
    """The events, with the parts that several of them share."""

    at_once = _AT_ONCE

    def __init__(self, connection: ReadConnection, vectors: VectorFile | None = None) -> None:
        self._connection = connection
        self._vectors = vectors
        self._shared = lru_cache(maxsize=64)(self._read_shared)
        self._ahead: dict[int, _EventRow] = {}  # by number, read before they are asked for

    def read_ahead(self, seqs: list[int]) -> None:
        """Read up to `at_once` events with one query: asked for one by one, each costs five times as much."""
        padded = tuple(seqs) + (0,) * (_AT_ONCE - len(seqs))  # so that all of them share one statement
        self._ahead = {values[0]: values for values in self._connection.all(_EVENTS_BY_NUMBER, padded)}

    def at(self, seq: int) -> Event | None:
        """The event of this number."""
        values = self._ahead.pop(seq, None) or self._connection.one(_EVENT_BY_NUMBER, (seq,))
        return None if values is None else self._decode(values)

    def opened(self, row: ItemRow, seq: int) -> Opened:
        """The event of this number, which must have opened the item of this row."""
        event = self.at(seq)
        if not isinstance(event, Opened) or event.item != row.item:
            raise self._connection.damaged(f"item {row.item} has lost its request")
        return event

    def outcome(self, row: ItemRow) -> AnyOutcome | None:
        """The latest outcome of an item."""
        if not row.settled_seq:
            return None
        event = self.at(row.settled_seq)
        if not isinstance(event, Settled) or event.item != row.item or event.outcome.status is not row.status:
            raise self._connection.damaged(f"item {row.item} has lost its outcome")
        return event.outcome

    def all(self) -> Iterator[Event]:
        """Every event from the first to the last."""
        written, last = self._connection.sums().seq, 0
        while page := self._connection.all(f"{_EVENT} WHERE seq > ? ORDER BY seq LIMIT {_PAGE}", (last,)):
            for values in page:
                last += 1
                if values[0] != last:
                    raise self._connection.damaged(f"event {last} is missing")
                yield self._decode(values)
        if last < written:
            raise self._connection.damaged(f"it ends at event {last}, but {written} were written")

    def after(self, seq: int, count: int) -> list[tuple[int, float, Event]]:
        """Up to so many events behind this number, each with its own and the time when it was recorded."""
        sql = "SELECT seq, kind, item, body, crc, at FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
        rows = self._connection.all(sql, (seq, count))
        if rows and rows[-1][0] != seq + len(rows):
            raise self._connection.damaged(f"an event between {seq} and {rows[-1][0]} is missing")
        return [(values[0], values[5], self._decode(values[:5])) for values in rows]

    def of_batches(self) -> list[tuple[int, BatchEvent]]:
        """The events of provider batches with their numbers, from the first to the last."""
        written = self._connection.sums().batches
        rows = self._connection.all(f"{_EVENT} WHERE kind >= {codec.FIRST_OF_BATCHES} ORDER BY seq")
        if len(rows) != written:
            raise self._connection.damaged(f"{len(rows)} events of provider batches are there, {written} were written")
        return [(values[0], cast(BatchEvent, self._decode(values))) for values in rows]

    def batch_book(self) -> BatchBook:
        """What all events add up to about provider batches."""
        events = self.of_batches()
        book = BatchBook()
        for _, event in events:
            book.apply(event)
        if not book.rides:
            return book
        # Some are open: the items' own events since say which of them are answered.
        open_chunks = {ticket.chunk for ticket in book.open()}
        since = min(seq for seq, event in events if event.chunk in open_chunks)
        book = BatchBook()
        for _, entry in heapq.merge(events, self._answers_since(since), key=itemgetter(0)):
            if isinstance(entry, int):
                book.answered(entry)
            else:
                book.apply(entry)
        return book

    def _answers_since(self, seq: int) -> Iterator[tuple[int, int]]:
        """The items that were answered after this event, each with the number of its answer."""
        sql = f"SELECT seq, item FROM event WHERE seq > ? AND kind IN ({codec.ANSWERS}) ORDER BY seq"  # noqa: S608
        return self._connection.each(sql, (seq,))

    def _decode(self, values: _EventRow) -> Event:
        try:
            event = codec.decode(values, self._shared)
            return event if self._vectors is None else with_vectors(event, self._vectors.read)
        except (JournalDamagedError, TypeError) as error:
            raise self._connection.damaged(error) from error

    def _read_shared(self, key: bytes) -> bytes | None:
        row = self._connection.one("SELECT body, crc FROM blob WHERE digest = ?", (key,))
        if row is None:
            return None
        if codec.blob_checksum(key, row[0]) != row[1]:
            raise JournalDamagedError(f"a part shared by several requests is damaged ({key.hex()})")
        return bytes(row[0])
