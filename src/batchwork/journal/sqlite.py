"""The durable journal: append-only events in an SQLite file, one writer with group commit."""

from collections.abc import Callable, Iterator
from pathlib import Path

from batchwork.core.errors import JournalError
from batchwork.core.event import Attempted, BatchEvent, Began, Ended, Event, ItemEvent, Opened, Reopened, Settled
from batchwork.core.intake import InputRow
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry, Standing, Totals
from batchwork.core.request import Request
from batchwork.core.runstate import UNCHANGED, ItemState, lost_call
from batchwork.journal import codec
from batchwork.journal.connections import PAGE_BYTES
from batchwork.journal.placer import Placer
from batchwork.journal.rows import ItemRow, columns_digest
from batchwork.journal.vector_file import with_vectors
from batchwork.journal.writer import JournalWriter

_LIVE = frozenset({Status.PENDING, Status.DEFERRED})
_SETTLED, _REOPENED = codec.KINDS[Settled], codec.KINDS[Reopened]
_ANSWERS = (_SETTLED, codec.KINDS[Attempted])  # an item of a batch that was read has one of these


class SqliteJournal:
    """A journal file that this process writes; construction opens it and takes the writer's lock.

    A new one gets pages of `page_bytes`. With `vectors_apart` those that are recorded go into a file of their own.
    """

    def __init__(
        self, path: Path, *, utc: Callable[[], float], page_bytes: int = PAGE_BYTES, vectors_apart: bool = False
    ) -> None:
        self._write_with(JournalWriter(path, page_bytes=page_bytes, vectors_apart=vectors_apart), utc)

    def _write_with(self, writer: JournalWriter, utc: Callable[[], float]) -> None:
        self.path = writer.path
        self.listener: Callable[[Event], None] | None = None
        self._utc = utc
        self._writer = writer
        self._cache, self._rows, self._sums = writer.cache, writer.cache.rows, writer.sums
        self._reader, self._items = writer.reader, writer.reader.items
        self.batches = writer.batches
        self.durable, self.release = writer.durable, writer.cache.release  # the same methods: a call less per item
        self._is_first = not self._sums.items  # nobody stands anywhere yet
        self._placer = Placer(self)

    @property
    def run_id(self) -> str:
        """The name of the journal, under which its batches are known at the provider."""
        return self._sums.run_id

    def begin(self, began: Began) -> Standing:
        self.flush()  # the end of a run before this one frees places, which this one may take again
        self._reader.refresh(moved=True)
        recovered = self.book_lost_calls()
        self.record(began)
        self._sums.began = self._sums.seq
        self._is_first = not self._sums.items
        self._placer = Placer(self, is_empty=self._is_first)
        return Standing(
            run_id=self.run_id,
            spent_nano=self._sums.spent,
            unconfirmed_nano=self._sums.unconfirmed,
            recovered=recovered,
        )

    def book_lost_calls(self) -> int:
        open_calls = self._open_calls()
        for row in open_calls:
            known = self._rows.get(row.item, row)
            self._cache.hold(known)
            self.record(lost_call(known))
            self.release(row.item)
        return len(open_calls)

    def _open_calls(self) -> list[ItemRow]:
        """The items with a call that nobody waits for any more."""
        if not self._sums.reserved:
            return []
        self.flush()
        self._reader.refresh()
        return self._items.reserved()

    # -- which item a row is --------------------------------------------------------------------

    def at(self, index: int) -> ItemRow | None:
        row = self._items.at(index)
        if row is None:
            return None
        row = self._rows.get(row.item, row)
        return row if row.index == index else None

    def find(self, fingerprint: bytes, occurrence: int) -> ItemRow | None:
        item = self._writer.identities.find(fingerprint, occurrence)
        return None if item is None else self._rows.get(item) or self._items.row(item)

    def place(self, index: int, intake: InputRow) -> ItemState:
        known, occurrence = self._placer.identify(index, intake.fingerprint)
        digest = columns_digest(intake.columns)
        if known is None:
            row = ItemRow(self._sums.items, intake.fingerprint, occurrence)
            self._sums.items += 1
            row.is_new = True
            self._writer.identities.add(intake.fingerprint, occurrence, row.item)
            self._open(row, index, intake, digest)
            return row
        assert isinstance(known, ItemRow)
        if known.index != index or known.columns_digest != digest:
            self._open(known, index, intake, digest)
        elif known.status in _LIVE:
            self._cache.hold(known)
        return known

    def _open(self, row: ItemRow, index: int, intake: InputRow, digest: int) -> None:
        holder = None if self._is_first else self.at(index)
        if holder is not None and holder.item != row.item:  # who stood here in an earlier input no longer does
            self._cache.hold(holder)
            self._displace(holder)
            self.release(holder.item)
        self._cache.hold(row)
        row.moved = True
        row.columns_digest = digest
        row.columns_seq = self._sums.seq + 1
        if row.is_new and not row.request_seq:
            row.request_seq = row.columns_seq
        self.record(
            Opened(
                item=row.item,
                index=index,
                fingerprint=row.fingerprint,
                occurrence=row.occurrence,
                request=intake.request if row.request_seq == row.columns_seq else None,
                columns=intake.columns,
            )
        )

    def take(self, item: int) -> ItemState:
        row = self._rows.get(item) or self._items.row(item)
        if row is None:
            raise JournalError(f"{self.path} has no item {item}")
        self._cache.hold(row)
        return row

    def reopen(self, item: int) -> ItemState:
        row = self.take(item)
        self.record(Reopened(item=item))
        return row

    # -- writing --------------------------------------------------------------------------------

    def record(self, event: Event) -> None:
        sums = self._sums
        sums.seq = seq = sums.seq + 1
        kind = codec.KINDS[type(event)]
        item = -1
        if isinstance(event, ItemEvent):
            item = event.item
            self._apply(event, kind, seq)
        elif isinstance(event, Ended):
            self._trim(event.inputs)
        elif isinstance(event, BatchEvent):
            self.batches.apply(event)
            sums.batches += 1
            self._writer.note_batch(event)
        writer = self._writer
        stored = event if writer.vectors is None else with_vectors(event, writer.vectors.add)
        body = codec.encode(stored, writer.blobs)
        writer.events.append((seq, self._utc(), kind, item, body, codec.checksum(seq, kind, item, body)))
        if self.listener is not None:
            self.listener(event)

    def _apply(self, event: ItemEvent, kind: int, seq: int) -> None:
        """Move an item on by one event, and the sums with it."""
        item, sums = event.item, self._sums
        row = self._rows[item]
        before, stood = row.status, row.index is not None
        change = row.apply(event)
        after = row.status
        if after is not before or not stood:  # an item that stands nowhere is not counted
            if row.index is not None:
                sums.counts[after] += 1
            if stood:
                sums.counts[before] -= 1
        if change is not UNCHANGED:
            sums.spent += change[0]
            sums.unconfirmed += change[1]
            sums.reserved += change[2]
        if kind == _SETTLED:
            row.settled_seq = seq
        elif kind == _REOPENED:
            row.settled_seq = 0
        if kind in _ANSWERS and self.batches.rides:
            self.batches.answered(item)
        self._cache.changed[item] = row

    def _trim(self, inputs: int | None) -> None:
        """The input has ended: who stood beyond its end stands nowhere, in memory now and on disk with the event."""
        self._writer.trim = inputs
        for row in self._rows.values():
            if inputs is not None and row.index is not None and row.index >= inputs:
                self._displace(row)

    def _displace(self, row: ItemRow) -> None:
        self._sums.counts[row.status] -= 1
        row.index = None
        row.moved = True
        self._cache.changed[row.item] = row

    def flush(self) -> None:
        """Write everything queued, now, and wait for it here."""
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    # -- reading --------------------------------------------------------------------------------

    def request_of(self, item: int) -> Request:
        """The request of an item, which must be on disk, as everything in an intended batch is."""
        return self._reader.request_of(item)

    def entries(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        statuses: frozenset[Status] | None = None,
        bodies: bool = True,
        asked: bool = True,
    ) -> Iterator[Entry]:
        self.flush()
        return self._reader.entries(start, stop, statuses=statuses, bodies=bodies, asked=asked)

    def count(self) -> int:
        self.flush()
        return self._reader.count()

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        self.flush()
        return self._reader.counts(below=below)

    def totals(self) -> Totals:
        return Totals(spent_nano=self._sums.spent, unconfirmed_nano=self._sums.unconfirmed)
