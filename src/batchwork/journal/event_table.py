"""The table of events in a journal file: each event checked by its checksum, with the parts it shares with others."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import cast

from batchwork.core.batch_book import BatchBook
from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import Attempted, BatchEvent, Event, Opened, Settled
from batchwork.core.outcome import AnyOutcome
from batchwork.journal import codec
from batchwork.journal.item_row import ItemRow
from batchwork.journal.snapshot import Snapshot

_SELECT = "SELECT seq, kind, item, body, crc FROM event"
_ANSWERS = f"{codec.KINDS[Attempted]}, {codec.KINDS[Settled]}"  # an item of a batch that was read has one of these
_PAGE = 1024


class EventTable:
    """The events of a journal, as one snapshot has them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._shared = lru_cache(maxsize=64)(self._read_shared)

    def at(self, seq: int) -> Event | None:
        """The event of this number."""
        values = self._snapshot.one(f"{_SELECT} WHERE seq = ?", (seq,))
        return None if values is None else self._decode(values)

    def opened(self, row: ItemRow, seq: int) -> Opened:
        """The event of this number, which must have opened the item of this row."""
        event = self.at(seq)
        if not isinstance(event, Opened) or event.item != row.item:
            raise self._snapshot.damaged(f"item {row.item} has lost its request")
        return event

    def outcome(self, row: ItemRow) -> AnyOutcome | None:
        """The latest outcome of an item."""
        if not row.settled_seq:
            return None
        event = self.at(row.settled_seq)
        if not isinstance(event, Settled) or event.item != row.item or event.outcome.status is not row.status:
            raise self._snapshot.damaged(f"item {row.item} has lost its outcome")
        return event.outcome

    def all(self) -> Iterator[Event]:
        """Every event from the first to the last."""
        written, last = self._snapshot.sums().seq, 0
        while page := self._snapshot.all(f"{_SELECT} WHERE seq > ? ORDER BY seq LIMIT {_PAGE}", (last,)):
            for values in page:
                last += 1
                if values[0] != last:
                    raise self._snapshot.damaged(f"event {last} is missing")
                yield self._decode(values)
        if last < written:
            raise self._snapshot.damaged(f"it ends at event {last}, but {written} were written")

    def of_batches(self) -> list[tuple[int, BatchEvent]]:
        """The events of provider batches with their numbers, from the first to the last."""
        written = self._snapshot.sums().batches
        rows = self._snapshot.all(f"{_SELECT} WHERE kind >= {codec.FIRST_OF_BATCHES} ORDER BY seq")
        if len(rows) != written:
            raise self._snapshot.damaged(f"{len(rows)} events of provider batches are there, {written} were written")
        return [(values[0], cast(BatchEvent, self._decode(values))) for values in rows]

    def batch_book(self) -> BatchBook:
        """What all events add up to about provider batches."""
        events = self.of_batches()
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
        for _, entry in heapq.merge(events, self._snapshot.each(sql, (since,)), key=itemgetter(0)):
            if isinstance(entry, int):
                book.answered(entry)
            else:
                book.apply(entry)
        return book

    def _decode(self, values: tuple[int, int, int, bytes, int]) -> Event:
        try:
            return codec.decode(values, self._shared)
        except (JournalDamagedError, TypeError) as error:
            raise self._snapshot.damaged(error) from error

    def _read_shared(self, key: bytes) -> bytes | None:
        row = self._snapshot.one("SELECT body, crc FROM blob WHERE digest = ?", (key,))
        if row is None:
            return None
        if codec.blob_checksum(key, row[0]) != row[1]:
            raise JournalDamagedError(f"a part shared by several requests is damaged ({key.hex()})")
        return bytes(row[0])
