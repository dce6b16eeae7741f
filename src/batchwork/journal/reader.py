"""Reads a journal file without holding it in memory: results in input order, counts, money, batches."""

from collections.abc import Iterator
from pathlib import Path

from batchwork.core.batch_book import BatchBook, Ticket
from batchwork.core.dsn import JournalAddress
from batchwork.core.event import BatchEvent, Began, Event
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry, Totals
from batchwork.core.request import Request
from batchwork.journal.companions import writer_of
from batchwork.journal.connections import ReadConnection
from batchwork.journal.outputs import final_output
from batchwork.journal.placer import outcome_at
from batchwork.journal.rows import MOST_EVENTS, STATUSES, ItemRow, Sums
from batchwork.journal.tables import EventTable, Identities, ItemTable
from batchwork.journal.vector_file import VectorFile


class JournalReader:
    """A read-only view of a journal file; needs no lock and sees what is committed.

    With `pinned` it goes on seeing what was committed at its first read until `refresh`, which is faster.
    """

    _vectors: VectorFile | None = None  # those of a database stand in its events

    def __init__(self, path: Path, *, pinned: bool = False) -> None:
        connection = ReadConnection(path, pinned=pinned)
        self._vectors = VectorFile(path)
        self._read_from(path, connection, ItemTable(connection), EventTable(connection, self._vectors))

    def _read_from(
        self, path: JournalAddress, connection: ReadConnection, items: ItemTable, events: EventTable
    ) -> None:
        self.path = path
        self._connection, self.items, self._events = connection, items, events
        self._identities: Identities | None = None

    def close(self) -> None:
        self._connection.close()
        if self._vectors is not None:
            self._vectors.close()

    def refresh(self, *, moved: bool = False) -> None:
        """See what has been committed since; forget what was read ahead when places have changed hands."""
        self._connection.refresh()
        if moved:
            self.items.forget_places()

    def sums(self) -> Sums:
        """What it all adds up to."""
        sums = self._connection.sums()
        self._connection.let_go()
        return sums

    def totals(self) -> Totals:
        sums = self.sums()
        return Totals(spent_nano=sums.spent, unconfirmed_nano=sums.unconfirmed)

    def count(self) -> int:
        return self.sums().places

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        counts = self.items.counts(below)
        self._connection.let_go()
        return counts

    def last_run(self) -> Began | None:
        """How the latest run on this journal was started."""
        if not (began := self.sums().began):
            return None
        event = self._events.at(began)
        self._connection.let_go()
        if not isinstance(event, Began):
            raise self._connection.damaged("the start of its latest run is missing")
        return event

    def pace(self) -> tuple[float, int]:
        """When the latest run began, in UTC, and how many items have settled since."""
        began = self.sums().began
        (at,) = self._connection.one("SELECT at FROM event WHERE seq = ?", (began,)) or (0.0,)
        (settled,) = self._connection.one("SELECT count(*) FROM item WHERE settled_seq > ?", (began,)) or (0,)
        self._connection.let_go()
        return at, settled

    def under_way(self) -> tuple[int, int]:
        """Calls that were sent and have not ended, and what is set aside for them."""
        row = self._connection.one("SELECT count(*), coalesce(sum(reserved), 0) FROM item WHERE reserved > 0")
        self._connection.let_go()
        return row or (0, 0)

    def last_at(self) -> float:
        """When something was recorded last, in UTC."""
        (at,) = self._connection.one("SELECT at FROM event WHERE seq = ?", (self.sums().seq,)) or (0.0,)
        self._connection.let_go()
        return float(at)

    def displaced(self) -> int:
        """How many items have an answer and no place in the latest input."""
        succeeded = STATUSES.index(Status.SUCCEEDED)
        sql = "SELECT count(*) FROM item WHERE idx IS NULL AND status = ?"
        (count,) = self._connection.one(sql, (succeeded,)) or (0,)
        self._connection.let_go()
        return int(count)

    def check_vectors(self) -> None:
        """Refuse a journal whose file of vectors is gone, or cut off: others would take the places of what is lost."""
        succeeded = STATUSES.index(Status.SUCCEEDED)
        (last,) = self._connection.one("SELECT max(settled_seq) FROM item WHERE status = ?", (succeeded,)) or (None,)
        if last is not None:
            self._events.at(last)

    def find(self, fingerprint: bytes, occurrence: int) -> ItemRow | None:
        """The item of this identity."""
        if self._identities is None:
            sums = self.sums()
            self._identities = Identities(self.items, noted=sums.noted, items=sums.items)
        item = self._identities.find(fingerprint, occurrence)
        row = None if item is None else self.items.row(item)
        self._connection.let_go()
        return row

    def writer(self) -> str | None:
        """Who writes the journal now; None: nobody."""
        return writer_of(self.path) if isinstance(self.path, Path) else None

    def last_event(self) -> Event | None:
        """What was recorded last."""
        event = self._events.at(self.sums().seq)
        self._connection.let_go()
        return event

    def settled_times(self) -> dict[int, float]:
        """When the item at each place of the latest input settled: UTC by place."""
        sql = "SELECT i.idx, e.at FROM item i JOIN event e ON e.seq = i.settled_seq WHERE i.idx IS NOT NULL"
        times = dict(self._connection.each(sql))
        self._connection.let_go()
        return times

    def outputs(self) -> list[tuple[Path, int, int]]:
        """The files this journal wrote, the latest last: path, size and time of change.

        One is there twice if its writer was killed in between: as it was and as it was to be.
        """
        rows = self._connection.all("SELECT path, size, mtime_ns FROM output ORDER BY rowid")
        self._connection.let_go()
        folder = self.path.parent if isinstance(self.path, Path) else Path()
        return [(final_output(folder / path), size, mtime_ns) for path, size, mtime_ns in rows]

    def events(self) -> Iterator[Event]:
        """Every event from the first to the last."""
        yield from self._events.all()
        self._connection.let_go()

    def events_after(self, seq: int, count: int) -> list[tuple[int, float, Event]]:
        """Up to so many events behind this number, each with its own and the time when it was recorded (UTC)."""
        events = self._events.after(seq, count)
        self._connection.let_go()
        return events

    def batch_events(self) -> Iterator[BatchEvent]:
        """What was recorded about provider batches, from the first to the last."""
        return (event for _, event in self._events.of_batches())

    def batch_book(self) -> BatchBook:
        """What all events add up to about provider batches."""
        return self._events.batch_book()

    def open_batches(self) -> list[Ticket]:
        """Provider batches that were intended and not closed, oldest first, with the items that still ride in them."""
        book = self.batch_book()
        self._connection.let_go()
        return book.open()

    def request_of(self, item: int) -> Request:
        row = self.items.row(item)
        request = None if row is None else self._events.opened(row, row.request_seq).request
        if request is None:
            raise self._connection.damaged(f"item {item} has lost its request")
        return request

    def at(self, index: int) -> ItemRow | None:
        """The item at this place of the latest input, as it was when its neighbours were read."""
        row = self.items.at(index)
        self._connection.let_go()
        return row

    def entries(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        statuses: frozenset[Status] | None = None,
        bodies: bool = True,
        asked: bool = True,
    ) -> Iterator[Entry]:
        """Places in input order, read in pages so that a long iteration pins no snapshot."""
        most = self._events.at_once
        few = most // MOST_EVENTS if asked else most
        try:
            for page in self.items.pages(start, stop):
                wanted = page if statuses is None else [row for row in page if row.status in statuses]
                for first in range(0, len(wanted), few):
                    rows = wanted[first : first + few]
                    if bodies:
                        self._events.read_ahead([seq for row in rows for seq in row.events(asked=asked)])
                    for row in rows:
                        yield self._entry(row, bodies=bodies, asked=asked)
                self._connection.let_go()
        finally:
            self._connection.let_go()

    def entry(self, item: int) -> Entry | None:
        """An item by its number, with its request, columns and outcome; None when there is none or it has no place."""
        row = self.items.row(item)
        entry = None if row is None or row.index is None else self._entry(row)
        self._connection.let_go()
        return entry

    def _entry(self, row: ItemRow, *, bodies: bool = True, asked: bool = True) -> Entry:
        assert row.index is not None
        entry = Entry(index=row.index, item=row.item, status=row.status, paid_nano=row.paid_nano, attempts=row.attempts)
        if not bodies:
            return entry
        entry.outcome = outcome_at(self._events.outcome(row), row.index)
        if not asked:
            return entry
        opened = self._events.opened(row, row.columns_seq)
        if opened.index != row.index:
            raise self._connection.damaged(f"item {row.item} stands in the wrong place")
        entry.columns = opened.columns
        first = opened if row.request_seq == row.columns_seq else self._events.opened(row, row.request_seq)
        entry.request = first.request
        return entry
